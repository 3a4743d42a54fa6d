from datetime import timedelta
from itertools import product

import msgspec
import pytest

from fairway.model.application import ApplicationKind
from fairway.model.deployment import DEPLOYMENT_TRANSITIONS, UnknownStage
from fairway.model.deployment import DeploymentStatus as D
from fairway.model.plan import Plan
from fairway.model.stage import STAGE_TRANSITIONS, ManualOperation
from fairway.model.stage import StageStatus as S
from fairway.model.transitions import InvalidTransition
from fairway.model.trigger import SyncStrategy
from fairway.server.agent_service.reports import (
    Completion,
    StageReport,
    completed,
    is_late,
    planned,
    stage_changed,
    stage_noted,
    status_changed,
)
from tests.unit.model.builders import LATER, NOW, a_deployment, a_stage

#: Found → wanted that a step in between would make possible; all other refused changes are late.
EARLY_DEPLOYMENT = {
    (D.PENDING, D.RUNNING),
    (D.PENDING, D.ROLLING_BACK),
    (D.PENDING, D.SUCCEEDED),
    (D.PLANNED, D.ROLLING_BACK),
    (D.PLANNED, D.SUCCEEDED),
}
EARLY_STAGE = {(S.NOT_STARTED, S.SUCCEEDED), (S.NOT_STARTED, S.EXITED)}


def a_plan() -> Plan:
    return Plan(sync_strategy=SyncStrategy.PIPELINE, summary="a stage", stages=(a_stage(),))


def a_completion(status: D = D.SUCCEEDED) -> Completion:
    return Completion(status=status, reason="done", completed_at=NOW, stage_statuses={})


@pytest.mark.parametrize(("found", "wanted"), list(product(D, D)))
def test_a_refused_status_of_a_deployment_is_either_late_or_early(found: D, wanted: D) -> None:
    early = not DEPLOYMENT_TRANSITIONS.allows(found, wanted) and not is_late(DEPLOYMENT_TRANSITIONS, found, wanted)

    assert early == ((found, wanted) in EARLY_DEPLOYMENT)


@pytest.mark.parametrize(("found", "wanted"), list(product(S, S)))
def test_a_refused_status_of_a_stage_is_either_late_or_early(found: S, wanted: S) -> None:
    early = not STAGE_TRANSITIONS.allows(found, wanted) and not is_late(STAGE_TRANSITIONS, found, wanted)

    assert early == ((found, wanted) in EARLY_STAGE)


@pytest.mark.parametrize(("found", "wanted"), list(product(D, (D.RUNNING, D.ROLLING_BACK))))
def test_a_late_status_changes_nothing_and_an_early_one_is_refused(found: D, wanted: D) -> None:
    deployment = a_deployment(status=found)

    if (found, wanted) in EARLY_DEPLOYMENT:
        with pytest.raises(InvalidTransition):
            status_changed(deployment, wanted, "go", LATER)
    elif DEPLOYMENT_TRANSITIONS.allows(found, wanted) and found is not wanted:
        assert status_changed(deployment, wanted, "go", LATER).status is wanted
    else:
        assert status_changed(deployment, wanted, "go", LATER) is deployment


@pytest.mark.parametrize("status", [status for status in D if status is not D.PENDING])
def test_a_plan_that_comes_again_changes_nothing(status: D) -> None:
    deployment = a_deployment(status=status)

    assert planned(deployment, a_plan(), LATER) is deployment


def test_what_people_can_do_to_stages_of_older_agents_is_filled_in() -> None:
    approval = a_stage("s-1", name="WAIT_APPROVAL", metadata={"Approvers": "ada, bob"})
    stages = tuple(
        msgspec.structs.replace(stage, available_operation=ManualOperation.UNKNOWN)
        for stage in (approval, a_stage("s-2", name="ANALYSIS"), a_stage("s-3", name="K8S_SYNC"))
    )
    plan = Plan(sync_strategy=SyncStrategy.AUTO, summary="", stages=stages)

    found = planned(a_deployment(kind=ApplicationKind.KUBERNETES), plan, LATER)

    assert [(stage.available_operation, stage.authorized_operators) for stage in found.stages] == [
        (ManualOperation.APPROVE, ("ada", "bob")),
        (ManualOperation.SKIP, ()),
        (ManualOperation.UNKNOWN, ()),
    ]


