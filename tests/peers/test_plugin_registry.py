"""Plugins from a real OCI registry, which gives nothing out without a token of its own."""

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from fairway.agent.plugins.fetch import Fetcher
from fairway.agent.plugins.machine import this_platform
from fairway.config.agent import PluginConfig
from fairway.config.plugin_source import Artifact, BadPlugin
from tests.patience import PATIENCE_SECONDS
from tests.peers.gitea import USER, Gitea

EXECUTABLE = b"#!/bin/sh\necho a plugin\n"
_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_INDEX = "application/vnd.oci.image.index.v1+json"


class Registry:
    """The host's registry, and how things are put into it."""

    def __init__(self, gitea: Gitea) -> None:
        self._gitea = gitea
        self._base = f"{gitea.url}/v2/{USER}/plugin"

    def put_blob(self, content: bytes, media_type: str) -> dict[str, Any]:
        """Put it there; how a manifest speaks of it."""
        digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
        self._ask("POST", f"{self._base}/blobs/uploads/?digest={digest}", content, "application/octet-stream")
        return {"mediaType": media_type, "digest": digest, "size": len(content)}

    def put_manifest(self, name: str, media_type: str, **parts: Any) -> dict[str, Any]:
        """The same for a manifest."""
        content = json.dumps({"schemaVersion": 2, "mediaType": media_type, **parts}).encode()
        digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
        self._ask("PUT", f"{self._base}/manifests/{name or digest}", content, media_type)
        return {"mediaType": media_type, "digest": digest, "size": len(content)}

    def _ask(self, method: str, url: str, content: bytes, media_type: str) -> None:
        answer = httpx.request(
            method,
            url,
            content=content,
            headers={"Content-Type": media_type},
            auth=(USER, self._gitea.token),
            timeout=PATIENCE_SECONDS,
            trust_env=False,
        )
        assert answer.status_code == httpx.codes.CREATED, f"{method} {url}: {answer.status_code} {answer.text}"


@pytest.fixture(scope="module")
def index(gitea: Gitea) -> str:
    """The digest of an artifact for this platform and another one, which has the tag v1."""
    registry = Registry(gitea)
    config = registry.put_blob(b"{}", "application/vnd.oci.empty.v1+json")
    system, architecture = this_platform()
    entries = []
    for content, platform in ((EXECUTABLE, architecture), (b"for another", "sparc")):
        layer = registry.put_blob(content, "application/vnd.pipecd.piped.plugin")
        made = registry.put_manifest("", _MANIFEST, config=config, layers=[layer])
        entries.append({**made, "platform": {"os": system, "architecture": platform}})
    digest = registry.put_manifest("v1", _INDEX, manifests=entries)["digest"]
    assert isinstance(digest, str)
    return digest


def an_auth_file(folder: Path, gitea: Gitea, password: str) -> Path:
    """As `docker login` writes it."""
    auth = base64.b64encode(f"{USER}:{password}".encode()).decode()
    file = folder / "auth.json"
    file.write_text(json.dumps({"auths": {gitea.address: {"auth": auth}}}))
    return file


async def fetched(folder: Path, url: str, auth_file: str) -> Path:
    plugin = PluginConfig(name="p", url=url, sha256="", registry_auth_file=auth_file)
    source = plugin.source
    assert isinstance(source, Artifact)
    return await Fetcher(folder / "bin").fetch(plugin, source)


async def test_a_plugin_is_pulled_by_tag_and_by_digest(gitea: Gitea, index: str, tmp_path: Path) -> None:
    auth = str(an_auth_file(tmp_path, gitea, gitea.token))
    place = f"oci://{gitea.address}/{USER}/plugin"

    by_tag = await fetched(tmp_path / "one", f"{place}:v1", auth)
    by_digest = await fetched(tmp_path / "two", f"{place}@{index}", auth)

    assert (by_tag.read_bytes(), by_digest.read_bytes()) == (EXECUTABLE, EXECUTABLE)


@pytest.mark.usefixtures("index")
async def test_a_wrong_password_is_not_let_in_and_not_told(gitea: Gitea, tmp_path: Path) -> None:
    auth = str(an_auth_file(tmp_path, gitea, "not-the-password"))

    with pytest.raises(BadPlugin, match=f"does not let {USER} in") as refused:
        await fetched(tmp_path, f"oci://{gitea.address}/{USER}/plugin:v1", auth)

    assert "not-the-password" not in str(refused.value)


@pytest.mark.usefixtures("index")
async def test_without_a_password_it_is_said_where_to_put_one(
    gitea: Gitea, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))

    with pytest.raises(BadPlugin, match=r"is not for everybody.*give the plugin a registryAuthFile"):
        await fetched(tmp_path, f"oci://{gitea.address}/{USER}/plugin:v1", "")


@pytest.mark.usefixtures("index")
async def test_what_is_not_there_is_named(gitea: Gitea, tmp_path: Path) -> None:
    auth = str(an_auth_file(tmp_path, gitea, gitea.token))

    with pytest.raises(BadPlugin, match="answered 404"):
        await fetched(tmp_path, f"oci://{gitea.address}/{USER}/plugin:v2", auth)
