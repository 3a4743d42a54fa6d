"""Executables are brought by content: checked, whole, and never yesterday's."""

import base64
import hashlib
import os
import re
import ssl
from contextlib import AbstractContextManager
from pathlib import Path

import msgspec
import pytest

from fairway.agent.plugins import fetch
from fairway.agent.plugins.download import DownloadFailed, download
from fairway.agent.plugins.fetch import Fetcher
from fairway.agent.plugins.machine import this_platform
from fairway.config.agent import PluginConfig
from fairway.config.plugin_source import Artifact, BadPlugin, LocalFile, WebFile
from fairway.errors import TemporaryError
from tests.certificates import self_signed
from tests.integration.agent.plugins.web import a_web_server

ONE, TWO = b"#!/bin/sh\necho one\n", b"#!/bin/sh\necho two\n"


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


async def fetched(folder: Path, url: str, sha256: str = "", auth_file: str = "") -> Path:
    plugin = PluginConfig(name="p", url=url, sha256=sha256, registry_auth_file=auth_file)
    source = plugin.source
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


async def test_a_host_is_believed_by_its_certificate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pair, certificate = self_signed(), tmp_path / "host.pem"
    certificate.write_bytes(pair.key + pair.certificate)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    with a_web_server({"/p": ONE}, [], tls=tls) as host:
        with pytest.raises(TemporaryError, match=f"https://{host}/p.*certificate"):
            await fetched(tmp_path / "bin", f"https://{host}/p")
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))

        path = await fetched(tmp_path / "bin", f"https://{host}/p", sha256(ONE))

    assert path.read_bytes() == ONE


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


def basic(user: str, password: str) -> str:
    return base64.b64encode(f"{user}:{password}".encode()).decode()


def a_guarded_registry(asked: list[str]) -> AbstractContextManager[str]:
    """A registry that wants a token, and gives one to `robot` with the password `hunter2` or for a token of his."""
    paths = a_registry(ONE, this_platform()[0])
    token, given = "/token?service=shop&scope=repository%3Ashop%2Fp%3Apull", b'{"token": "pass"}'
    return a_web_server(
        paths | {token: given, "/token": given},
        asked,
        dict.fromkeys(paths, "Bearer pass") | {token: f"Basic {basic('robot', 'hunter2')}"},
    )


AUTHS = [
    pytest.param({"auth": basic("robot", "hunter2")}, id="as docker login writes it"),
    pytest.param({"username": "robot", "password": "hunter2"}, id="in plain words"),
    pytest.param({"identitytoken": "refresh-me"}, id="a token that is exchanged"),
]


@pytest.mark.parametrize("url", ["https://256.1.1.1/p", "http://[::g]/p", "oci://256.1.1.1/p"])
async def test_what_is_no_address_is_named(tmp_path: Path, url: str) -> None:
    host = url.split("/")[2]

    with pytest.raises(BadPlugin, match=rf"{re.escape(host)}\S* is no address"):
        await fetched(tmp_path, url)


async def test_an_address_to_which_nobody_can_connect_may_be_another_one_later() -> None:
    # No configuration has such a port, but whoever is asked may send us there.
    with pytest.raises(DownloadFailed, match=r"127\.0\.0\.1:99999/p cannot be downloaded"):
        [_ async for _ in download("http://127.0.0.1:99999/p")]


@pytest.mark.parametrize("auth", AUTHS)
async def test_a_registry_that_wants_a_password_gets_the_one_of_the_entrys_file(
    tmp_path: Path, auth: dict[str, str]
) -> None:
    asked: list[str] = []
    with a_guarded_registry(asked) as host:
        file = tmp_path / "auth.json"
        file.write_bytes(msgspec.json.encode({"auths": {host: auth}}))
        path = await fetched(tmp_path / "bin", f"oci://{host}/shop/p:v1", auth_file=str(file))

    assert path.read_bytes() == ONE
    assert asked[-1] == f"/v2/shop/p/blobs/sha256:{sha256(ONE)}"


