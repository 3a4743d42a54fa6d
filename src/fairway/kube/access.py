"""How a cluster is reached: its address, whom to trust there, and who we are, for as long as credentials hold.

What was read is read again when the cluster does not take it or is not there: a kubeconfig that was renewed, a token
or an authority that was rotated, a credential plugin that has a newer one. Nobody needs to start anything again.
"""

import asyncio
import base64
import ssl
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies_environment, proxy_bypass

import msgspec

from fairway.clock import Clock, SystemClock
from fairway.home import from_home
from fairway.kube.errors import BadAccess, CredentialsRefused
from fairway.kube.exec_credentials import ExecCredentials
from fairway.kube.kubeconfig import (
    SERVICE_ACCOUNT,
    ClusterEntry,
    Reach,
    default_files,
    read_in_cluster,
    read_kubeconfig,
)
from fairway.temporary_directory import temporary_directory

#: How long a token from a file is used before the file is read again; pods get a new one well before the old is over.
_TOKEN_FILE_AGE = timedelta(minutes=1)
_DEFAULT_NAMESPACE = "default"


class Credentials(msgspec.Struct, frozen=True):
    """What one call carries."""

    headers: Mapping[str, str]
    #: False for a cluster without TLS.
    tls: ssl.SSLContext | bool
    #: How often everything had been read when these were.
    reading: int


class _Contents(NamedTuple):
    """What files hold that a kubeconfig names, or it itself."""

    trusted: bytes | None
    #: Certificate and key.
    pair: tuple[bytes, bytes] | None

    @classmethod
    def of(cls, reach: Reach) -> "_Contents":
        """What they hold now."""
        user, cluster = reach.user, reach.cluster
        certificate = reach.content(user.client_certificate, user.client_certificate_data, "client-certificate")
        key = reach.content(user.client_key, user.client_key_data, "client-key")
        if (certificate is None) != (key is None):
            raise BadAccess(f"{reach.source}: client-certificate and client-key belong together")
        authority, data = cluster.certificate_authority, cluster.certificate_authority_data
        return cls(
            reach.content(authority, data, "certificate-authority"),
            (certificate, key) if certificate is not None and key is not None else None,
        )


