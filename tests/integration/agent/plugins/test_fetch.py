"""Executables are brought by content: checked, whole, and never yesterday's."""

import hashlib
from pathlib import Path

import msgspec
import pytest

from fairway.agent.plugins.download import this_platform
from fairway.agent.plugins.fetch import Fetcher
from fairway.agent.plugins.source import Artifact, BadPlugin, LocalFile, WebFile, source_of
from fairway.config.agent import PluginConfig
from tests.integration.agent.plugins.web import a_web_server

ONE, TWO = b"#!/bin/sh\necho one\n", b"#!/bin/sh\necho two\n"


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


async def fetched(folder: Path, url: str, sha256: str = "") -> Path:
    plugin = PluginConfig(name="p", url=url, sha256=sha256)
    source = source_of(plugin)
    assert isinstance(source, LocalFile | WebFile | Artifact)
    return await Fetcher(folder).fetch(plugin, source)


async def test_a_changed_file_is_noticed_and_the_old_one_is_gone(tmp_path: Path) -> None:
    made, folder = tmp_path / "made", tmp_path / "bin"
    made.write_bytes(ONE)
    first = await fetched(folder, str(made))
    made.write_bytes(TWO)

    second = await fetched(folder, str(made))

    assert second.read_bytes() == TWO
    assert second.stat().st_mode & 0o777 == 0o755
    assert [first.exists(), [each.name for each in folder.glob("[!.]*")]] == [False, [second.name]]


async def test_a_checksum_that_does_not_fit_is_refused_with_both(tmp_path: Path) -> None:
    made, folder = tmp_path / "made", tmp_path / "bin"
    made.write_bytes(ONE)

    with pytest.raises(BadPlugin, match=f"{sha256(ONE)}.*{sha256(TWO)}"):
        await fetched(folder, str(made), sha256(TWO))

    assert list(folder.iterdir()) == []


async def test_a_download_is_kept_until_its_url_or_checksum_changes(tmp_path: Path) -> None:
    asked: list[str] = []
    with a_web_server({"/1": ONE, "/2": TWO}, asked) as host:
        await fetched(tmp_path, f"http://{host}/1")
        await fetched(tmp_path, f"http://{host}/1")
        path = await fetched(tmp_path, f"http://{host}/2")
        assert path == await fetched(tmp_path, f"http://{host}/moved", sha256(TWO))

    assert (asked, path.read_bytes()) == (["/1", "/2"], TWO)


async def test_an_executable_that_was_changed_where_it_lies_is_brought_again(tmp_path: Path) -> None:
    asked: list[str] = []
    with a_web_server({"/1": ONE}, asked) as host:
        (await fetched(tmp_path, f"http://{host}/1")).write_bytes(TWO)
        path = await fetched(tmp_path, f"http://{host}/1")

    assert path.read_bytes() == ONE


async def test_a_url_with_nothing_behind_it_is_named(tmp_path: Path) -> None:
    with a_web_server({}, []) as host, pytest.raises(BadPlugin, match=f"http://{host}/1 answered 404"):
        await fetched(tmp_path, f"http://{host}/1")


def a_registry(content: bytes, system: str) -> dict[str, bytes]:
    """The paths of a registry with one plugin for one platform, written as PipeCD's own tool writes it."""
    layer = {"mediaType": "application/vnd.pipecd.piped.plugin", "digest": f"sha256:{sha256(content)}"}
    manifest = msgspec.json.encode({"layers": [layer]})
    platform = {"os": system, "architecture": this_platform()[1]}
    index = {"manifests": [{"digest": f"sha256:{sha256(manifest)}", "platform": platform}]}
    return {
        "/v2/shop/p/manifests/v1": msgspec.json.encode(index),
        f"/v2/shop/p/manifests/sha256:{sha256(manifest)}": manifest,
        f"/v2/shop/p/blobs/sha256:{sha256(content)}": content,
    }


async def test_an_artifact_is_pulled_for_this_platform(tmp_path: Path) -> None:
    with a_web_server(a_registry(ONE, this_platform()[0]), []) as host:
        path = await fetched(tmp_path, f"oci://{host}/shop/p:v1", sha256(ONE))

    assert path.read_bytes() == ONE


async def test_an_artifact_for_other_platforms_only_says_which(tmp_path: Path) -> None:
    with a_web_server(a_registry(ONE, "plan9"), []) as host, pytest.raises(BadPlugin, match="it has plan9/"):
        await fetched(tmp_path, f"oci://{host}/shop/p:v1")


async def test_an_artifact_that_is_not_what_its_manifest_says_is_refused(tmp_path: Path) -> None:
    paths = a_registry(ONE, this_platform()[0])
    paths[f"/v2/shop/p/blobs/sha256:{sha256(ONE)}"] = TWO
    with a_web_server(paths, []) as host, pytest.raises(BadPlugin, match=f"not of sha256:{sha256(ONE)}"):
        await fetched(tmp_path, f"oci://{host}/shop/p:v1")
