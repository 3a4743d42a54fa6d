"""Commands and events through APIService."""

from datetime import timedelta
from pathlib import Path

import grpc
import msgspec

from fairway.model.command import Command, CommandStatus, SyncApplication
from fairway.model.event import Event, event_key
from fairway.rpc.convert.command import to_wire_command
from fairway.rpc.user_api import messages as m
from fairway.server.commands import LIFETIME
from fairway.server.hints import HintTopic
from fairway.server.store import commands, events
from tests.integration.server.user.serving import Serving, code_of, serving
from tests.unit.server.user.builders import NOW, a_preview_command, an_agent, an_application


def the_sync() -> Command:
    return Command(
        id="new-1",
        agent_id="agent-1",
        project_id="acme",
        application_id="cart",
        payload=SyncApplication(application_id="cart"),
        commander="key-1",
        created_at=NOW,
        updated_at=NOW,
    )


async def waiting(served: Serving) -> tuple[Command, ...]:
    return await served.store.read(lambda connection: commands.list_unhandled_commands(connection, "agent-1"))


async def test_a_sync_waits_for_its_agent_which_gets_a_hint(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        await served.add(an_agent(), an_application("cart"))

        answer = await client.SyncApplication(m.SyncApplicationRequest(application_id="cart"))

        assert answer.command_id == "new-1"
        assert await waiting(served) == (the_sync(),)
        assert served.hints.published == [("agent-1", HintTopic.COMMANDS)]


async def test_a_disabled_application_is_not_synced(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        await served.add(an_agent(), an_application("cart", disabled=True))

        answer = await code_of(client.SyncApplication(m.SyncApplicationRequest(application_id="cart")))

        assert answer is grpc.StatusCode.FAILED_PRECONDITION
        assert await waiting(served) == ()
        assert served.hints.published == []


async def test_a_command_is_followed_until_its_agent_has_answered(tmp_path: Path) -> None:
    answered = msgspec.structs.replace(
        the_sync(), status=CommandStatus.SUCCEEDED, metadata={"TriggeredDeploymentID": "d-1"}, handled_at=NOW
    )
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        await served.store.write(lambda connection: commands.insert_command(connection, the_sync()))
        before = await client.GetCommand(m.GetCommandRequest(command_id="new-1"))
        await served.store.write(lambda connection: commands.update_command(connection, "new-1", lambda _: answered))
        after = await client.GetCommand(m.GetCommandRequest(command_id="new-1"))

        assert [before.command, after.command] == [to_wire_command(the_sync()), to_wire_command(answered)]


async def test_a_command_that_nobody_answers_times_out_for_all(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        await served.store.write(lambda connection: commands.insert_command(connection, the_sync()))
        served.clock.advance(LIFETIME)

        shown = await client.GetCommand(m.GetCommandRequest(command_id="new-1"))

        late = NOW + LIFETIME
        timed_out = msgspec.structs.replace(
            the_sync(), status=CommandStatus.TIMED_OUT, handled_at=late, updated_at=late
        )
        assert shown.command == to_wire_command(timed_out)
        assert await waiting(served) == ()


async def test_a_command_of_another_project_is_refused(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client(await served.new_key(project_id="other")) as client:
        await served.store.write(lambda connection: commands.insert_command(connection, a_preview_command()))

        shown = await code_of(client.GetCommand(m.GetCommandRequest(command_id="command-1")))
        preview = await code_of(client.GetPlanPreviewResults(m.GetPlanPreviewResultsRequest(commands=["command-1"])))

        assert (shown, preview) == (grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.PERMISSION_DENIED)


async def test_an_event_is_stored_under_the_key_of_its_name_and_labels(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        served.clock.advance(timedelta(minutes=1))

        answer = await client.RegisterEvent(
            m.RegisterEventRequest(
                name="image", data="v2", labels={"app": "cart"}, contexts={"build-id": "7"}, commit_hash="c0ffee"
            )
        )

        later = NOW + timedelta(minutes=1)
        assert answer.event_id == "new-1"
        assert await served.store.read(lambda connection: events.load_event(connection, "new-1")) == Event(
            id="new-1",
            name="image",
            data="v2",
            project_id="acme",
            key=event_key("image", {"app": "cart"}),
            labels={"app": "cart"},
            contexts={"build-id": "7"},
            trigger_commit_hash="c0ffee",
            created_at=later,
            updated_at=later,
        )


async def test_an_event_with_an_odd_context_is_refused(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        request = m.RegisterEventRequest(name="image", data="v2", contexts={"not a trailer": "x"})

        assert await code_of(client.RegisterEvent(request)) is grpc.StatusCode.INVALID_ARGUMENT
