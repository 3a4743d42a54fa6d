"""A stage that waits for people succeeds only with their yes, in whichever report an agent says that it did."""

from typing import Any

import pytest

from fairway.model.deployment import Deployment
from fairway.model.deployment import DeploymentStatus as D
from fairway.model.stage import (
    APPROVE_ON_TIMEOUT,
    APPROVED_BY_TIMEOUT,
    MINIMUM_APPROVALS,
    Approval,
    ManualOperation,
    Stage,
)
from fairway.model.stage import StageStatus as S
from fairway.server.agent_service.reports import (
    Completion,
    StageReport,
    completed,
    stage_changed,
    stage_noted,
    status_changed,
)
from fairway.server.status_codes import NotNow
from tests.unit.model.builders import LATER, NOW, a_deployment, a_stage

TIMED_OUT = {APPROVE_ON_TIMEOUT: "true", APPROVED_BY_TIMEOUT: "true"}


def approved_by(*names: str) -> tuple[Approval, ...]:
    return tuple(Approval(by=name, at=NOW, command_id=f"c-{name}") for name in names)


def a_waiting_stage(**fields: Any) -> Stage:
    known: dict[str, Any] = {"status": S.RUNNING, "available_operation": ManualOperation.APPROVE}
    return a_stage("ask", **{**known, **fields})


def running(*stages: Stage) -> Deployment:
    return a_deployment(status=D.RUNNING, stages=stages)


def ended(status: D, stage_status: S = S.SUCCEEDED) -> Completion:
    return Completion(status=status, reason="", completed_at=LATER, stage_statuses={"ask": stage_status})


ENOUGH = [
    pytest.param(a_waiting_stage(approvals=approved_by("ada")), id="one of one"),
    pytest.param(
        a_waiting_stage(metadata={MINIMUM_APPROVALS: "2"}, approvals=approved_by("ada", "bob")), id="two of two"
    ),
    pytest.param(a_waiting_stage(metadata=TIMED_OUT), id="planned to go on after a while, and it did"),
    pytest.param(a_stage("ask", status=S.RUNNING), id="a stage that asks nobody"),
]
TOO_FEW = [
    pytest.param(a_waiting_stage(), id="nobody"),
    pytest.param(a_waiting_stage(metadata={MINIMUM_APPROVALS: "2"}, approvals=approved_by("ada")), id="one of two"),
    pytest.param(
        a_waiting_stage(metadata={MINIMUM_APPROVALS: "2"}, approvals=approved_by("ada", "ada")), id="one, twice"
    ),
    pytest.param(a_waiting_stage(metadata={MINIMUM_APPROVALS: "0"}), id="none of none: one is the least"),
    pytest.param(a_waiting_stage(metadata={MINIMUM_APPROVALS: "many"}), id="a number that is none"),
    pytest.param(a_waiting_stage(metadata={APPROVED_BY_TIMEOUT: "true"}), id="a time-out that was not planned"),
    pytest.param(a_waiting_stage(metadata={APPROVE_ON_TIMEOUT: "true"}), id="a time-out that did not come"),
]


@pytest.mark.parametrize("stage", ENOUGH)
@pytest.mark.parametrize("status", [S.SUCCEEDED, S.EXITED])
def test_a_stage_that_enough_people_approved_may_succeed(stage: Stage, status: S) -> None:
    changed = stage_changed(running(stage), StageReport(stage_id="ask", status=status), LATER)

    assert changed.stages[0].status is status


@pytest.mark.parametrize("stage", TOO_FEW)
@pytest.mark.parametrize("status", [S.SUCCEEDED, S.EXITED])
def test_a_stage_that_too_few_approved_cannot_succeed(stage: Stage, status: S) -> None:
    with pytest.raises(NotNow, match="report it again when enough people have approved it"):
        stage_changed(running(stage), StageReport(stage_id="ask", status=status), LATER)


@pytest.mark.parametrize("status", [S.FAILED, S.CANCELLED, S.SKIPPED])
def test_a_stage_that_nobody_approved_may_end_otherwise(status: S) -> None:
    changed = stage_changed(running(a_waiting_stage()), StageReport(stage_id="ask", status=status), LATER)

    assert changed.stages[0].status is status


def test_a_repeated_success_is_not_asked_for_approvals_again() -> None:
    deployment = running(a_waiting_stage(status=S.SUCCEEDED))

    assert stage_changed(deployment, StageReport(stage_id="ask", status=S.SUCCEEDED), LATER) is deployment


@pytest.mark.parametrize("stage", TOO_FEW)
def test_a_deployment_cannot_succeed_around_a_stage_that_waits(stage: Stage) -> None:
    with pytest.raises(NotNow):
        completed(running(stage), ended(D.SUCCEEDED), LATER)
    with pytest.raises(NotNow):
        status_changed(running(stage), D.SUCCEEDED, "", LATER)


@pytest.mark.parametrize("stage", ENOUGH)
def test_a_deployment_whose_stage_was_approved_may_succeed(stage: Stage) -> None:
    done = completed(running(stage), ended(D.SUCCEEDED), LATER)

    assert (done.status, done.stages[0].status) == (D.SUCCEEDED, S.SUCCEEDED)


def test_a_deployment_may_succeed_when_the_stage_was_skipped() -> None:
    done = completed(running(a_waiting_stage()), ended(D.SUCCEEDED, S.SKIPPED), LATER)

    assert (done.status, done.stages[0].status) == (D.SUCCEEDED, S.SKIPPED)


def test_a_deployment_that_failed_ends_but_its_stage_did_not_succeed_unapproved() -> None:
    done = completed(running(a_waiting_stage()), ended(D.FAILED), LATER)

    assert (done.status, done.stages[0].status) == (D.FAILED, S.CANCELLED)


@pytest.mark.parametrize("key", [MINIMUM_APPROVALS, APPROVE_ON_TIMEOUT])
def test_what_a_stage_needs_cannot_be_lowered_once_it_is_planned(key: str) -> None:
    deployment = running(a_waiting_stage(metadata={MINIMUM_APPROVALS: "2"}))

    with pytest.raises(NotNow, match="can change no more"):
        stage_noted(deployment, "ask", {key: "true"}, LATER)


def test_repeating_what_was_planned_is_harmless() -> None:
    deployment = running(a_waiting_stage(metadata={MINIMUM_APPROVALS: "2"}))

    assert stage_noted(deployment, "ask", {MINIMUM_APPROVALS: "2"}, LATER) is deployment
