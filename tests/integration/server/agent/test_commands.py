from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec

from fairway.model.command import Command, CommandStatus, SyncApplication
from fairway.rpc.agent_api import messages as m
from fairway.rpc.convert.command import to_wire_command
from fairway.server.store import commands
from tests.integration.server.agent.serving import Serving, serving
from tests.unit.model.builders import NOW

COMMAND = Command(
    id="c-1",
    agent_id="agent-1",
    project_id="shop",
    payload=SyncApplication(application_id="a-1"),
    application_id="a-1",
    commander="ada",
    created_at=NOW,
    updated_at=NOW,
)


def handled(status: str, **fields: Any) -> Any:
    seconds = int(NOW.timestamp())
    return m.ReportCommandHandledRequest(command_id="c-1", status=status, handled_at=seconds, **fields)


async def add(server: Serving) -> None:
    await server.add_agent()
    await server.store.write(lambda connection: commands.insert_command(connection, COMMAND))


async def waiting(server: Serving) -> list[Any]:
    return list((await server.agent().call("ListUnhandledCommands", m.ListUnhandledCommandsRequest())).commands)


async def test_a_command_is_handed_out_each_time_until_it_is_answered(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        await add(server)

        before = [await waiting(server), await waiting(server)]
        request = handled("COMMAND_SUCCEEDED", metadata={"TriggeredDeploymentID": "d-1"}, output=b"{}")
        await server.agent().call("ReportCommandHandled", request)

        assert (before, await waiting(server)) == ([[to_wire_command(COMMAND)]] * 2, [])
        assert await server.load(commands.load_command, "c-1") == msgspec.structs.replace(
            COMMAND,
            status=CommandStatus.SUCCEEDED,
            metadata={"TriggeredDeploymentID": "d-1"},
            handled_at=NOW,
        )
        assert await server.load(commands.load_command_output, "c-1") == b"{}"


async def test_the_first_answer_to_a_command_stays(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        await add(server)
        await server.agent().call("ReportCommandHandled", handled("COMMAND_SUCCEEDED", output=b"first"))
        first = await server.load(commands.load_command, "c-1")

        await server.agent().call("ReportCommandHandled", handled("COMMAND_FAILED", output=b"second"))

        assert await server.load(commands.load_command, "c-1") == first
        assert await server.load(commands.load_command_output, "c-1") == b"first"


async def test_waiting_is_no_answer(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        await add(server)

        answer = await server.agent().refused("ReportCommandHandled", handled("COMMAND_NOT_HANDLED_YET"))

        assert (answer, await server.load(commands.load_command, "c-1")) == ("INVALID_ARGUMENT", COMMAND)


async def test_a_command_that_grew_too_old_is_not_handed_out_any_more(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        await add(server)

        server.clock.advance(timedelta(hours=24))

        assert await waiting(server) == []
