"""Tools that plugins ask for: installed once, whole or not at all."""

import asyncio
from pathlib import Path

import pytest

from fairway.agent.plugins.tools import BadTool, InstallFailed, Tools
from tests.integration.agent.test_cancelling import appears
from tests.patience import PATIENCE_SECONDS

SCRIPT = """
cd {{ .TmpDir }}
echo ran >> "$HERE"
printf '#!/bin/sh\\necho {{ .Name }} {{ .Version }} for {{ .Os }}' > made
mv made {{ .OutPath }}
"""


async def test_a_tool_that_many_ask_for_is_installed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERE", str(tmp_path / "ran"))
    tools = Tools(tmp_path / "tools")

    paths = await asyncio.gather(*(tools.install("kubectl", "1.30.0", SCRIPT) for _ in range(5)))
    again = await Tools(tmp_path / "tools").install("kubectl", "1.30.0", "exit 1")

    process = await asyncio.create_subprocess_exec(str(paths[0]), stdout=asyncio.subprocess.PIPE)
    said, _ = await process.communicate()
    assert {*paths, again} == {tmp_path / "tools" / "kubectl-1.30.0"}
    assert said == b"kubectl 1.30.0 for linux\n"
    assert (tmp_path / "ran").read_text() == "ran\n"


@pytest.mark.parametrize(
    ("script", "seconds", "expected"),
    [
        pytest.param("echo no such host >&2; exit 7", PATIENCE_SECONDS, "status 7: no such host", id="it fails"),
        pytest.param("true", PATIENCE_SECONDS, "left nothing at", id="it brings nothing"),
        pytest.param("sleep 1000 & wait", 0.2, "did not end", id="it does not end"),
    ],
)
async def test_an_installation_that_fails_leaves_nothing(
    tmp_path: Path, script: str, seconds: float, expected: str
) -> None:
    tools = Tools(tmp_path / "tools", seconds=seconds)

    with pytest.raises(InstallFailed, match=expected):
        await tools.install("helm", "3", script)

    assert list((tmp_path / "tools").iterdir()) == []


async def test_an_installation_goes_on_when_whoever_asked_for_it_has_no_more_time(tmp_path: Path) -> None:
    begun, go = tmp_path / "begun", tmp_path / "go"
    script = f"touch {begun}; while [ ! -e {go} ]; do sleep 0.02; done; touch {{{{ .OutPath }}}}"
    tools = Tools(tmp_path / "tools")
    asking = asyncio.create_task(tools.install("helm", "3", script))
    await appears(begun)

    asking.cancel()
    await asyncio.wait({asking})
    go.touch()

    assert await tools.install("helm", "3", "exit 1") == tmp_path / "tools" / "helm-3"


@pytest.mark.parametrize(
    ("name", "version", "script"),
    [
        pytest.param("../helm", "3", "true", id="a name that leaves the directory"),
        pytest.param("helm", "", "true", id="no version"),
        pytest.param("helm", "3", "{{ .Nothing }}", id="a word that there is not"),
        pytest.param("helm", "3", "{{ .Name", id="no template"),
    ],
)
async def test_what_cannot_be_meant_is_refused(tmp_path: Path, name: str, version: str, script: str) -> None:
    with pytest.raises(BadTool):
        await Tools(tmp_path).install(name, version, script)


async def test_a_disk_that_does_not_take_a_tool_is_the_reason_and_worth_another_try(tmp_path: Path) -> None:
    (tmp_path / "tools").touch()

    with pytest.raises(InstallFailed, match=r"tool kubectl-1.30.0 cannot be written to .*tools \(File exists\)"):
        await Tools(tmp_path / "tools").install("kubectl", "1.30.0", "true")