async def test_without_a_file_it_is_the_one_of_docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    with a_guarded_registry([]) as host:
        entry = {f"http://{host}/v1/": {"auth": basic("robot", "hunter2")}}
        (tmp_path / "config.json").write_bytes(msgspec.json.encode({"auths": entry}))

        assert (await fetched(tmp_path / "bin", f"oci://{host}/shop/p:v1")).read_bytes() == ONE


async def test_a_helper_is_asked_by_its_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    helper = tmp_path / "docker-credential-test"
    helper.write_text(f"""#!/bin/sh
echo "$@" > {tmp_path}/arguments; cat > {tmp_path}/asked
echo '{{"Username": "robot", "Secret": "hunter2"}}'
""")
    helper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with a_guarded_registry([]) as host:
        file = tmp_path / "auth.json"
        file.write_bytes(msgspec.json.encode({"credHelpers": {host: "test"}}))
        path = await fetched(tmp_path / "bin", f"oci://{host}/shop/p:v1", auth_file=str(file))

    assert path.read_bytes() == ONE
    assert ((tmp_path / "arguments").read_text(), (tmp_path / "asked").read_text()) == ("get\n", host)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param('{"auths": {}}', "give the plugin a registryAuthFile, or sign in with docker login", id="nothing"),
        pytest.param('{"auths": {"HOST": {"auth": "cm9ib3Q6d3Jvbmc="}}}', "does not let robot in", id="wrong"),
        pytest.param('{"auths": {"HOST": {"auth": "???"}}}', "not the base64 of user:password", id="no base64"),
        pytest.param("[1]", "is no file such as Docker's config.json", id="another file"),
        pytest.param(None, "cannot be read", id="no file"),
        pytest.param('{"credHelpers": {"HOST": "no-such"}}', "docker-credential-no-such", id="no helper"),
    ],
)
async def test_who_is_not_let_in_is_told_what_to_do(tmp_path: Path, content: str | None, expected: str) -> None:
    file = tmp_path / "auth.json"
    with a_guarded_registry([]) as host:
        if content is not None:
            file.write_text(content.replace("HOST", host))
        with pytest.raises(BadPlugin, match=expected) as refused:
            await fetched(tmp_path / "bin", f"oci://{host}/shop/p:v1", auth_file=str(file))

    assert "wrong" not in str(refused.value)


async def test_a_registry_that_wants_name_and_password_at_once_gets_them(tmp_path: Path) -> None:
    paths = a_registry(ONE, this_platform()[0])
    guarded = {path: f"Basic {basic('robot', 'hunter2')}" for path in paths}
    with a_web_server(paths, [], guarded, "Basic realm=shop") as host:
        file = tmp_path / "auth.json"
        file.write_bytes(msgspec.json.encode({"auths": {host: {"auth": basic("robot", "hunter2")}}}))
        path = await fetched(tmp_path / "bin", f"oci://{host}/shop/p:v1", auth_file=str(file))

    assert path.read_bytes() == ONE


async def test_what_is_no_registry_is_named(tmp_path: Path) -> None:
    with (
        a_web_server({"/v2/shop/p/manifests/v1": b"<html>"}, []) as host,
        pytest.raises(BadPlugin, match="does not answer as a registry does"),
    ):
        await fetched(tmp_path, f"oci://{host}/shop/p:v1")


async def test_a_download_ends_at_the_limit_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "MOST_BYTES", 2 << 20)
    folder = tmp_path / "bin"
    with (
        a_web_server({"/p": b"x" * (8 << 20)}, []) as host,
        pytest.raises(BadPlugin, match=r"/p has more than 2 MiB, the limit for a plugin"),
    ):
        await fetched(folder, f"http://{host}/p")

    assert list(folder.iterdir()) == []


async def test_a_manifest_is_read_up_to_a_limit(tmp_path: Path) -> None:
    manifest = msgspec.json.encode({"layers": [], "padding": "x" * (5 << 20)})
    with (
        a_web_server({"/v2/shop/p/manifests/1": manifest}, []) as host,
        pytest.raises(BadPlugin, match=r"more than 4 MiB, the limit for a manifest"),
    ):
        await fetched(tmp_path, f"oci://{host}/shop/p:1")
