"""Approvals as the server keeps them: one for each person, each a command for the agent."""

import asyncio
from datetime import timedelta

from fairway.model.command import ApproveStage
from fairway.model.stage import Approval
from fairway.server.actions.deployments import approve_stage
from fairway.server.commands import LIFETIME
from fairway.server.hints import HintTopic
from fairway.server.store import commands
from fairway.server.store.deployments import load_deployment
from tests.integration.server.actions.acting import Acting, an_admin
from tests.unit.server.user.builders import NOW


async def approvals(parts: Acting) -> tuple[Approval, ...]:
    found = await parts.store.read(lambda connection: load_deployment(connection, "d-1"))
    return found.stages[0].approvals


async def waiting(parts: Acting) -> tuple[str, ...]:
    """The commanders of what waits for the agent."""
    found = await parts.store.read(lambda connection: commands.list_unhandled_commands(connection, "agent-1"))
    return tuple(command.commander for command in found)


async def test_an_approval_is_kept_and_told_to_the_agent(parts: Acting) -> None:
    command = await approve_stage(parts.desk, an_admin(), "d-1", "ask")

    assert command.payload == ApproveStage(deployment_id="d-1", stage_id="ask")
    assert (command.application_id, command.deployment_id, command.stage_id) == ("cart", "d-1", "ask")
    assert await approvals(parts) == (Approval(by="ada", at=NOW, command_id=command.id),)
    assert parts.hints.published == [("agent-1", HintTopic.COMMANDS)]


async def test_whoever_approves_twice_counts_once_and_is_recorded_once(parts: Acting) -> None:
    first = await approve_stage(parts.desk, an_admin(), "d-1", "ask")
    parts.clock.advance(timedelta(minutes=1))

    again = await approve_stage(parts.desk, an_admin(), "d-1", "ask")

    assert (again, await waiting(parts), len(await parts.audited())) == (first, ("ada",), 1)


async def test_two_who_approve_at_once_both_count(parts: Acting) -> None:
    people = [an_admin(name=f"person-{number}") for number in range(4)]

    made = await asyncio.gather(*(approve_stage(parts.desk, person, "d-1", "ask") for person in people))

    kept = await approvals(parts)
    assert {approval.by: approval.command_id for approval in kept} == {each.commander: each.id for each in made}
    assert sorted(await waiting(parts)) == [person.name for person in people]


async def test_one_who_approves_many_times_at_once_counts_once(parts: Acting) -> None:
    made = await asyncio.gather(*(approve_stage(parts.desk, an_admin(), "d-1", "ask") for _ in range(6)))

    assert len({command.id for command in made}) == 1
    assert ([approval.by for approval in await approvals(parts)], await waiting(parts)) == (["ada"], ("ada",))


async def test_an_approval_that_the_agent_never_heard_of_is_told_anew(parts: Acting) -> None:
    first = await approve_stage(parts.desk, an_admin(), "d-1", "ask")
    parts.clock.advance(LIFETIME)

    again = await approve_stage(parts.desk, an_admin(), "d-1", "ask")

    assert again.id != first.id
    assert await approvals(parts) == (Approval(by="ada", at=NOW, command_id=again.id),)
