"""Kubeconfigs: which context counts, where its files are, and what is wrong with one that cannot be used."""

import base64
from pathlib import Path
from typing import Any

import pytest
import yaml

from fairway.kube.access import Access
from fairway.kube.errors import BadAccess
from fairway.kube.kubeconfig import read_in_cluster, read_kubeconfig


def a_file(folder: Path, user: Any = None, cluster: Any = None, name: str = "config", **more: Any) -> Path:
    file = folder / name
    content = {
        "current-context": "one",
        "clusters": [{"name": "dev", "cluster": {"server": "https://dev.example"} | (cluster or {})}],
        "users": [{"name": "me", "user": user}],
        "contexts": [{"name": "one", "context": {"cluster": "dev", "user": "me", "namespace": "shop"}}],
    }
    file.write_text(yaml.safe_dump(content | more))
    return file


async def test_the_current_context_says_where_and_who(tmp_path: Path) -> None:
    access = Access.of(str(a_file(tmp_path, {"token": "abc"})))

    assert (access.server, access.namespace) == ("https://dev.example", "shop")
    assert (await access.credentials()).headers == {"Authorization": "Bearer abc"}


async def test_a_name_and_a_password_are_sent_as_such(tmp_path: Path) -> None:
    access = Access.of(str(a_file(tmp_path, {"username": "u", "password": "p"})))

    expected = "Basic " + base64.b64encode(b"u:p").decode()
    assert (await access.credentials()).headers == {"Authorization": expected}


def test_another_address_takes_the_place_of_the_written_one(tmp_path: Path) -> None:
    assert Access.of(str(a_file(tmp_path)), "https://other.example/").server == "https://other.example"


def test_an_address_is_enough() -> None:
    assert Access.of("", "http://127.0.0.1:8001").namespace == "default"


def test_a_proxy_of_the_kubeconfig_comes_before_that_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("https_proxy", "http://env.example:3128")
    monkeypatch.setenv("no_proxy", "inside.example")
    written = a_file(tmp_path, cluster={"proxy-url": "http://file.example:1"}, name="written")
    inside = a_file(tmp_path, cluster={"server": "https://inside.example"}, name="inside")

    found = [Access.of(str(file)).proxy for file in (written, a_file(tmp_path), inside)]

    assert found == ["http://file.example:1", "http://env.example:3128", None]


def test_of_several_files_the_first_that_has_an_entry_counts(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.write_text("")

    reach = read_kubeconfig((empty, a_file(tmp_path, {"token": "a"}), a_file(tmp_path, {"token": "b"}, name="b")))

    assert reach.user.token == "a"


def test_a_pod_finds_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    (tmp_path / "token").write_text("t")
    (tmp_path / "namespace").write_text("ci\n")

    reach = read_in_cluster(tmp_path)

    assert reach is not None
    assert (reach.cluster.server, reach.namespace, reach.user.token_file) == (
        "https://[fd00::1]:443",
        "ci",
        str(tmp_path / "token"),
    )


def test_outside_of_a_cluster_there_is_nothing_of_the_kind(tmp_path: Path) -> None:
    assert read_in_cluster(tmp_path) is None


@pytest.mark.parametrize(
    ("more", "words"),
    [
        pytest.param({"current-context": ""}, "no context is chosen; set current-context to one of: one", id="none"),
        pytest.param({"current-context": "two"}, "contexts has no 'two', only: one", id="unknown context"),
        pytest.param({"clusters": []}, "clusters has no 'dev', only: (none)", id="unknown cluster"),
        pytest.param({"users": []}, "users has no 'me'", id="unknown user"),
        pytest.param({"clusters": 7}, "is not one", id="nonsense"),
        pytest.param({"clusters": [{"name": "dev", "cluster": {}}]}, "has no server", id="no server"),
        pytest.param({"cluster": {"server": "ftp://x"}}, "expected https://", id="another protocol"),
        pytest.param({"cluster": {"certificate-authority-data": "%%"}}, "is not base64", id="not base64"),
        pytest.param({"cluster": {"certificate-authority-data": "aGVsbG8="}}, "cannot be used", id="no certificate"),
        pytest.param({"cluster": {"certificate-authority": "missing.pem"}}, "missing.pem", id="no such file"),
        pytest.param({"cluster": {"proxy-url": "socks5://x"}}, "proxy-url must begin with", id="another proxy"),
        pytest.param({"user": {"client-certificate-data": "aGVsbG8="}}, "belong together", id="half a pair"),
        pytest.param({"user": {"auth-provider": {"name": "gcp"}}}, "use exec", id="dropped"),
        pytest.param({"user": {"exec": {"args": ["x"]}}}, "command", id="no command"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, more: dict[str, Any], words: str) -> None:
    file = a_file(tmp_path, **more)

    with pytest.raises(BadAccess) as raised:
        Access.of(str(file))

    assert words in str(raised.value)
    assert str(file) in str(raised.value)


def test_a_file_that_is_not_there_is_said() -> None:
    with pytest.raises(BadAccess, match="cannot be read: No such file"):
        Access.of("/nowhere/config")