def test_what_newer_agents_say_of_their_stages_stays() -> None:
    stage = a_stage(name="ANALYSIS", available_operation=ManualOperation.UNKNOWN)
    plan = Plan(sync_strategy=SyncStrategy.PIPELINE, summary="", stages=(stage,))

    assert planned(a_deployment(), plan, LATER).stages == (stage,)


@pytest.mark.parametrize("status", [D.SUCCEEDED, D.FAILED, D.CANCELLED])
def test_the_first_end_of_a_deployment_stays(status: D) -> None:
    deployment = a_deployment(status=status, completed_at=NOW)

    assert [completed(deployment, a_completion(end), LATER) for end in (D.SUCCEEDED, D.FAILED)] == [deployment] * 2


@pytest.mark.parametrize("found", [D.PENDING, D.PLANNED])
def test_a_success_before_anything_ran_is_refused(found: D) -> None:
    with pytest.raises(InvalidTransition):
        completed(a_deployment(status=found), a_completion(), LATER)


def test_a_deployment_ended_when_its_agent_says_but_never_in_the_future() -> None:
    deployment = a_deployment(status=D.RUNNING)
    ahead = msgspec.structs.replace(a_completion(), completed_at=LATER + timedelta(hours=1))

    ends = [completed(deployment, report, LATER).completed_at for report in (a_completion(), ahead)]

    assert ends == [NOW, LATER]


def test_a_stage_takes_over_what_its_report_says() -> None:
    deployment = a_deployment(status=D.RUNNING, stages=(a_stage(visible=False, requires=("before",)),))
    report = StageReport(stage_id="stage-0", status=S.RUNNING, reason="go", visible=True, retried_count=1)

    found = stage_changed(deployment, report, LATER)

    assert found.stages == (
        a_stage(
            status=S.RUNNING,
            status_reason="go",
            visible=True,
            requires=("before",),
            retried_count=1,
            updated_at=LATER,
        ),
    )


@pytest.mark.parametrize(("found", "wanted"), list(product(S, S)))
def test_a_late_stage_report_changes_nothing_and_an_early_one_is_refused(found: S, wanted: S) -> None:
    deployment = a_deployment(status=D.RUNNING, stages=(a_stage(status=found),))
    report = StageReport(stage_id="stage-0", status=wanted)

    if (found, wanted) in EARLY_STAGE:
        with pytest.raises(InvalidTransition):
            stage_changed(deployment, report, LATER)
    elif STAGE_TRANSITIONS.allows(found, wanted) and found is not wanted:
        assert stage_changed(deployment, report, LATER).stages[0].status is wanted
    else:
        assert stage_changed(deployment, report, LATER) is deployment


@pytest.mark.parametrize("wanted", S)
def test_no_report_changes_a_stage_of_a_deployment_that_has_ended(wanted: S) -> None:
    deployment = a_deployment(status=D.CANCELLED, stages=(a_stage(),))

    assert stage_changed(deployment, StageReport(stage_id="stage-0", status=wanted), LATER) is deployment


def test_a_stage_that_the_deployment_does_not_have_is_refused() -> None:
    deployment = a_deployment(status=D.RUNNING, stages=(a_stage(),))

    with pytest.raises(UnknownStage):
        stage_changed(deployment, StageReport(stage_id="other", status=S.RUNNING), LATER)
    with pytest.raises(UnknownStage):
        stage_noted(deployment, "other", {}, LATER)


def test_of_stages_with_the_same_id_the_next_one_takes_the_report() -> None:
    done, waiting = a_stage("Rollback", status=S.SUCCEEDED), a_stage("Rollback", visible=False)
    deployment = a_deployment(status=D.ROLLING_BACK, stages=(done, waiting))

    found = stage_changed(deployment, StageReport(stage_id="Rollback", status=S.RUNNING, visible=True), LATER)

    assert [(stage.status, stage.visible) for stage in found.stages] == [(S.SUCCEEDED, True), (S.RUNNING, True)]


def test_notes_of_a_stage_are_added_to_those_it_has() -> None:
    deployment = a_deployment(stages=(a_stage(metadata={"kept": "1", "changed": "1"}),))

    found = stage_noted(deployment, "stage-0", {"changed": "2", "new": "3"}, LATER)

    assert found.stages[0].metadata == {"kept": "1", "changed": "2", "new": "3"}
    assert stage_noted(found, "stage-0", {"new": "3"}, LATER) is found
