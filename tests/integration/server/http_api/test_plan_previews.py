"""Plan previews over HTTP, from the question to each agent's answer."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec

from fairway.model.agent import AgentProfile
from fairway.model.api_key import APIKeyRole
from fairway.model.application import Repository
from fairway.model.command import CommandStatus
from fairway.model.plan_preview import ApplicationPlanPreview, PlanPreview, PluginPlanPreview
from fairway.model.trigger import SyncStrategy
from fairway.rpc.convert.plan_preview import to_command_output
from fairway.server.store import agents, commands
from tests.integration.server.http_api.serving import Serving, serving
from tests.integration.server.store.nouns import an_agent
from tests.unit.model.builders import NOW

REPOSITORY = Repository(id="shop", remote="git@git.example.com:acme/shop.git", branch="main")
ASKED = {
    "repository": "https://git.example.com/acme/shop",
    "head_branch": "topic",
    "head_commit": "c0ffee",
    "base_branch": "main",
}


async def answer(served: Serving, output: bytes) -> None:
    """What the server stores when the agent has handled the command."""
    await served.store.write(lambda connection: commands.store_command_output(connection, "new-1", output))
    await served.store.write(
        lambda connection: commands.update_command(
            connection,
            "new-1",
            lambda found: msgspec.structs.replace(found, status=CommandStatus.SUCCEEDED, handled_at=NOW),
        )
    )


def an_output() -> bytes:
    change = PluginPlanPreview(plugin_name="kubernetes", deploy_target="prod", summary=b"1 changed", details=b"+x")
    cart = ApplicationPlanPreview(
        application_id="a-1",
        application_name="cart",
        application_directory="apps/cart",
        agent_id="agent-1",
        project_id="shop",
        head_branch="topic",
        head_commit="c0ffee",
        created_at=NOW,
        sync_strategy=SyncStrategy.PIPELINE,
        summary=b"the plan",
        plugins=(change,),
        plugin_names=("kubernetes",),
    )
    return to_command_output(PlanPreview(command_id="new-1", agent_id="agent-1", applications=(cart,)))


async def asked(served: Serving, **otherwise: str) -> Any:
    await served.add(an_agent(profile=AgentProfile(repositories=(REPOSITORY,))))
    await served.store.write(lambda connection: agents.touch_agent(connection, "agent-1", NOW))
    return (await served.ask("POST", "/api/v1/plan-previews", json={**ASKED, **otherwise})).json()


async def test_a_repository_is_known_by_the_id_that_agents_give_it(tmp_path: Path) -> None:
    async with serving(tmp_path, APIKeyRole.READ_WRITE) as served:
        found = (await asked(served, repository="shop"))["items"]
        unknown = (await served.ask("POST", "/api/v1/plan-previews", json={**ASKED, "repository": "other"})).json()

    assert ([each["id"] for each in found], unknown["items"]) == (["new-1"], [])


async def test_each_agent_that_follows_the_branch_is_asked_and_its_answer_read(tmp_path: Path) -> None:
    async with serving(tmp_path, APIKeyRole.READ_WRITE) as served:
        (first,) = (await asked(served))["items"]
        waiting = (await served.get("/api/v1/plan-previews/new-1")).json()
        await answer(served, an_output())
        found = (await served.get("/api/v1/plan-previews/new-1")).json()

    assert first == waiting
    assert (waiting["id"], waiting["ready"], waiting["applications"], waiting["error"]) == ("new-1", False, [], "")
    assert found["ready"]
    (cart,) = found["applications"]
    assert cart["targets"] == [
        {"plugin": "kubernetes", "deploy_target": "prod", "summary": "1 changed", "details": "+x", "language": "diff"}
    ]
    assert (cart["application_name"], cart["sync_strategy"], cart["summary"]) == ("cart", "pipeline", "the plan")


async def test_an_agent_that_takes_too_long_is_answered_for(tmp_path: Path) -> None:
    async with serving(tmp_path, APIKeyRole.READ_WRITE) as served:
        await asked(served)
        served.clock.advance(timedelta(minutes=6))
        await served.store.write(lambda connection: agents.touch_agent(connection, "agent-1", served.clock.now()))

        found = (await served.get("/api/v1/plan-previews/new-1")).json()

    assert (found["ready"], found["applications"]) == (True, [])
    assert "did not answer within 300 seconds" in found["error"]


async def test_nobody_is_asked_where_nobody_follows(tmp_path: Path) -> None:
    async with serving(tmp_path, APIKeyRole.READ_WRITE) as served:
        found = await served.ask("POST", "/api/v1/plan-previews", json=ASKED)

    assert found.json() == {"items": []}
