"""Executables from the web and from OCI registries, piece by piece.

A registry is asked as PipeCD's agent asks it: a manifest, or an index with one manifest for each platform, whose only
layer of PipeCD's media type is the executable. A registry that wants a token gives one to everybody, or to whom
`registry_auth` knows.
"""

import base64
import hashlib
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx2
import msgspec

from fairway.agent.plugins.machine import this_platform
from fairway.agent.plugins.registry_auth import Credential, credential
from fairway.config.plugin_source import Artifact, BadPlugin
from fairway.errors import TemporaryError

T = TypeVar("T")

_LAYER = "application/vnd.pipecd.piped.plugin"
_INDEX = "application/vnd.oci.image.index.v1+json"
_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_TIMEOUT = httpx2.Timeout(60.0)
#: Limit for a manifest or a token; registries accept manifests of 4 MiB.
_MOST_ANSWER = 4 * 1024 * 1024
#: What cannot be asked, and who cannot be reached now; the second of those is for a port that there is not, to which
#: whoever was asked has sent us.
_NO_ADDRESS, _AWAY = (httpx2.InvalidURL, ValueError), (httpx2.HTTPError, ExceptionGroup)


class _Layer(msgspec.Struct, frozen=True, rename="camel"):
    digest: str
    media_type: str = ""


class _Platform(msgspec.Struct, frozen=True):
    os: str = "?"
    architecture: str = "?"


class _Entry(msgspec.Struct, frozen=True):
    digest: str
    platform: _Platform = _Platform()


class _Manifest(msgspec.Struct, frozen=True):
    """What a registry has under a name: layers, or such a thing for each platform."""

    layers: tuple[_Layer, ...] = ()
    manifests: tuple[_Entry, ...] | None = None


class _Token(msgspec.Struct, frozen=True):
    token: str = ""
    access_token: str = ""


class _Answer(msgspec.Struct, frozen=True):
    """An answer that was read to its end."""

    status_code: int
    reason_phrase: str
    challenge: str
    content: bytes


class DownloadFailed(TemporaryError):
    """A plugin that could not be downloaded now."""


async def download(url: str, headers: dict[str, str] | None = None) -> AsyncGenerator[bytes]:
    """The content behind a URL."""
    try:
        async with (
            httpx2.AsyncClient(timeout=_TIMEOUT, follow_redirects=True) as client,
            client.stream("GET", url, headers=headers or {}) as answer,
        ):
            if answer.status_code != httpx2.codes.OK:
                raise BadPlugin(f"{url} answered {answer.status_code} {answer.reason_phrase}; is it the right address?")
            async for piece in answer.aiter_bytes(1024 * 1024):
                yield piece
    except _NO_ADDRESS as error:
        raise BadPlugin(f"{url} is no address from which something can be downloaded: {error}") from error
    except _AWAY as error:
        raise DownloadFailed(f"{url} cannot be downloaded: {error}") from error


async def download_artifact(artifact: Artifact, auth_file: str = "") -> AsyncGenerator[bytes]:
    """The executable for this platform; BadPlugin when the artifact has none."""
    async with httpx2.AsyncClient(timeout=_TIMEOUT, follow_redirects=True) as client:
        registry = _Registry(client, artifact, auth_file)
        manifest = await registry.manifest(artifact.reference)
        if manifest.manifests is not None:
            manifest = await registry.manifest(_for_platform(manifest.manifests, artifact))
    layers = [each.digest for each in manifest.layers if each.media_type == _LAYER]
    if len(layers) != 1:
        raise BadPlugin(f"{registry.name} has {len(layers)} layers of {_LAYER}; expected one executable")
    digest = hashlib.sha256()
    async with aclosing(download(f"{registry.base}/blobs/{layers[0]}", registry.headers)) as pieces:
        async for piece in pieces:
            digest.update(piece)
            yield piece
    if f"sha256:{digest.hexdigest()}" != layers[0]:
        raise BadPlugin(f"{registry.name} gave an executable of sha256:{digest.hexdigest()}, not of {layers[0]}")


