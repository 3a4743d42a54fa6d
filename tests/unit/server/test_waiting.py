"""What deployments and commands wait for, in words."""

from datetime import datetime, timedelta
from itertools import product
from typing import Any

import msgspec
import pytest

from fairway.model.command import CommandStatus
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.stage import MINIMUM_APPROVALS, WAITS_FOR, Approval, ManualOperation, Stage, StageStatus
from fairway.server.waiting import KnownAgent, Onlooker, awaits_approval, command_waits_for, deployment_waits_for
from tests.integration.server.store.nouns import a_command
from tests.unit.model.builders import NOW, a_commit, a_deployment, a_stage, a_trigger


def looking(last_seen: datetime | None = NOW, **fields: Any) -> Onlooker:
    return Onlooker({"agent-1": KnownAgent(name="near", last_seen=last_seen, **fields)}, NOW)


def a_running_stage(operation: ManualOperation = ManualOperation.NONE, **fields: Any) -> Stage:
    return a_stage("s", status=StageStatus.RUNNING, available_operation=operation, **fields)


@pytest.mark.parametrize(
    ("status", "waits_for"),
    [
        pytest.param(DeploymentStatus.PENDING, "agent near to plan it", id="pending"),
        pytest.param(DeploymentStatus.PLANNED, "agent near to start its first stage", id="planned"),
        pytest.param(
            DeploymentStatus.RUNNING, "agent near to start the next stage, or to end the deployment", id="running"
        ),
        pytest.param(
            DeploymentStatus.ROLLING_BACK,
            "agent near to start the rollback, or to end the deployment",
            id="rolling back",
        ),
        pytest.param(DeploymentStatus.SUCCEEDED, "", id="succeeded"),
        pytest.param(DeploymentStatus.FAILED, "", id="failed"),
        pytest.param(DeploymentStatus.CANCELLED, "", id="cancelled"),
    ],
)
def test_each_status_says_whose_turn_it_is(status: DeploymentStatus, waits_for: str) -> None:
    assert deployment_waits_for(a_deployment(status=status), looking()) == waits_for


def test_a_deployment_that_cannot_be_planned_yet_says_why() -> None:
    deployment = a_deployment(shared_metadata={WAITS_FOR: "helm 3.14.2 is needed"})

    assert deployment_waits_for(deployment, looking()) == "agent near to plan it: helm 3.14.2 is needed"


def test_a_deployment_of_a_later_block_waits_for_the_block_before_it() -> None:
    deployment = a_deployment(chain_id="c-1", chain_block_index=1)

    said = deployment_waits_for(deployment, looking())

    assert said == "block 0 of chain c-1 to succeed, and agent near to plan it"


def test_a_deployment_of_a_chain_waits_for_the_block_and_for_its_turn() -> None:
    deployment = a_deployment(id="late", chain_id="c-1", chain_block_index=1)
    open = (a_deployment(id="early", status=DeploymentStatus.RUNNING), deployment)

    said = deployment_waits_for(deployment, msgspec.structs.replace(looking(), open=open))

    turn = "block 0 of chain c-1 to succeed, and deployment early, which is running, to end"
    assert said == f"{turn}, and agent near to plan it"


def made(id: str, minute: int, **fields: Any) -> Deployment:
    at = NOW + timedelta(minutes=minute)
    return a_deployment(id=id, trigger=a_trigger(commit=a_commit(created_at=at), at=at), **fields)


@pytest.mark.parametrize(
    ("others", "turn"),
    [
        pytest.param([], "", id="nobody"),
        pytest.param(
            [made("d-1", 0, status=DeploymentStatus.ROLLING_BACK)],
            "deployment d-1, which is rolling back, to end, and ",
            id="one that was begun",
        ),
        pytest.param(
            [made("d-1", 0, status=DeploymentStatus.SUCCEEDED), made("d-2", 1, status=DeploymentStatus.RUNNING)],
            "deployment d-2, which is running, to end, and ",
            id="one that has ended is nobody's turn",
        ),
        pytest.param(
            [made("d-1", 0), made("d-2", 9, status=DeploymentStatus.PLANNED, stages=(a_stage("s"),)), made("d-3", 6)],
            "2 deployments before it to end, of which d-2 is planned, and ",
            id="those with older commits, and one that was begun before",
        ),
        pytest.param([made("d-1", 6)], "", id="newer ones come later"),
        pytest.param([made("d-1", 0, application_id="other")], "", id="another application"),
        pytest.param([made("d-1", 0, agent_id="far")], "", id="another agent"),
    ],
)
def test_a_pending_deployment_names_the_ones_that_are_before_it_now(others: list[Deployment], turn: str) -> None:
    deployment = made("waiting", 5)

    said = deployment_waits_for(deployment, msgspec.structs.replace(looking(), open=(*others, deployment)))

    assert said == f"{turn}agent near to plan it"


