"""Where a cluster is and who we are there, as a kubeconfig says it or as a pod finds it.

Only reading: what is read is used by `access.py`. A file is read whole and without regard to what other contexts in it
say, so that a mistake in one of them does not keep anybody from the others.
"""

import base64
import binascii
import os
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import yaml

from fairway.home import from_home
from fairway.kube.errors import BadAccess

#: Where a pod finds what it needs.
SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_DEFAULT_FILE = "~/.kube/config"

T = TypeVar("T")


class _Named(msgspec.Struct, frozen=True):
    name: str = ""
    cluster: dict[str, Any] | None = None
    user: dict[str, Any] | None = None
    context: dict[str, Any] | None = None


class _File(msgspec.Struct, frozen=True, rename="kebab"):
    current_context: str | None = ""
    clusters: tuple[_Named, ...] | None = ()
    users: tuple[_Named, ...] | None = ()
    contexts: tuple[_Named, ...] | None = ()


class Context(msgspec.Struct, frozen=True):
    """Which cluster, as whom."""

    cluster: str = ""
    user: str = ""
    namespace: str = ""


class ClusterEntry(msgspec.Struct, frozen=True, rename="kebab"):
    """Where a cluster is, and how one knows that it is the right one."""

    server: str = ""
    certificate_authority: str = ""
    certificate_authority_data: str = ""
    insecure_skip_tls_verify: bool = False
    tls_server_name: str = ""
    proxy_url: str = ""
    extensions: tuple[dict[str, Any], ...] = ()


class ExecVariable(msgspec.Struct, frozen=True):
    """One variable of a credential plugin's environment."""

    name: str
    value: str = ""


class ExecEntry(msgspec.Struct, frozen=True, rename="camel"):
    """A program that is asked for credentials."""

    command: str
    api_version: str = "client.authentication.k8s.io/v1"
    args: tuple[str, ...] | None = ()
    env: tuple[ExecVariable, ...] | None = ()
    install_hint: str | None = ""
    provide_cluster_info: bool = False
    interactive_mode: str | None = ""


class UserEntry(msgspec.Struct, frozen=True, rename="kebab"):
    """Who one is."""

    client_certificate: str = ""
    client_certificate_data: str = ""
    client_key: str = ""
    client_key_data: str = ""
    token: str = ""
    #: The one field that is not written with hyphens.
    token_file: str = msgspec.field(name="tokenFile", default="")
    username: str = ""
    password: str = ""
    exec: ExecEntry | None = None
    auth_provider: dict[str, Any] | None = None


class Reach(msgspec.Struct, frozen=True, kw_only=True):
    """All that one context says."""

    #: For messages: the file, or what stands for it.
    source: str
    cluster: ClusterEntry
    user: UserEntry = UserEntry()
    namespace: str = ""
    #: Relative paths start here.
    directory: Path = Path()

    def content(self, file: str, data: str, what: str) -> bytes | None:
        """What a file holds that is written into the kubeconfig or named by it; None where neither is."""
        if data:
            try:
                return base64.b64decode(data, validate=True)
            except binascii.Error as error:
                raise BadAccess(f"{self.source}: {what} is not base64: {error}") from error
        if not file:
            return None
        try:
            return (self.directory / file).read_bytes()
        except OSError as error:
            raise BadAccess(f"{self.source}: {what} cannot be read: {error}") from error


def read_kubeconfig(paths: tuple[Path, ...], context: str = "") -> Reach:
    """What the current context, or another one, of these files says; of equal names the first counts."""
    files = [(path, _read(path)) for path in paths]
    source = ", ".join(map(str, paths))
    wanted = context or next((file.current_context for _, file in files if file.current_context), "")
    if not wanted:
        names = sorted({each.name for _, file in files for each in file.contexts or ()})
        raise BadAccess(
            f"{source}: no context is chosen; set current-context to one of: {', '.join(names) or '(none)'}"
        )
    chosen, _ = _entry(files, "contexts", wanted, Context)
    cluster, place = _entry(files, "clusters", chosen.cluster, ClusterEntry)
    cluster = msgspec.structs.replace(cluster, certificate_authority=_absolute(place, cluster.certificate_authority))
    user = UserEntry()
    if chosen.user:
        user, place = _entry(files, "users", chosen.user, UserEntry)
    if user.auth_provider is not None:
        raise BadAccess(
            f"{source}: user {chosen.user!r} signs in by an auth-provider, which Kubernetes has dropped; use exec"
        )
    if not cluster.server:
        raise BadAccess(f"{source}: cluster {chosen.cluster!r} has no server")
    return Reach(source=source, cluster=cluster, user=user, namespace=chosen.namespace, directory=place.parent)


def _absolute(beside: Path, file: str) -> str:
    return str(beside.parent / file) if file else ""


def default_files() -> tuple[Path, ...]:
    """The files that kubectl would read; none where there is none."""
    written = os.environ.get("KUBECONFIG", "")
    named = [Path(each) for each in written.split(os.pathsep) if each] or [from_home(_DEFAULT_FILE)]
    return tuple(path for path in named if path.is_file())


def read_in_cluster(directory: Path = SERVICE_ACCOUNT) -> Reach | None:
    """What a pod finds; None outside of a cluster."""
    host, port = os.environ.get("KUBERNETES_SERVICE_HOST"), os.environ.get("KUBERNETES_SERVICE_PORT")
    token = directory / "token"
    if not host or not port or not token.is_file():
        return None
    try:
        namespace = (directory / "namespace").read_text(encoding="utf-8").strip()
    except OSError:
        namespace = ""
    return Reach(
        source="the pod's service account",
        cluster=ClusterEntry(
            server=f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}",
            certificate_authority=str(directory / "ca.crt"),
        ),
        user=UserEntry(token_file=str(token)),
        namespace=namespace,
    )


def _read(path: Path) -> _File:
    try:
        text = from_home(path).read_bytes()
    except OSError as error:
        raise BadAccess(f"The kubeconfig {path} cannot be read: {error.strerror or error}") from error
    try:
        return msgspec.convert(yaml.load(text, Loader=yaml.CSafeLoader) or {}, _File)
    except yaml.YAMLError as error:
        raise BadAccess(f"The kubeconfig {path} is not YAML: {error}") from error
    except msgspec.ValidationError as error:
        raise BadAccess(f"The kubeconfig {path} is not one: {error}") from error


def _entry(files: list[tuple[Path, _File]], section: str, name: str, type_: type[T]) -> tuple[T, Path]:
    """One entry, and the file that has it."""
    known: set[str] = set()
    for path, file in files:
        for each in getattr(file, section) or ():
            known.add(each.name)
            if each.name != name:
                continue
            written = getattr(each, section.removesuffix("s")) or {}
            # Empty is how Go writes what is not set.
            filled = {key: value for key, value in written.items() if value is not None}
            try:
                return msgspec.convert(filled, type_), from_home(path)
            except msgspec.ValidationError as error:
                raise BadAccess(f"{path}: {section} {name!r}: {error}") from error
    paths = ", ".join(str(path) for path, _ in files)
    raise BadAccess(f"{paths}: {section} has no {name!r}, only: {', '.join(sorted(known)) or '(none)'}")
