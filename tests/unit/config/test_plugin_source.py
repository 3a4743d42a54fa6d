"""Where a plugin comes from."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fairway.config.plugin_source import Artifact, BadPlugin, LocalFile, PluginSource, PythonClass, WebFile, source_of


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        pytest.param("builtin:wait", PythonClass("fairway.plugins.wait:Wait"), id="brought along"),
        pytest.param("python:shop.plugin:Shop", PythonClass("shop.plugin:Shop"), id="a class"),
        pytest.param("file:///opt/a%20b", LocalFile(Path("/opt/a b")), id="a file"),
        pytest.param("/opt/plugin", LocalFile(Path("/opt/plugin")), id="a path"),
        pytest.param("https://host/p?v=1", WebFile("https://host/p?v=1"), id="the web"),
        pytest.param("oci://reg:5000/a/b:v1", Artifact("reg:5000", "a/b", "v1"), id="a tag"),
        pytest.param("oci://reg/a@sha256:12", Artifact("reg", "a", "sha256:12"), id="a digest"),
        pytest.param("oci://reg/a", Artifact("reg", "a", "latest"), id="neither"),
    ],
)
def test_a_url_says_where_a_plugin_comes_from(url: str, expected: PluginSource) -> None:
    assert source_of("p", url) == expected


@pytest.mark.parametrize(
    ("name", "url"),
    [
        pytest.param("p", "builtin:teleport", id="nothing that is brought along"),
        pytest.param("p", "python:module", id="a module without a class"),
        pytest.param("p", "ftp://host/p", id="a scheme nobody knows"),
        pytest.param("p", "https:///p", id="no host"),
        pytest.param("p", "https://host:port/p", id="a port that is no number"),
        pytest.param("p", "oci://reg:65536/a", id="a port that there is not"),
        pytest.param("p", "oci://reg", id="no repository"),
        pytest.param("p", "plugin", id="a name alone"),
        pytest.param("../p", "builtin:wait", id="a name that leaves its directory"),
        pytest.param("bin", "builtin:wait", id="a name that is taken"),
    ],
)
def test_what_cannot_be_a_plugin_is_refused_with_its_name(name: str, url: str) -> None:
    with pytest.raises(BadPlugin, match=f"plugin '?{name}"):
        source_of(name, url)


@example("", "~nobody-here/plugin")
@given(st.sampled_from(["", "file:", "http://", "https://[", "oci://", "python:", "builtin:"]), st.text())
def test_any_text_is_understood_or_refused(scheme: str, url: str) -> None:
    with contextlib.suppress(BadPlugin):
        source_of("p", f"{scheme}{url}")
