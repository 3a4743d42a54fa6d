"""What planning, stage reports and completion do to a deployment."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.model.artifact import ArtifactKind, ArtifactVersion
from fairway.model.deployment import UNREPORTED, Deployment, DeploymentStatus, UnknownStage
from fairway.model.plan import Plan
from fairway.model.stage import StageStatus
from fairway.model.transitions import InvalidTransition
from fairway.model.trigger import SyncStrategy
from tests.unit.model.builders import LATER, NOW, a_deployment, a_stage, a_trigger

D = DeploymentStatus
S = StageStatus


def a_plan(strategy: SyncStrategy = SyncStrategy.PIPELINE) -> Plan:
    return Plan(
        sync_strategy=strategy,
        summary="Canary, then primary",
        reason="Planned",
        stages=(a_stage("one"), a_stage("two")),
        versions=(ArtifactVersion(kind=ArtifactKind.CONTAINER_IMAGE, name="cart", version="v2"),),
        running_commit_hash="decade",
        running_config_filename="app.pipecd.yaml",
    )


def test_an_accepted_plan_becomes_part_of_its_deployment() -> None:
    plan = a_plan()

    planned = a_deployment().accept(plan, LATER)

    assert planned == a_deployment(
        status=D.PLANNED,
        status_reason="Planned",
        trigger=a_trigger(sync_strategy=SyncStrategy.PIPELINE),
        summary=plan.summary,
        stages=plan.stages,
        versions=plan.versions,
        running_commit_hash="decade",
        running_config_filename="app.pipecd.yaml",
        updated_at=LATER,
    )


def test_a_plan_reported_twice_is_accepted_once() -> None:
    planned = a_deployment().accept(a_plan(), NOW)

    assert planned.accept(a_plan(SyncStrategy.QUICK_SYNC), LATER) is planned


def test_a_plan_without_a_strategy_keeps_the_one_that_was_asked_for() -> None:
    asked = a_deployment(trigger=a_trigger(sync_strategy=SyncStrategy.QUICK_SYNC))

    planned = asked.accept(a_plan(SyncStrategy.AUTO), LATER)

    assert planned.trigger.sync_strategy is SyncStrategy.QUICK_SYNC


def test_a_stage_report_changes_that_stage_alone() -> None:
    running = a_deployment(status=D.RUNNING, stages=(a_stage("one"), a_stage("two")))

    reported = running.advance_stage("two", S.RUNNING, "Started", LATER)

    two = a_stage("two", status=S.RUNNING, status_reason="Started", updated_at=LATER)
    assert reported == a_deployment(status=D.RUNNING, stages=(a_stage("one"), two), updated_at=LATER)


def test_a_report_about_a_stage_nobody_planned_is_refused() -> None:
    with pytest.raises(UnknownStage, match="deployment d-1 has no stage three; it has one;"):
        a_deployment(stages=(a_stage("one"),)).advance_stage("three", S.RUNNING, "", LATER)


@pytest.mark.parametrize("ended", [D.SUCCEEDED, D.FAILED, D.CANCELLED])
def test_a_stage_report_after_the_end_is_refused(ended: DeploymentStatus) -> None:
    with pytest.raises(InvalidTransition, match="not_started is final"):
        a_deployment(status=ended, stages=(a_stage("one"),)).advance_stage("one", S.RUNNING, "", LATER)


def test_a_repeated_stage_report_after_the_end_is_harmless() -> None:
    ended = a_deployment(status=D.FAILED, stages=(a_stage("one", status=S.FAILED),))

    assert ended.advance_stage("one", S.FAILED, "again", LATER) is ended


def test_completion_settles_the_stages_the_agent_lists() -> None:
    stages = (a_stage("one", status=S.RUNNING), a_stage("two"))
    running = a_deployment(status=D.RUNNING, stages=stages)

    ended = running.complete(D.FAILED, "one failed", LATER, {"one": S.FAILED, "two": S.NOT_STARTED, "x": S.FAILED})

    one = a_stage("one", status=S.FAILED, updated_at=LATER, completed_at=LATER)
    assert ended == a_deployment(
        status=D.FAILED,
        status_reason="one failed",
        stages=(one, a_stage("two")),
        updated_at=LATER,
        completed_at=LATER,
    )


def test_completion_keeps_what_a_stage_has_said_of_itself() -> None:
    running = a_deployment(status=D.RUNNING, stages=(a_stage("one", status=S.SKIPPED),))

    ended = running.complete(D.SUCCEEDED, "", LATER, {"one": S.SUCCEEDED})

    assert (ended.status, ended.stages) == (D.SUCCEEDED, running.stages)


def test_completion_closes_a_stage_that_nobody_reported_on() -> None:
    running = a_deployment(status=D.RUNNING, stages=(a_stage("one", status=S.RUNNING),))

    ended = running.complete(D.CANCELLED, "", LATER, {})

    closed = a_stage("one", status=S.CANCELLED, status_reason=UNREPORTED, updated_at=LATER, completed_at=LATER)
    assert ended.stages == (closed,)


@given(st.sampled_from(D), st.dictionaries(st.sampled_from(["one", "two", "three"]), st.sampled_from(S)))
def test_no_completion_leaves_a_stage_running(to: DeploymentStatus, statuses: dict[str, S]) -> None:
    stages = (a_stage("one", status=S.RUNNING), a_stage("two"), a_stage("three", status=S.SUCCEEDED))
    running = a_deployment(status=D.RUNNING, stages=stages)

    try:
        ended = running.complete(to, "", LATER, statuses)
    except InvalidTransition:
        return

    assert ended is running or all(stage.status is not S.RUNNING for stage in ended.stages)


def test_a_rollback_stage_is_known_in_both_generations() -> None:
    v0 = a_stage(name="SCRIPT_RUN_ROLLBACK", predefined=True, visible=True)
    v1 = a_stage(name="K8S_ROLLBACK", rollback=True)
    quick_sync_of_v0 = a_stage(predefined=True, visible=True)

    assert [stage.is_rollback for stage in (v0, v1, quick_sync_of_v0, a_stage())] == [
        True,
        True,
        False,
        False,
    ]


def test_a_success_reported_after_the_rollback_began_ends_as_failed() -> None:
    rolling_back = a_deployment(status=D.ROLLING_BACK)

    ended = rolling_back.complete(D.SUCCEEDED, "All done", LATER, {})

    reason = "Reported as succeeded after its rollback had begun: All done"
    assert ended == a_deployment(status=D.FAILED, status_reason=reason, updated_at=LATER, completed_at=LATER)


def test_script_rollbacks_of_v0_share_an_id_and_are_told_apart_by_their_turn() -> None:
    shared = a_stage("ScriptRunRollback", name="SCRIPT_RUN_ROLLBACK")
    deployment = a_deployment(status=D.ROLLING_BACK, stages=(shared, shared))

    # Each report comes twice, as it does when an answer is lost.
    for report in (S.RUNNING, S.RUNNING, S.FAILED, S.FAILED, S.RUNNING, S.RUNNING, S.SUCCEEDED, S.SUCCEEDED):
        deployment = deployment.advance_stage("ScriptRunRollback", report, "", LATER)

    assert [stage.status for stage in deployment.stages] == [S.FAILED, S.SUCCEEDED]


def test_completion_keeps_script_rollbacks_of_v0_apart() -> None:
    stages = tuple(a_stage("ScriptRunRollback", status=status) for status in (S.FAILED, S.NOT_STARTED))
    deployment = a_deployment(status=D.ROLLING_BACK, stages=stages)

    ended = deployment.complete(D.FAILED, "", LATER, {"ScriptRunRollback": S.FAILED})

    assert ended.stages == stages


@pytest.mark.parametrize("to", [status for status in D if not status.is_terminal])
def test_completion_needs_an_end(to: DeploymentStatus) -> None:
    with pytest.raises(InvalidTransition, match="may only become cancelled, failed or succeeded"):
        a_deployment(status=D.RUNNING).complete(to, "", LATER, {})


def test_an_unfinished_deployment_has_no_end() -> None:
    rolling_back: Deployment = a_deployment(status=D.RUNNING).advance(D.ROLLING_BACK, "one failed", LATER)

    assert rolling_back.completed_at is None