@pytest.mark.parametrize(
    ("stage", "waits_for"),
    [
        pytest.param(a_running_stage(), "agent near to end stage 2 (WAIT)", id="a stage that runs"),
        pytest.param(
            a_running_stage(ManualOperation.SKIP, name="ANALYSIS"),
            "agent near to end stage 2 (ANALYSIS), or somebody to skip it",
            id="one that can be skipped",
        ),
        pytest.param(
            a_running_stage(metadata={WAITS_FOR: "Deployment web: 1 of 2 pods are ready"}),
            "agent near to end stage 2 (WAIT); that waits for Deployment web: 1 of 2 pods are ready",
            id="one that says what it waits for",
        ),
        pytest.param(
            a_running_stage(ManualOperation.APPROVE, name="WAIT_APPROVAL"),
            "approval of stage 2 (WAIT_APPROVAL): given by nobody, may approve: everybody with a role that allows it",
            id="approval by anybody",
        ),
        pytest.param(
            a_running_stage(
                ManualOperation.APPROVE,
                authorized_operators=("ann", "bo"),
                approvals=(Approval(by="ann", at=NOW, command_id="c"),),
            ),
            "approval of stage 2 (WAIT): given by ann (only its agent knows how many it needs), may approve: ann, bo",
            id="approval for an agent that does not say how many it needs",
        ),
        pytest.param(
            a_running_stage(
                ManualOperation.APPROVE,
                authorized_operators=("ann", "bo"),
                approvals=(Approval(by="ann", at=NOW, command_id="c"),),
                metadata={MINIMUM_APPROVALS: "2"},
            ),
            "approval of stage 2 (WAIT): 1 of 2 (ann), may approve: ann, bo",
            id="approval by some, given by one",
        ),
    ],
)
def test_a_running_deployment_names_its_stage(stage: Stage, waits_for: str) -> None:
    stages = (a_stage("done", status=StageStatus.SUCCEEDED), stage)
    deployment = a_deployment(status=DeploymentStatus.RUNNING, stages=stages)

    assert deployment_waits_for(deployment, looking()) == waits_for
    assert awaits_approval(deployment) is (stage.available_operation is ManualOperation.APPROVE)


@pytest.mark.parametrize(
    ("onlooker", "agent"),
    [
        pytest.param(looking(NOW - timedelta(minutes=2)), "agent near", id="heard lately"),
        pytest.param(looking(NOW - timedelta(minutes=3)), "agent near, last seen 3 minutes ago,", id="minutes"),
        pytest.param(looking(NOW - timedelta(minutes=119)), "agent near, last seen 119 minutes ago,", id="an hour"),
        pytest.param(looking(NOW - timedelta(hours=47)), "agent near, last seen 47 hours ago,", id="hours"),
        pytest.param(looking(NOW - timedelta(days=3)), "agent near, last seen 3 days ago,", id="days"),
        pytest.param(looking(None), "agent near, which was never seen,", id="never"),
        pytest.param(looking(disabled=True), "agent near, which is disabled,", id="disabled"),
        pytest.param(Onlooker({}, NOW), "agent agent-1, which is not there any more,", id="gone"),
    ],
)
def test_an_agent_that_cannot_act_is_said_to_be_so(onlooker: Onlooker, agent: str) -> None:
    assert command_waits_for(a_command(), onlooker) == f"{agent} to take the command"


@pytest.mark.parametrize("status", [status for status in CommandStatus if status is not CommandStatus.WAITING])
def test_an_answered_command_waits_for_nothing(status: CommandStatus) -> None:
    assert command_waits_for(a_command(status=status), looking()) == ""


def test_only_what_has_ended_waits_for_nothing() -> None:
    for status, stage in product(DeploymentStatus, StageStatus):
        deployment = a_deployment(status=status, stages=(a_stage(status=stage),))

        assert (deployment_waits_for(deployment, looking()) == "") is status.is_terminal