class Access:
    """The way to one cluster. It belongs to one event loop."""

    _reach: Reach
    _contents: _Contents
    _exec: ExecCredentials | None
    #: The certificate and key that a credential plugin handed out.
    _handed_pair: tuple[bytes, bytes] | None
    _proxy: str | None
    _token: str
    _token_read_at: datetime | None
    _headers: Mapping[str, str]
    _tls: ssl.SSLContext | bool

    def __init__(self, read: Callable[[], Reach], clock: Clock | None = None) -> None:
        self._read = read
        self._clock = clock or SystemClock()
        self._reading = 0
        self._turn = asyncio.Lock()
        self._use(read())

    @classmethod
    def of(cls, kube_config_path: str, master_url: str = "", context: str = "") -> "Access":
        """By a kubeconfig or an address; by neither: as the pod we are in, or as kubectl would."""

        def read() -> Reach:
            reach = _found(kube_config_path, master_url, context)
            if not master_url:
                return reach
            return msgspec.structs.replace(reach, cluster=msgspec.structs.replace(reach.cluster, server=master_url))

        return cls(read)

    @property
    def server(self) -> str:
        """Its address, without a slash at the end."""
        return self._reach.cluster.server.rstrip("/")

    @property
    def namespace(self) -> str:
        """Where objects go that name none."""
        return self._reach.namespace or _DEFAULT_NAMESPACE

    @property
    def server_hostname(self) -> str | None:
        """The name that the cluster's certificate must have; None: that of the address."""
        return self._reach.cluster.tls_server_name or None

    @property
    def proxy(self) -> str | None:
        """The way out, as the kubeconfig or else the environment says."""
        return self._proxy

    async def credentials(self) -> Credentials:
        """What the next call carries."""
        user, reading = self._reach.user, self._reading
        if self._exec is not None:
            handed = await self._exec.get()
            if handed.client_certificate_data:
                pair = (handed.client_certificate_data.encode(), handed.client_key_data.encode())
                if pair != self._handed_pair:
                    self._handed_pair, self._tls = pair, _tls(self._reach, self._contents.trusted, pair)
            return Credentials(_bearer(handed.token), self._tls, reading)
        if user.token_file:
            return Credentials(_bearer(await self._token_of_file()), self._tls, reading)
        return Credentials(self._headers, self._tls, reading)

    async def renew(self, refused: Credentials) -> None:
        """These are not taken: read everything again before the next call; once for all whose calls they were."""
        async with self._turn:
            if refused.reading == self._reading:
                try:
                    self._use(await asyncio.to_thread(self._read))
                except BadAccess as error:
                    # It may be in the middle of being written.
                    words = f"The cluster does not take the credentials it was given, and {error}"
                    raise CredentialsRefused(words) from error

    async def has_changed(self) -> bool:
        """Whether the kubeconfig says something else by now, such as another place; the next call heeds it."""
        async with self._turn:
            try:
                reach = await asyncio.to_thread(self._read)
                if (reach, _Contents.of(reach)) == (self._reach, self._contents):
                    return False
                self._use(reach)
            except BadAccess:
                # It may be in the middle of being written; what is known is good enough until then.
                return False
        return True

    def _use(self, reach: Reach) -> None:
        scheme = urlsplit(reach.cluster.server).scheme
        if scheme not in {"http", "https"}:
            raise BadAccess(f"{reach.source}: {reach.cluster.server!r} is no address of a cluster; expected https://…")
        if reach.cluster.proxy_url and urlsplit(reach.cluster.proxy_url).scheme not in {"http", "https"}:
            raise BadAccess(f"{reach.source}: proxy-url must begin with http:// or https://")
        user, contents = reach.user, _Contents.of(reach)
        # Nothing is changed by a kubeconfig that cannot be used.
        self._tls = _tls(reach, contents.trusted, contents.pair) if scheme == "https" else False
        self._reach, self._contents = reach, contents
        self._reading += 1
        self._proxy = _proxy(reach)
        self._exec = ExecCredentials(reach, self._clock) if user.exec and not (user.token or user.token_file) else None
        self._handed_pair = None
        self._token = user.token
        self._token_read_at = None
        self._headers = _bearer(user.token) if user.token else _basic(user.username, user.password)

    async def _token_of_file(self) -> str:
        now = self._clock.now()
        if self._token_read_at is None or now - self._token_read_at >= _TOKEN_FILE_AGE:
            path = self._reach.directory / self._reach.user.token_file
            try:
                token = (await asyncio.to_thread(path.read_text, encoding="utf-8")).strip()
            except (OSError, UnicodeDecodeError) as error:
                raise CredentialsRefused(f"{self._reach.source}: the token file cannot be read: {error}") from error
            if not token:
                # Without one the cluster would take us for anybody; it may be in the middle of being written.
                raise CredentialsRefused(f"{self._reach.source}: the token file is empty: {path}")
            self._token, self._token_read_at = token, now
        return self._token


def _found(kube_config_path: str, master_url: str, context: str) -> Reach:
    if kube_config_path:
        return read_kubeconfig((from_home(kube_config_path),), context)
    if master_url:
        return Reach(source=master_url, cluster=ClusterEntry(server=master_url))
    if in_cluster := read_in_cluster(SERVICE_ACCOUNT):
        return in_cluster
    files = default_files()
    if not files:
        raise BadAccess(
            "No cluster is named: set kubeConfigPath of the deploy target, or run the agent in a pod with a service "
            "account, or set KUBECONFIG"
        )
    return read_kubeconfig(files, context)


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"} if token else {}


def _basic(username: str, password: str) -> dict[str, str]:
    if not username:
        return {}
    return {"Authorization": "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()}


def _tls(reach: Reach, trusted: bytes | None, pair: tuple[bytes, bytes] | None) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cadata=trusted.decode("ascii") if trusted else None)
        # Clusters of old made authorities that newer OpenSSL finds fault with; every other client takes them.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        if reach.cluster.insecure_skip_tls_verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if pair is not None:
            _load_pair(context, *pair)
    except (ssl.SSLError, UnicodeDecodeError, ValueError) as error:
        raise BadAccess(f"{reach.source}: a certificate or key in it cannot be used: {error}") from error
    return context


def _load_pair(context: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """OpenSSL's binding takes a certificate from files only; these are private and gone in an instant."""
    with temporary_directory() as place:
        (place / "certificate").write_bytes(certificate)
        (place / "key").touch(mode=0o600)
        (place / "key").write_bytes(key)
        # A key that is locked must be an error; without a password here, a person would be asked on the terminal.
        context.load_cert_chain(place / "certificate", place / "key", password="")


def _proxy(reach: Reach) -> str | None:
    """The way out; found once, because the environment is slow to read and does not change."""
    if reach.cluster.proxy_url:
        return reach.cluster.proxy_url
    address = urlsplit(reach.cluster.server)
    if proxy_bypass(address.hostname or ""):
        return None
    return getproxies_environment().get(address.scheme)
