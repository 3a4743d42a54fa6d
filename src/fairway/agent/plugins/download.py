"""Executables from the web and from OCI registries, piece by piece.

A registry is asked as PipeCD's agent asks it: a manifest, or an index with one manifest for each platform, whose only
layer of PipeCD's media type is the executable. A registry that wants a token gives one to everybody.
"""

import hashlib
import platform
import re
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import msgspec

from fairway.agent.plugins.source import Artifact, BadPlugin
from fairway.errors import TemporaryError

_LAYER = "application/vnd.pipecd.piped.plugin"
_INDEX = "application/vnd.oci.image.index.v1+json"
_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_TIMEOUT = httpx2.Timeout(60.0)
#: What Go calls the machines that Python knows by other names.
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


class DownloadFailed(TemporaryError):
    """A plugin that could not be downloaded now."""


def this_platform() -> tuple[str, str]:
    """Operating system and architecture, in Go's words."""
    machine = platform.machine()
    return platform.system().lower(), _ARCHITECTURES.get(machine, machine)


async def download(url: str, headers: dict[str, str] | None = None) -> AsyncIterator[bytes]:
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
    except httpx2.HTTPError as error:
        raise DownloadFailed(f"{url} cannot be downloaded: {error}") from error


async def download_artifact(artifact: Artifact) -> AsyncIterator[bytes]:
    """The executable for this platform; BadPlugin when the artifact has none."""
    async with httpx2.AsyncClient(timeout=_TIMEOUT, follow_redirects=True) as client:
        registry = _Registry(client, artifact)
        manifest = await registry.manifest(artifact.reference)
        if "manifests" in manifest:
            manifest = await registry.manifest(_for_platform(manifest, artifact))
    layers = [each["digest"] for each in manifest.get("layers", ()) if each.get("mediaType") == _LAYER]
    if len(layers) != 1:
        raise BadPlugin(f"{registry.name} has {len(layers)} layers of {_LAYER}; expected one executable")
    digest = hashlib.sha256()
    async for piece in download(f"{registry.base}/blobs/{layers[0]}", registry.headers):
        digest.update(piece)
        yield piece
    if f"sha256:{digest.hexdigest()}" != layers[0]:
        raise BadPlugin(f"{registry.name} gave an executable of sha256:{digest.hexdigest()}, not of {layers[0]}")


class _Registry:
    """One repository of a registry."""

    def __init__(self, client: httpx2.AsyncClient, artifact: Artifact) -> None:
        self._client = client
        self.name = f"oci://{artifact.registry}/{artifact.repository}:{artifact.reference}"
        local = artifact.registry.partition(":")[0] in {"localhost", "127.0.0.1"}
        self.base = f"{'http' if local else 'https'}://{artifact.registry}/v2/{artifact.repository}"
        self.headers: dict[str, str] = {}

    async def manifest(self, reference: str) -> dict[str, Any]:
        """A manifest or an index, by its tag or digest."""
        url = f"{self.base}/manifests/{reference}"
        try:
            answer = await self._get(url)
            if answer.status_code == httpx2.codes.UNAUTHORIZED:
                await self._authorise(answer.headers.get("www-authenticate", ""))
                answer = await self._get(url)
        except httpx2.HTTPError as error:
            raise DownloadFailed(f"{url} cannot be downloaded: {error}") from error
        if answer.status_code != httpx2.codes.OK:
            raise BadPlugin(f"{url} answered {answer.status_code} {answer.reason_phrase}; is {self.name} there?")
        if reference.startswith("sha256:") and reference != f"sha256:{hashlib.sha256(answer.content).hexdigest()}":
            raise BadPlugin(f"{url} answered with something of another digest")
        found: dict[str, Any] = msgspec.json.decode(answer.content)
        return found

    async def _get(self, url: str) -> httpx2.Response:
        return await self._client.get(url, headers={"Accept": f"{_INDEX}, {_MANIFEST}", **self.headers})

    async def _authorise(self, challenge: str) -> None:
        """Get the token that the registry gives to everybody."""
        said = dict(re.findall(r'(\w+)="([^"]*)"', challenge))
        if "realm" not in said:
            raise BadPlugin(f"{self.name} is not for everybody, and plugins are pulled without a name")
        wanted = {key: said[key] for key in ("service", "scope") if key in said}
        answer = await self._client.get(said["realm"], params=wanted)
        if answer.status_code != httpx2.codes.OK:
            raise BadPlugin(f"{self.name} is not for everybody, and plugins are pulled without a name")
        token = msgspec.json.decode(answer.content)
        self.headers = {"Authorization": f"Bearer {token.get('token') or token.get('access_token')}"}


def _for_platform(index: dict[str, Any], artifact: Artifact) -> str:
    system, architecture = this_platform()
    for each in index["manifests"]:
        meant = each.get("platform", {})
        if (meant.get("os"), meant.get("architecture")) == (system, architecture):
            return str(each["digest"])
    has = ", ".join(
        f"{each['platform'].get('os')}/{each['platform'].get('architecture')}"
        for each in index["manifests"]
        if "platform" in each
    )
    raise BadPlugin(
        f"oci://{artifact.registry}/{artifact.repository} has nothing for {system}/{architecture}; it has {has}"
    )
