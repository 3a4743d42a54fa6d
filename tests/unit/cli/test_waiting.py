"""Whether waiting for a status still has a sense, and what is said meanwhile."""

from itertools import product

import msgspec
import pytest

from fairway.cli.waiting import Wait, changes, decide_wait, in_vain, reachable
from fairway.model.deployment import DEPLOYMENT_TRANSITIONS, Deployment, DeploymentStatus
from fairway.model.stage import WAITS_FOR, ManualOperation, StageStatus
from tests.unit.model.builders import a_deployment, a_stage

S = DeploymentStatus


@pytest.mark.parametrize(
    ("found", "wanted", "decision"),
    [
        pytest.param(S.RUNNING, {S.SUCCEEDED}, Wait.GOES_ON, id="on its way"),
        pytest.param(S.SUCCEEDED, {S.SUCCEEDED}, Wait.REACHED, id="there"),
        pytest.param(S.FAILED, {S.SUCCEEDED}, Wait.IN_VAIN, id="ended otherwise"),
        pytest.param(S.ROLLING_BACK, {S.SUCCEEDED}, Wait.IN_VAIN, id="being undone"),
        pytest.param(S.ROLLING_BACK, {S.SUCCEEDED, S.FAILED}, Wait.GOES_ON, id="one of several can come"),
        pytest.param(S.RUNNING, {S.PLANNED}, Wait.IN_VAIN, id="gone by"),
        pytest.param(S.PENDING, {S.ROLLING_BACK}, Wait.GOES_ON, id="two steps away"),
        pytest.param(S.ROLLING_BACK, set(), Wait.GOES_ON, id="being undone, which is no end yet"),
        pytest.param(S.FAILED, set(), Wait.IN_VAIN, id="a bad end"),
        pytest.param(S.SUCCEEDED, set(), Wait.REACHED, id="a good end"),
    ],
)
def test_waiting_goes_on_only_while_it_can_end_well(
    found: DeploymentStatus, wanted: set[DeploymentStatus], decision: Wait
) -> None:
    assert decide_wait(found, wanted) is decision


@pytest.mark.parametrize(("found", "later"), list(product(S, S)))
def test_what_can_come_follows_from_the_table(found: DeploymentStatus, later: DeploymentStatus) -> None:
    seen: set[DeploymentStatus] = set()
    ends = [found]
    while ends:
        following = DEPLOYMENT_TRANSITIONS.rows[ends.pop()] - seen
        seen |= following
        ends += following

    assert (later in reachable(found)) == (later in seen)


def test_the_first_look_tells_everything_that_is_not_as_planned() -> None:
    found = a_deployment(
        status=S.RUNNING,
        stages=(
            a_stage("1", name="CANARY", status=StageStatus.SUCCEEDED),
            a_stage(
                "2",
                name="APPROVAL",
                status=StageStatus.RUNNING,
                available_operation=ManualOperation.APPROVE,
                authorized_operators=("ada", "bob"),
            ),
            a_stage("3", name="PRIMARY"),
        ),
    )

    assert changes(None, found) == [
        "deployment running",
        "CANARY succeeded",
        "APPROVAL waits for approval by ada, bob",
    ]


def test_a_later_look_tells_what_changed_and_the_end_last() -> None:
    before = a_deployment(status=S.RUNNING, stages=(a_stage("1", name="CANARY", status=StageStatus.RUNNING),))
    failed = a_stage("1", name="CANARY", status=StageStatus.FAILED, status_reason="exit code 1")
    after = msgspec.structs.replace(before, status=S.FAILED, status_reason="CANARY failed", stages=(failed,))

    assert changes(before, after) == ["CANARY failed: exit code 1", "deployment failed: CANARY failed"]
    assert changes(after, after) == []


def test_a_stage_that_says_only_that_it_runs_says_so_once() -> None:
    running = a_stage("1", name="CANARY", status=StageStatus.RUNNING, status_reason="CANARY is running")

    assert changes(a_deployment(status=S.RUNNING), a_deployment(status=S.RUNNING, stages=(running,))) == [
        "CANARY is running"
    ]


def test_what_a_running_stage_waits_for_is_told_when_it_changes() -> None:
    def at(waits_for: str) -> Deployment:
        stage = a_stage("1", name="CANARY", status=StageStatus.RUNNING, metadata={WAITS_FOR: waits_for})
        return a_deployment(status=S.RUNNING, stages=(stage,))

    assert changes(None, at("pod 1")) == ["deployment running", "CANARY waits for pod 1"]
    assert changes(at("pod 1"), at("pod 2")) == ["CANARY waits for pod 2"]
    assert changes(at("pod 2"), at("")) == changes(at("pod 2"), at("pod 2")) == []
    assert changes(at("pod 1"), at("pod 2"), with_waits=False) == []


def test_waiting_in_vain_says_why() -> None:
    found = a_deployment(status=S.ROLLING_BACK, status_reason="a stage failed")

    assert in_vain(found, {S.SUCCEEDED}) == (
        "deployment d-1 is rolling back and cannot become succeeded: a stage failed"
    )


def test_an_end_that_is_not_success_says_which_and_why() -> None:
    found = a_deployment(status=S.CANCELLED, status_reason="Cancelled by ada")

    assert in_vain(found, ()) == "deployment d-1 cancelled: Cancelled by ada"
