"""Plan previews through APIService, from the request to the answer."""

from datetime import timedelta
from pathlib import Path

import grpc
import msgspec
from sqlalchemy import Connection

from fairway.model.agent import AgentProfile
from fairway.model.application import Repository
from fairway.model.command import BuildPlanPreview, CommandStatus, SyncApplication
from fairway.model.plan_preview import ApplicationPlanPreview, PlanPreview
from fairway.rpc.convert.plan_preview import to_command_output, to_wire_plan_preview
from fairway.rpc.user_api import messages as m
from fairway.server.hints import HintTopic
from fairway.server.store import agents, commands
from tests.integration.server.user.serving import Serving, code_of, serving
from tests.unit.server.user.builders import NOW, a_preview_command, an_agent

ASKED = m.RequestPlanPreviewRequest(
    repo_remote_url="https://github.com/acme/shop.git",
    head_branch="topic",
    head_commit="c0ffee",
    base_branch="main",
    timeout=60,
)


def the_answer() -> PlanPreview:
    cart = ApplicationPlanPreview(
        application_id="cart",
        application_name="cart",
        application_directory="apps/cart",
        agent_id="agent-1",
        project_id="acme",
        head_branch="topic",
        head_commit="c0ffee",
        created_at=NOW,
        summary=b"1 changed",
        plugin_names=("kubernetes",),
    )
    return PlanPreview(command_id="new-1", agent_id="agent-1", agent_name="dev", applications=(cart,))


async def answer(served: Serving, command_id: str, output: bytes) -> None:
    """What the server stores when the agent has handled the command."""

    def handled(connection: Connection) -> None:
        commands.store_command_output(connection, command_id, output)
        commands.update_command(
            connection,
            command_id,
            lambda found: msgspec.structs.replace(found, status=CommandStatus.SUCCEEDED, handled_at=NOW),
        )

    await served.store.write(handled)


async def test_every_agent_that_follows_the_branch_is_asked(tmp_path: Path) -> None:
    elsewhere = AgentProfile(repositories=(Repository(id="shop", remote="git@gitlab.com:acme/shop", branch="main"),))
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        await served.add(an_agent(), an_agent("agent-2", profile=elsewhere), an_agent("agent-3", disabled=True))
        await served.add(an_agent("agent-4", project_id="other"), an_agent("agent-5"))

        requested = await client.RequestPlanPreview(ASKED)

        assert list(requested.commands) == ["new-1", "new-2"]
        preview = BuildPlanPreview(
            repository_id="shop",
            head_branch="topic",
            head_commit="c0ffee",
            base_branch="main",
            timeout=timedelta(minutes=1),
        )
        stored = await served.store.read(lambda connection: commands.load_command(connection, "new-2"))
        assert stored == a_preview_command(id="new-2", agent_id="agent-5", payload=preview, commander="pipectl")
        assert served.hints.published == [("agent-1", HintTopic.COMMANDS), ("agent-5", HintTopic.COMMANDS)]


async def test_nobody_to_ask_is_no_error(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        assert await client.RequestPlanPreview(ASKED) == m.RequestPlanPreviewResponse()


async def test_an_address_that_git_must_never_see_is_refused(tmp_path: Path) -> None:
    hostile = m.RequestPlanPreviewRequest()
    hostile.CopyFrom(ASKED)
    hostile.repo_remote_url = "--upload-pack=touch /tmp/x"
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        assert await code_of(client.RequestPlanPreview(hostile)) is grpc.StatusCode.INVALID_ARGUMENT


async def test_previews_are_not_found_until_all_agents_have_answered(tmp_path: Path) -> None:
    async with serving(tmp_path, web_url="https://fairway.acme.dev") as served:
        await served.add(an_agent(), an_agent("agent-2"))
        await served.store.write(lambda connection: agents.touch_agent(connection, "agent-1", NOW))
        await served.store.write(lambda connection: agents.touch_agent(connection, "agent-2", NOW))
        async with served.client(await served.new_key()) as client:
            requested = await client.RequestPlanPreview(ASKED)
            results = m.GetPlanPreviewResultsRequest(commands=requested.commands, command_handle_timeout=300)
            codes = [await code_of(client.GetPlanPreviewResults(results))]
            for command_id in requested.commands:
                await answer(served, command_id, to_command_output(the_answer()))
                codes.append(await code_of(client.GetPlanPreviewResults(results)))

            found = await client.GetPlanPreviewResults(results)

        assert codes == [grpc.StatusCode.NOT_FOUND, grpc.StatusCode.NOT_FOUND, grpc.StatusCode.OK]
        first = to_wire_plan_preview(the_answer())
        first.piped_url = "https://fairway.acme.dev/settings/piped"
        first.results[0].application_url = "https://fairway.acme.dev/applications/cart"
        assert found.results[0] == first
        assert [(result.command_id, result.piped_id) for result in found.results[1:]] == [("new-2", "agent-2")]


async def test_an_agent_that_is_not_there_does_not_keep_the_caller_waiting(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        await served.add(an_agent())
        requested = await client.RequestPlanPreview(ASKED)

        found = await client.GetPlanPreviewResults(m.GetPlanPreviewResultsRequest(commands=requested.commands))

        (result,) = found.results
        assert (result.piped_id, result.piped_name, len(result.results)) == ("agent-1", "dev", 0)
        assert "not connected" in result.error


async def test_a_limit_below_zero_is_refused(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        request = m.GetPlanPreviewResultsRequest(command_handle_timeout=-1)

        assert await code_of(client.GetPlanPreviewResults(request)) is grpc.StatusCode.INVALID_ARGUMENT


async def test_a_command_of_another_sort_has_no_preview(tmp_path: Path) -> None:
    sync = a_preview_command(payload=SyncApplication(application_id="cart"))
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        await served.add(an_agent())
        await served.store.write(lambda connection: commands.insert_command(connection, sync))

        asked = client.GetPlanPreviewResults(m.GetPlanPreviewResultsRequest(commands=["command-1"]))

        assert await code_of(asked) is grpc.StatusCode.INVALID_ARGUMENT
