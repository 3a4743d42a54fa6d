"""Which helm or kustomize is run, and what becomes of a run that goes wrong."""

import asyncio
from pathlib import Path

import pytest

from fairway.agent.plugins.tools import Tools as AgentTools
from fairway.errors import FairwayError, TemporaryError, UserError
from fairway.plugins.kubernetes.manifests import command
from fairway.plugins.kubernetes.manifests.command import Command, ToolFailed, ToolTroubled, run_tool
from fairway.plugins.kubernetes.manifests.tools import _SOURCES, NoTool, NoToolYet, Tool, Tools
from tests.integration.agent.running import until


class Installer:
    """An agent's tools directory."""

    def __init__(self, folder: Path, error: FairwayError | None = None) -> None:
        self.folder = folder
        self.error = error
        self.asked: list[tuple[str, str]] = []

    async def __call__(self, name: str, version: str, script: str) -> Path:
        self.asked.append((name, version))
        if self.error is not None:
            raise self.error
        return a_program(self.folder, f"{name}-{version}", "exit 0")


def a_program(folder: Path, name: str, script: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def has_ended(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@pytest.fixture
def on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "path"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return folder


@pytest.mark.parametrize(
    ("name", "said"),
    [
        pytest.param("helm", "v3.14.2+gc309b6f", id="helm"),
        pytest.param("kustomize", "{Version:kustomize/v3.14.2 GitCommit:x}", id="an old kustomize"),
        pytest.param("kustomize", "v3.14.2", id="kustomize"),
    ],
)
async def test_what_the_path_has_is_taken_when_its_version_fits(
    name: str, said: str, on_path: Path, tmp_path: Path
) -> None:
    path = a_program(on_path, name, f"echo '{said}'")
    tools = Tools(Installer(tmp_path / "tools"))

    found = [await tools.find(name, version) for version in ("", "3.14.2", "v3.14.2")]

    assert found == [Tool(name, path, "3.14.2")] * 3


async def test_another_version_is_installed_by_the_agent(on_path: Path, tmp_path: Path) -> None:
    a_program(on_path, "helm", "echo v3.14.2")
    install = Installer(tmp_path / "tools")
    tools = Tools(install)

    found = [await tools.find("helm", "3.8.0"), await tools.find("helm", "v3.8.0")]

    assert found == [Tool("helm", tmp_path / "tools/helm-3.8.0", "3.8.0")] * 2
    assert install.asked == [("helm", "3.8.0")]


async def test_without_one_on_the_path_a_version_of_our_choice_is_installed(on_path: Path, tmp_path: Path) -> None:
    install = Installer(tmp_path / "tools")

    await Tools(install).find("kustomize", "")

    assert install.asked == [("kustomize", _SOURCES["kustomize"].default)]


async def test_a_tool_on_the_path_that_changed_is_asked_again(on_path: Path, tmp_path: Path) -> None:
    tools = Tools(Installer(tmp_path / "tools"))
    a_program(on_path, "helm", "echo v3.14.2")
    await tools.find("helm", "")
    path = a_program(on_path, "helm.new", "echo v3.15.0").rename(on_path / "helm")

    assert await tools.find("helm", "") == Tool("helm", path, "3.15.0")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        pytest.param(UserError("no curl"), NoTool, id="for good"),
        pytest.param(TemporaryError("no net"), NoToolYet, id="now"),
    ],
)
async def test_a_tool_that_cannot_be_had_is_told_with_all_that_was_tried(
    error: FairwayError, kind: type[FairwayError], on_path: Path, tmp_path: Path
) -> None:
    path = a_program(on_path, "helm", "echo v3.14.2")

    with pytest.raises(kind) as refused:
        await Tools(Installer(tmp_path / "tools", error)).find("helm", "3.8.0")

    assert str(refused.value) == (
        "helm 3.8.0 is needed (input.helmVersion asks for it), but the PATH has 3.14.2 at "
        f"{path}, and the agent could not install it: {error}"
    )


async def test_a_tool_that_is_still_being_installed_is_told_before_anybody_loses_patience(
    on_path: Path, tmp_path: Path
) -> None:
    async def install(_name: str, _version: str, _script: str) -> Path:
        await asyncio.Event().wait()
        return tmp_path

    with pytest.raises(NoToolYet) as refused:
        await Tools(install, seconds=0.01).find("helm", "")

    assert str(refused.value) == (
        f"helm {_SOURCES['helm'].default} is needed (input.helmVersion pins none), but the PATH has none, "
        "and the agent is still installing it"
    )


