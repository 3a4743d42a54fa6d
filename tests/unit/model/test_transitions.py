"""The two tables, over every pair of statuses, and what no sequence of reports can do."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.model.deployment import DEPLOYMENT_TRANSITIONS, DeploymentStatus
from fairway.model.stage import NEVER_STARTED, STAGE_TRANSITIONS, StageStatus
from fairway.model.transitions import InvalidTransition
from tests.unit.model.builders import LATER, NOW, a_deployment, a_stage

D = DeploymentStatus
S = StageStatus

# Written out a second time, so that a slip in the tables is seen.
DEPLOYMENT_STEPS = {
    (D.PENDING, D.PLANNED),
    (D.PENDING, D.FAILED),
    (D.PENDING, D.CANCELLED),
    (D.PLANNED, D.RUNNING),
    (D.PLANNED, D.FAILED),
    (D.PLANNED, D.CANCELLED),
    (D.RUNNING, D.ROLLING_BACK),
    (D.RUNNING, D.SUCCEEDED),
    (D.RUNNING, D.FAILED),
    (D.RUNNING, D.CANCELLED),
    (D.ROLLING_BACK, D.FAILED),
    (D.ROLLING_BACK, D.CANCELLED),
}
STAGE_STEPS = {
    (S.NOT_STARTED, S.RUNNING),
    (S.NOT_STARTED, S.FAILED),
    (S.NOT_STARTED, S.CANCELLED),
    (S.NOT_STARTED, S.SKIPPED),
    (S.RUNNING, S.SUCCEEDED),
    (S.RUNNING, S.FAILED),
    (S.RUNNING, S.CANCELLED),
    (S.RUNNING, S.SKIPPED),
    (S.RUNNING, S.EXITED),
}


@pytest.mark.parametrize(
    ("found", "wanted"), [pytest.param(f, w, id=f"{f.value} to {w.value}") for f, w in product(D, D)]
)
def test_a_deployment_advances_exactly_as_the_table_says(found: D, wanted: D) -> None:
    deployment = a_deployment(status=found)

    if found is wanted:
        assert deployment.advance(wanted, "again", LATER) is deployment
    elif (found, wanted) in DEPLOYMENT_STEPS:
        completed_at = LATER if wanted in {D.SUCCEEDED, D.FAILED, D.CANCELLED} else None
        assert deployment.advance(wanted, "because", LATER) == a_deployment(
            status=wanted, status_reason="because", updated_at=LATER, completed_at=completed_at
        )
    else:
        with pytest.raises(InvalidTransition):
            deployment.advance(wanted, "because", LATER)


@pytest.mark.parametrize(
    ("found", "wanted"), [pytest.param(f, w, id=f"{f.value} to {w.value}") for f, w in product(S, S)]
)
def test_a_stage_advances_exactly_as_the_table_says(found: S, wanted: S) -> None:
    stage = a_stage(status=found)

    if found is wanted:
        assert stage.advance(wanted, "again", LATER) is stage
    elif (found, wanted) in STAGE_STEPS:
        completed_at = None if wanted is S.RUNNING else LATER
        ended_unstarted = found is S.NOT_STARTED and wanted in {S.FAILED, S.CANCELLED}
        never_started = {NEVER_STARTED: "true"} if ended_unstarted else {}
        assert stage.advance(wanted, "because", LATER) == a_stage(
            status=wanted,
            status_reason="because",
            updated_at=LATER,
            completed_at=completed_at,
            metadata=never_started,
        )
    else:
        with pytest.raises(InvalidTransition):
            stage.advance(wanted, "because", LATER)


def test_every_status_has_a_row() -> None:
    assert (set(DEPLOYMENT_TRANSITIONS.rows), set(STAGE_TRANSITIONS.rows)) == (set(D), set(S))


def test_a_refusal_names_both_statuses_and_what_is_allowed() -> None:
    with pytest.raises(InvalidTransition) as refusal:
        a_deployment(status=D.PLANNED).advance(D.SUCCEEDED, "", LATER)

    assert str(refusal.value) == (
        "deployment d-1 is planned and cannot become succeeded: from planned it may only become "
        "cancelled, failed or running; read it again and go on from there"
    )


def test_a_refusal_of_a_late_report_says_that_the_status_is_final() -> None:
    with pytest.raises(InvalidTransition) as refusal:
        a_stage(status=S.FAILED).advance(S.RUNNING, "", LATER)

    assert str(refusal.value) == (
        "stage stage-0 (WAIT) is failed and cannot become running: failed is final, so a later report "
        "changes nothing; read it again and go on from there"
    )


@given(st.lists(st.sampled_from(D)))
def test_no_sequence_of_reports_leads_outside_the_deployment_table(reports: list[D]) -> None:
    deployment = a_deployment()

    for report in reports:
        before = deployment
        try:
            deployment = before.advance(report, "reported", NOW)
        except InvalidTransition:
            continue
        step = (before.status, deployment.status)
        assert deployment is before or step in DEPLOYMENT_STEPS
        assert deployment is before or not before.status.is_terminal


@given(st.lists(st.sampled_from(S)))
def test_no_sequence_of_reports_leads_outside_the_stage_table(reports: list[S]) -> None:
    stage = a_stage()

    for report in reports:
        before = stage
        try:
            stage = before.advance(report, "reported", NOW)
        except InvalidTransition:
            continue
        assert stage is before or (before.status, stage.status) in STAGE_STEPS
        assert stage is before or not before.status.is_terminal
