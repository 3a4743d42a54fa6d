"""How an agent stands, told beside its data."""

import json
import os
import signal
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from fairway.agent.status import AgentState, NoStatus, PluginState, UnderwayState, read_state
from fairway.cli.agent import commands
from tests.integration.agent.running import World, a_world, an_agent_at_work, an_application_file, until
from tests.integration.agent.test_foreign_plugins import diary, plugins, run_until
from tests.integration.git.repositories import an_origin


async def stands(world: World, stage: str) -> AgentState:
    """How the agent stands once that stage runs."""

    async def look() -> AgentState | None:
        state = read_state(world.data) if (world.data / "status.json").exists() else None
        return state if state and [each.stage for each in state.deployments] == [stage] else None

    return await until(look)


async def test_the_status_names_plugins_and_what_is_under_way(tmp_path: Path) -> None:
    file = an_application_file(run_until(tmp_path / "go"))
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world, plugins(tmp_path)):
            state = await stands(world, "FOREIGN_RUN")
            shown = CliRunner().invoke(commands, ["status", "--data", str(world.data)], env={"COLUMNS": "200"})
            (tmp_path / "go").touch()
            deployment = await world.ended()
        after = CliRunner().invoke(commands, ["status", "--data", str(world.data), "--json"])

    assert state.deployments == (
        UnderwayState(id=deployment.id, application="web", status="running", stage="FOREIGN_RUN"),
    )
    assert [(each.name, each.restarts, each.trouble) for each in state.plugins] == [("host", 0, ""), ("foreign", 0, "")]
    assert [each.head for each in state.repositories] == [deployment.trigger.commit.hash]
    rows = [line.split() for line in shown.output.splitlines()]
    assert [row[0] for row in rows if row[-1:] == ["running"]] == [
        "agent-1",
        *("customsync", "scriptrun", "wait", "waitapproval", "foreign"),
    ]
    # The agent, the process that plugins share, and the foreign one.
    assert shown.output.count(" MB") == 3
    assert json.loads(after.output)["version"] == state.version


async def test_a_plugin_that_was_started_again_is_counted(tmp_path: Path) -> None:
    file = an_application_file(run_until(tmp_path / "never"))
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world, plugins(tmp_path)):
            ((_, killed), _) = await diary(tmp_path, 2)
            os.kill(int(killed), signal.SIGKILL)
            await world.ended()

            async def counted() -> PluginState | None:
                found = read_state(world.data).plugins[1]
                return found if found.restarts == 1 and not found.trouble else None

            found = await until(counted)

    assert found.process is not None
    assert found.process.pid != int(killed)


async def test_one_that_does_not_start_is_told_of_in_whole_sentences(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho no cluster at 10.0.0.1 >&2; exit 3\n")
    listed = f"[{{name: kubernetes, url: {program}}}]"
    async with a_world(tmp_path, an_origin(tmp_path, {"README": ""})) as world, an_agent_at_work(world, listed):

        async def told() -> str | None:
            shown = CliRunner().invoke(commands, ["status", "--data", str(world.data)], env={"COLUMNS": "80"})
            return shown.output if "does not start" in shown.output else None

        shown = await until(told)

    words = " ".join(shown.split())
    assert "plugin kubernetes ended with status 3 when it was started" in words
    assert "last words: no cluster at 10.0.0.1" in words


def test_a_directory_without_an_agent_says_so(tmp_path: Path) -> None:
    with pytest.raises(NoStatus, match="no agent has run with the data in"):
        read_state(tmp_path)


def test_without_a_directory_the_agent_of_fairway_up_is_meant(tmp_path: Path) -> None:
    up = tmp_path / "fairway" / "up"
    (up / "agent").mkdir(parents=True)
    (up / "up.lock").touch()
    state = AgentState(
        id="agent-of-up",
        version="v1",
        server="",
        started_at=datetime.now(UTC),
        process=None,
        plugins=(),
        deployments=(),
        repositories=(),
        unsent=0,
    )
    (up / "agent" / "status.json").write_bytes(msgspec.json.encode(state))

    shown = CliRunner().invoke(commands, ["status"], env={"XDG_DATA_HOME": str(tmp_path)})

    assert (shown.exit_code, shown.output.splitlines()[0]) == (0, "agent-of-up  ✗ not running")