class _Registry:
    """One repository of a registry."""

    def __init__(self, client: httpx2.AsyncClient, artifact: Artifact, auth_file: str) -> None:
        self._client = client
        self._host = artifact.registry
        self._auth_file = auth_file
        self.name = f"oci://{artifact.registry}/{artifact.repository}:{artifact.reference}"
        self.base = (
            f"{'http' if _is_local(artifact.registry) else 'https'}://{artifact.registry}/v2/{artifact.repository}"
        )
        self.headers: dict[str, str] = {}

    async def manifest(self, reference: str) -> _Manifest:
        """A manifest or an index, by its tag or digest."""
        url = f"{self.base}/manifests/{reference}"
        try:
            answer = await self._get(url)
            if answer.status_code == httpx2.codes.UNAUTHORIZED:
                await self._authorise(answer.challenge)
                answer = await self._get(url)
        except _NO_ADDRESS as error:
            raise BadPlugin(f"{url} is no address from which something can be downloaded: {error}") from error
        except _AWAY as error:
            raise DownloadFailed(f"{url} cannot be downloaded: {error}") from error
        if answer.status_code != httpx2.codes.OK:
            raise BadPlugin(f"{url} answered {answer.status_code} {answer.reason_phrase}; is {self.name} there?")
        if reference.startswith("sha256:") and reference != f"sha256:{hashlib.sha256(answer.content).hexdigest()}":
            raise BadPlugin(f"{url} answered with something of another digest")
        return _read(answer.content, _Manifest, url)

    async def _get(self, url: str) -> _Answer:
        return await self._ask("GET", url, headers={"Accept": f"{_INDEX}, {_MANIFEST}", **self.headers})

    async def _ask(self, method: str, url: str, **request: Any) -> _Answer:
        """An answer up to the limit; BadPlugin when it is longer."""
        content = bytearray()
        async with self._client.stream(method, url, **request) as answer:
            async for piece in answer.aiter_bytes():
                content += piece
                if len(content) > _MOST_ANSWER:
                    raise BadPlugin(f"{url} answered with more than {_MOST_ANSWER >> 20} MiB, the limit for a manifest")
        challenge = answer.headers.get("www-authenticate", "")
        return _Answer(answer.status_code, answer.reason_phrase, challenge, bytes(content))

    async def _authorise(self, challenge: str) -> None:
        """Do what the registry wants before it answers: by name and password, or by a token got for these or for
        nothing."""
        known = await credential(self._host, self._auth_file)
        if challenge.lower().startswith("basic "):
            if known is None:
                raise self._not_for_everybody()
            self.headers = {"Authorization": _basic(known)}
            return
        said = dict(re.findall(r'(\w+)="([^"]*)"', challenge))
        if "realm" not in said:
            raise self._not_for_everybody()
        answer = await self._token(said, known)
        if answer.status_code in {httpx2.codes.UNAUTHORIZED, httpx2.codes.FORBIDDEN}:
            raise self._not_for_everybody(known)
        if answer.status_code != httpx2.codes.OK:
            raise DownloadFailed(f"{said['realm']} answered {answer.status_code} when asked for a token")
        given = _read(answer.content, _Token, said["realm"])
        self.headers = {"Authorization": f"Bearer {given.token or given.access_token}"}

    async def _token(self, said: dict[str, str], known: Credential | None) -> _Answer:
        wanted: dict[str, str] = {key: said[key] for key in ("service", "scope") if key in said}
        realm = urlsplit(said["realm"])
        if known is None:
            return await self._ask("GET", said["realm"], params=wanted)
        if realm.scheme != "https" and not _is_local(realm.netloc):
            raise BadPlugin(f"{self.name} wants the password to be sent to {said['realm']}, where others could read it")
        if known.is_token:
            form = {**wanted, "grant_type": "refresh_token", "refresh_token": known.password.reveal()}
            return await self._ask("POST", said["realm"], data={**form, "client_id": "fairway"})
        return await self._ask("GET", said["realm"], params=wanted, headers={"Authorization": _basic(known)})

    def _not_for_everybody(self, known: Credential | None = None) -> BadPlugin:
        if known is not None:
            return BadPlugin(f"{self.name} does not let {known.user or 'this token'} in; is the password still right?")
        return BadPlugin(
            f"{self.name} is not for everybody, and nothing is known of {self._host}; "
            "give the plugin a registryAuthFile, or sign in with docker login as the user of the agent"
        )


def _basic(known: Credential) -> str:
    return f"Basic {base64.b64encode(f'{known.user}:{known.password.reveal()}'.encode()).decode()}"


def _is_local(host: str) -> bool:
    return host.partition(":")[0] in {"localhost", "127.0.0.1"}


def _read(content: bytes, kind: type[T], url: str) -> T:
    try:
        return msgspec.json.decode(content, type=kind)
    except msgspec.DecodeError as error:
        raise BadPlugin(f"{url} does not answer as a registry does ({error})") from error


def _for_platform(entries: Sequence[_Entry], artifact: Artifact) -> str:
    system, architecture = this_platform()
    for each in entries:
        if (each.platform.os, each.platform.architecture) == (system, architecture):
            return each.digest
    has = ", ".join(f"{each.platform.os}/{each.platform.architecture}" for each in entries)
    raise BadPlugin(
        f"oci://{artifact.registry}/{artifact.repository} has nothing for {system}/{architecture}; it has {has}"
    )
