"""Deployments followed from plan to end, with every way a stage can end: decisions and tables always agree."""

from hypothesis import given
from hypothesis import strategies as st

from fairway.delivery.rollback import plan_v0_rollback
from fairway.delivery.stages import NextAction, NextDecision, NextFacts, decide_next
from fairway.model.command import CancelDeployment
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.stage import StageStatus
from tests.unit.delivery.builders import SEED_PIPELINE, a_config, a_pipeline, planned_stages
from tests.unit.model.builders import NOW, a_deployment

S = StageStatus
RESULTS = st.sampled_from([S.SUCCEEDED, S.SUCCEEDED, S.SUCCEEDED, S.SKIPPED, S.FAILED, S.EXITED, S.CANCELLED])
PIPELINES = st.lists(st.sampled_from(SEED_PIPELINE), min_size=1, max_size=7)
CANCELS = st.one_of(
    st.none(),
    st.builds(CancelDeployment, deployment_id=st.just("d-1"), force_rollback=st.booleans()),
    st.just(CancelDeployment(deployment_id="d-1", force_no_rollback=True)),
)


def a_planned_deployment(names: list[str]) -> Deployment:
    forward = planned_stages(*names)
    rollback = plan_v0_rollback(a_pipeline(*names), [stage.id for stage in forward], NOW)
    return a_deployment(status=DeploymentStatus.PLANNED, stages=(*forward, *rollback))


def apply(deployment: Deployment, decision: NextDecision, result: StageStatus) -> Deployment:
    """What an agent does with a decision; a stage that runs ends in `result`. The tables refuse what is wrong."""
    if decision.action is NextAction.RUN:
        started = deployment.advance_stage(decision.stage_id, S.RUNNING, decision.reason, NOW)
        return started.advance_stage(decision.stage_id, result, "reported", NOW)
    if decision.stage_status is not None:
        return deployment.advance_stage(decision.stage_id, decision.stage_status, decision.reason, NOW)
    assert decision.deployment_status is not None, decision
    return deployment.advance(decision.deployment_status, decision.reason, NOW)


def follow(
    deployment: Deployment, results: list[StageStatus], cancel: CancelDeployment | None, cancel_after: int
) -> tuple[Deployment, list[str]]:
    """The deployment at its end, and the stages that were run, in order."""
    executed: list[str] = []
    config = a_config(*a_pipeline(*(stage.name for stage in deployment.stages if not stage.is_rollback)))
    for step in range(50):
        known = cancel if step >= cancel_after else None
        decision = decide_next(NextFacts(deployment=deployment, config=config, cancel=known), NOW)
        if decision.action is NextAction.STOP and deployment.status.is_terminal:
            return deployment, executed
        if decision.action is NextAction.RUN:
            stage = deployment.stage(decision.stage_id)
            assert stage is not None
            assert not stage.status.is_terminal
            executed.append(decision.stage_id)
        deployment = apply(deployment, decision, results[len(executed) % len(results)])
    raise AssertionError(f"no end in sight: {deployment}")


@given(PIPELINES, st.lists(RESULTS, min_size=1, max_size=16), CANCELS, st.integers(0, 12))
def test_every_deployment_ends_and_no_stage_runs_twice(
    names: list[str], results: list[StageStatus], cancel: CancelDeployment | None, cancel_after: int
) -> None:
    deployment, executed = follow(a_planned_deployment(names), results, cancel, cancel_after)

    assert deployment.status.is_terminal
    assert len(executed) == len(set(executed))
    assert all(stage.status is not S.RUNNING for stage in deployment.stages)


@given(PIPELINES, st.lists(RESULTS, min_size=1, max_size=16), CANCELS, st.integers(0, 12))
def test_a_script_is_undone_only_after_it_ran(
    names: list[str], results: list[StageStatus], cancel: CancelDeployment | None, cancel_after: int
) -> None:
    _, executed = follow(a_planned_deployment(names), results, cancel, cancel_after)

    undone = [id.removesuffix("-rollback") for id in executed if id.endswith("-rollback")]
    assert undone == [id for id in executed if id in undone]
    assert undone == sorted(undone, key=lambda id: int(id.removeprefix("stage-")))


@given(PIPELINES, st.lists(RESULTS, min_size=1, max_size=16))
def test_a_deployment_succeeds_exactly_when_nothing_was_undone(names: list[str], results: list[StageStatus]) -> None:
    deployment, executed = follow(a_planned_deployment(names), results, None, 0)

    assert (deployment.status is DeploymentStatus.SUCCEEDED) is ("rollback" not in executed)