@pytest.mark.parametrize("version", ["latest", "3", "3.1", "../../x", "3.1.2; rm"])
async def test_a_version_that_is_none_is_refused(version: str, on_path: Path, tmp_path: Path) -> None:
    with pytest.raises(NoTool, match="expected a version such as"):
        await Tools(Installer(tmp_path / "tools")).find("helm", version)


async def test_the_scripts_bring_the_tool_from_a_checked_archive(on_path: Path, tmp_path: Path) -> None:
    """The agent runs the script that it runs for users, but what it downloads comes from here."""
    a_program(on_path, "curl", _FAKE_CURL.format(sums="$(sha256sum $archive | cut -d' ' -f1)"))

    path = await AgentTools(tmp_path / "tools").install("helm", "3.8.2", _SOURCES["helm"].script)

    assert path.read_text() == "a helm\n"


async def test_an_archive_that_does_not_fit_its_checksum_is_not_installed(on_path: Path, tmp_path: Path) -> None:
    """Defect 31 of PipeCD: whatever came was run."""
    a_program(on_path, "curl", _FAKE_CURL.format(sums="0" * 64))

    with pytest.raises(FairwayError, match="FAILED"):
        await AgentTools(tmp_path / "tools").install("helm", "3.8.2", _SOURCES["helm"].script)


_FAKE_CURL = """\
while [ $# -gt 1 ]; do if [ "$1" = -o ]; then out=$2; fi; shift; done
case "$1" in
*.sha256sum) name=$(basename "$1" .sha256sum); archive=$name; echo "{sums}  $name" > "$out" ;;
*) name=$(basename "$1" .tar.gz); inner=${{name#helm-v*-}}; mkdir -p "made/$inner"
   echo "a helm" > "made/$inner/helm"; tar -czf "$out" -C made "$inner" ;;
esac
"""


async def test_a_tool_sees_nothing_of_the_agents_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIPED_KEY", "secret")
    monkeypatch.setenv("KUBECONFIG", "/somewhere")

    seen = await run_tool(Command(name="env", arguments=("env",), directory=tmp_path, environment={"MINE": "1"}))

    names = {line.partition("=")[0] for line in seen.decode().splitlines()}
    assert "MINE" in names
    assert not names & {"PIPED_KEY", "KUBECONFIG"}


async def test_what_a_tool_says_is_told_without_secrets(tmp_path: Path) -> None:
    script = ("sh", "-c", "echo 'Error: http://ann:s3cret@host refused' >&2; exit 3")

    with pytest.raises(ToolFailed) as error:
        await run_tool(Command(name="it", arguments=script, directory=tmp_path, secrets=("s3cret",)))

    assert str(error.value) == "it failed: Error: http://ann:***@host refused"


async def test_a_network_that_is_away_is_passing_trouble(tmp_path: Path) -> None:
    script = ("sh", "-c", "echo 'dial tcp: connect: connection refused' >&2; exit 1")

    with pytest.raises(ToolTroubled):
        await run_tool(Command(name="it", arguments=script, directory=tmp_path))


async def test_a_tool_that_somebody_killed_is_passing_trouble(tmp_path: Path) -> None:
    """As a machine does that is short of memory, or about to be stopped; it says nothing of the manifests."""
    script = ("sh", "-c", "kill -KILL $$")

    with pytest.raises(ToolTroubled, match="it was ended by SIGKILL"):
        await run_tool(Command(name="it", arguments=script, directory=tmp_path))


async def test_a_flood_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "MOST_OUTPUT", 1 << 20)
    script = ("sh", "-c", "head -c 3000000 /dev/zero")

    with pytest.raises(ToolFailed, match="it wrote more than 1 MiB"):
        await run_tool(Command(name="it", arguments=script, directory=tmp_path))


async def test_a_run_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    with pytest.raises(ToolTroubled, match=r"it did not end within 0\.1 s"):
        await run_tool(Command(name="it", arguments=("sleep", "600"), directory=tmp_path, seconds=0.1))


async def test_a_run_that_nobody_waits_for_is_ended_with_its_children(tmp_path: Path) -> None:
    script = ("sh", "-c", "sleep 600 & echo $! > child; wait")
    running = asyncio.create_task(run_tool(Command(name="it", arguments=script, directory=tmp_path, seconds=600)))

    async def begun() -> int | None:
        return int(text) if (tmp_path / "child").exists() and (text := (tmp_path / "child").read_text()) else None

    child = await until(begun)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    async def gone() -> bool:
        return has_ended(child)

    assert await until(gone)
