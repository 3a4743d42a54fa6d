"""Cancelling deployments and skipping stages."""

import asyncio

import msgspec
import pytest

from fairway.model.command import CancelDeployment, SkipStage
from fairway.model.deployment import DeploymentStatus
from fairway.server.actions.deployments import Rollback, approve_stage, cancel_deployment, skip_stage
from fairway.server.commands import LIFETIME
from fairway.server.status_codes import NotNow
from fairway.server.store import deployments
from tests.integration.server.actions.acting import Acting, a_running_deployment, an_admin


@pytest.mark.parametrize(
    ("rollback", "force", "force_not"),
    [
        pytest.param(Rollback.DEFAULT, False, False, id="as the file says"),
        pytest.param(Rollback.ALWAYS, True, False, id="undo in any case"),
        pytest.param(Rollback.NEVER, False, True, id="undo in no case"),
    ],
)
async def test_a_cancel_says_whether_to_undo(parts: Acting, rollback: Rollback, force: bool, force_not: bool) -> None:
    command = await cancel_deployment(parts.desk, an_admin(), "d-1", rollback)

    wanted = CancelDeployment(deployment_id="d-1", force_rollback=force, force_no_rollback=force_not)
    assert command.payload == wanted


@pytest.mark.parametrize("status", [status for status in DeploymentStatus if status.is_terminal])
async def test_what_has_ended_cannot_be_cancelled(parts: Acting, status: DeploymentStatus) -> None:
    await parts.add(deployments.insert_deployment, a_running_deployment("d-2", status=status))

    with pytest.raises(NotNow, match=f"cannot be cancelled: it is {status.value} already"):
        await cancel_deployment(parts.desk, an_admin(), "d-2")

    assert await parts.audited() == ()


async def test_the_same_cancel_asked_for_by_many_is_one(parts: Acting) -> None:
    people = [an_admin(name=f"person-{number}") for number in range(4)]

    made = await asyncio.gather(*(cancel_deployment(parts.desk, person, "d-1") for person in people))

    assert (len({command.id for command in made}), len(await parts.audited())) == (1, 1)


async def test_another_cancel_is_another_command(parts: Acting) -> None:
    first = await cancel_deployment(parts.desk, an_admin(), "d-1")

    other = await cancel_deployment(parts.desk, an_admin(), "d-1", Rollback.NEVER)

    assert first.id != other.id


async def test_a_cancel_that_nobody_answered_in_time_is_asked_for_anew(parts: Acting) -> None:
    first = await cancel_deployment(parts.desk, an_admin(), "d-1")
    parts.clock.advance(LIFETIME)

    assert (await cancel_deployment(parts.desk, an_admin(), "d-1")).id != first.id


async def test_a_skip_asked_for_twice_is_one(parts: Acting) -> None:
    first = await skip_stage(parts.desk, an_admin(), "d-1", "look")

    assert first.payload == SkipStage(deployment_id="d-1", stage_id="look")
    assert await skip_stage(parts.desk, an_admin(name="bob"), "d-1", "look") == first


@pytest.mark.parametrize("stage_id", ["look", "next"])
async def test_a_stage_that_does_not_ask_cannot_be_approved(parts: Acting, stage_id: str) -> None:
    before = await parts.store.read(lambda connection: deployments.load_deployment(connection, "d-1"))

    with pytest.raises(NotNow):
        await approve_stage(parts.desk, an_admin(), "d-1", stage_id)

    after = await parts.store.read(lambda connection: deployments.load_deployment(connection, "d-1"))
    assert msgspec.structs.asdict(after) == msgspec.structs.asdict(before)
