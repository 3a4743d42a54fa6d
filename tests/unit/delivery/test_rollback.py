"""Which stages undo a deployment, and in what order."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.config.application import Generation, UndoScript
from fairway.delivery.rollback import RollbackDecision, decide_rollback, plan_undo_scripts, plan_v0_rollback
from fairway.model.application import ApplicationKind
from fairway.model.command import CancelDeployment
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.stage import STAGE_TRANSITIONS, Stage, StageStatus
from tests.unit.delivery.builders import SEED_PIPELINE, a_pipeline, a_stage_config, planned_stages
from tests.unit.model.builders import NOW, a_deployment, a_stage

S = StageStatus
#: Position that ended the deployment, from one → scripts undone, from one; as the documents say.
SEED_EXAMPLE = {1: [], 2: [], 3: [3], 4: [3], 5: [3, 5], 6: [3, 5], 7: [3, 5, 7]}
#: A v0 application of each kind, and a v1 application, which has no kind.
KINDS: list[ApplicationKind | None] = [*ApplicationKind, None]


def v1_rollback(names: tuple[str, ...]) -> tuple[Stage, ...]:
    scripts = [index for index, name in enumerate(names) if name == "SCRIPT_RUN"]
    return (
        a_stage("rollback-0", name="K8S_ROLLBACK", rollback=True),
        *(a_stage(f"rollback-{n}", name="SCRIPT_RUN_ROLLBACK", index=n, rollback=True) for n in scripts),
    )


def ended_at(position: int, how: S, kind: ApplicationKind | None, names: tuple[str, ...] = SEED_PIPELINE) -> Deployment:
    """A deployment whose stages succeeded up to `position`, counted from one, which ended in `how`."""
    statuses = [S.SUCCEEDED] * (position - 1) + [how] + [S.NOT_STARTED] * (len(names) - position)
    forward = planned_stages(*names)
    v0 = plan_v0_rollback(a_pipeline(*names), [stage.id for stage in forward], NOW)
    stages = (*with_statuses(forward, statuses), *(v1_rollback(names) if kind is None else v0))
    return a_deployment(status=DeploymentStatus.RUNNING, kind=kind, stages=stages)


def with_statuses(stages: tuple[Stage, ...], statuses: list[S]) -> list[Stage]:
    pairs = zip(stages, statuses, strict=True)
    return [a_stage(stage.id, name=stage.name, index=stage.index, status=status) for stage, status in pairs]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.value if kind else "v1")
@pytest.mark.parametrize("how", [S.FAILED, S.CANCELLED], ids=["fails", "is cancelled"])
@pytest.mark.parametrize(("position", "scripts"), SEED_EXAMPLE.items(), ids=[f"at {n}" for n in SEED_EXAMPLE])
def test_the_platform_and_then_the_started_scripts_are_undone(
    position: int, scripts: list[int], how: S, kind: ApplicationKind | None
) -> None:
    decision = decide_rollback(ended_at(position, how, kind), auto_rollback=True)

    platform = "ROLLBACK" if kind else "K8S_ROLLBACK"
    undone = [(stage.name, stage.index + 1) for stage in decision.stages]
    assert undone == [(platform, 1), *(("SCRIPT_RUN_ROLLBACK", script) for script in scripts)]


def test_a_skipped_script_is_not_undone() -> None:
    forward = with_statuses(planned_stages("SCRIPT_RUN", "WAIT"), [S.SKIPPED, S.FAILED])
    deployment = a_deployment(stages=(*forward, *v1_rollback(("SCRIPT_RUN", "WAIT"))))

    decision = decide_rollback(deployment, auto_rollback=True)

    assert [stage.name for stage in decision.stages] == ["K8S_ROLLBACK"]


def test_a_script_that_does_not_say_how_is_not_undone() -> None:
    pipeline = (a_stage_config("SCRIPT_RUN", 0), a_stage_config("SCRIPT_RUN", 1, written={"onRollback": []}))

    stages = plan_v0_rollback(pipeline, ["stage-0", "stage-1"], NOW)

    assert [stage.name for stage in stages] == ["ROLLBACK"]


def test_where_nothing_that_was_started_can_be_undone_it_is_said() -> None:
    forward = with_statuses(planned_stages("WAIT_APPROVAL", "SCRIPT_RUN"), [S.FAILED, S.NOT_STARTED])
    undoing = [stage for stage in v1_rollback(("WAIT_APPROVAL", "SCRIPT_RUN")) if stage.name == "SCRIPT_RUN_ROLLBACK"]

    decision = decide_rollback(a_deployment(stages=(*forward, *undoing)), auto_rollback=True)

    assert decision == RollbackDecision(stages=(), reason="nothing that was started has anything to undo")


def test_two_scripts_have_rollbacks_of_their_own() -> None:
    stages = plan_v0_rollback(a_pipeline(*SEED_PIPELINE), [f"stage-{n}" for n in range(7)], NOW)

    assert [stage.id for stage in stages] == [
        "rollback",
        "stage-2-rollback",
        "stage-4-rollback",
        "stage-6-rollback",
    ]


@pytest.mark.parametrize(("position", "scripts"), SEED_EXAMPLE.items(), ids=[f"at {n}" for n in SEED_EXAMPLE])
def test_a_script_on_another_stage_is_undone_among_the_scripts(position: int, scripts: list[int]) -> None:
    pipeline = tuple(
        msgspec.structs.replace(stage, undo=UndoScript(on_rollback="undo")) if stage.index in {1, 3} else stage
        for stage in a_pipeline(*SEED_PIPELINE)
    )
    deployment = ended_at(position, S.FAILED, None)
    ours = plan_undo_scripts(pipeline, [stage.id for stage in planned_stages(*SEED_PIPELINE)], NOW)

    decision = decide_rollback(
        msgspec.structs.replace(deployment, stages=(*deployment.stages, *ours)), auto_rollback=True
    )

    undone = [stage.index + 1 for stage in decision.stages if stage.name == "SCRIPT_RUN_ROLLBACK"]
    assert undone == sorted([*scripts, *(stage for stage in (2, 4) if stage <= position)])


def cancel(*, rollback: bool = False, no_rollback: bool = False) -> CancelDeployment:
    return CancelDeployment(deployment_id="d-1", force_rollback=rollback, force_no_rollback=no_rollback)


@pytest.mark.parametrize(
    ("auto_rollback", "asked", "stages", "reason"),
    [
        pytest.param(True, None, 2, "autoRollback is on; 2 of 2 rollback stages are left", id="on"),
        pytest.param(False, None, 0, "autoRollback is off for this application", id="off"),
        pytest.param(False, cancel(), 0, "autoRollback is off for this application", id="off and cancelled"),
        pytest.param(True, cancel(no_rollback=True), 0, "whoever cancelled asked for no rollback", id="on, not wanted"),
        pytest.param(
            False,
            cancel(rollback=True),
            2,
            "whoever cancelled asked for it; 2 of 2 rollback stages are left",
            id="off, but wanted",
        ),
    ],
)
def test_the_switch_counts_unless_whoever_cancels_says_otherwise(
    auto_rollback: bool, asked: CancelDeployment | None, stages: int, reason: str
) -> None:
    decision = decide_rollback(ended_at(4, S.CANCELLED, None), auto_rollback=auto_rollback, cancel=asked)

    assert (len(decision.stages), decision.reason) == (stages, reason)


def test_nothing_is_undone_when_nothing_was_started() -> None:
    deployment = ended_at(1, S.SKIPPED, None)

    assert decide_rollback(deployment, auto_rollback=True).reason == "no stage had started, so there is nothing to undo"


def test_a_plan_without_rollback_stages_has_nothing_to_run() -> None:
    deployment = a_deployment(stages=(a_stage(status=S.FAILED),))

    assert decide_rollback(deployment, auto_rollback=True).reason == "its plan has no rollback stages"


def test_what_has_been_undone_is_not_undone_again() -> None:
    failed = a_stage("stage-0", name="SCRIPT_RUN", status=S.FAILED)
    platform = a_stage("rollback-0", name="K8S_ROLLBACK", rollback=True, status=S.FAILED)
    script = a_stage("rollback-1", name="SCRIPT_RUN_ROLLBACK", rollback=True, status=S.RUNNING)

    decision = decide_rollback(a_deployment(stages=(failed, platform, script)), auto_rollback=True)

    assert decision.stages == (script,)


STAGE_NAMES = st.sampled_from(["SCRIPT_RUN", "WAIT", "K8S_CANARY_ROLLOUT"])


@given(
    st.lists(st.tuples(STAGE_NAMES, st.sampled_from(S)), min_size=1, max_size=8),
    st.sampled_from(Generation),
)
def test_only_started_scripts_are_undone_and_in_pipeline_order(
    pipeline: list[tuple[str, S]], generation: Generation
) -> None:
    names = tuple(name for name, _ in pipeline)
    forward = with_statuses(planned_stages(*names), [status for _, status in pipeline])
    v0 = plan_v0_rollback(a_pipeline(*names), [stage.id for stage in forward], NOW)
    rollback = v1_rollback(names) if generation is Generation.V1 else v0
    started = [each.index for each in forward if each.status not in {S.NOT_STARTED, S.SKIPPED}]

    decision = decide_rollback(a_deployment(stages=(*forward, *rollback)), auto_rollback=True)

    scripts = [stage.index for stage in decision.stages if stage.name == "SCRIPT_RUN_ROLLBACK"]
    assert scripts == [index for index in started if names[index] == "SCRIPT_RUN"]
    assert [stage.name for stage in decision.stages[1:]] == ["SCRIPT_RUN_ROLLBACK"] * len(scripts)


@given(st.lists(st.lists(st.sampled_from(S), max_size=4), min_size=1, max_size=6))
def test_a_script_that_never_ran_is_never_undone_whatever_was_reported(reports: list[list[S]]) -> None:
    ran: set[int] = set()
    forward = list(planned_stages(*["SCRIPT_RUN"] * len(reports)))
    for index, statuses in enumerate(reports):
        for status in statuses:
            if STAGE_TRANSITIONS.allows(forward[index].status, status):
                forward[index] = forward[index].advance(status, "reported", NOW)
                ran |= {index} if status is S.RUNNING else set()
    deployment = a_deployment(stages=(*forward, *v1_rollback(("SCRIPT_RUN",) * len(reports))))

    decision = decide_rollback(deployment, auto_rollback=True)

    assert {stage.index for stage in decision.stages if stage.name == "SCRIPT_RUN_ROLLBACK"} <= ran


@pytest.mark.parametrize("position", range(1, 8))
@pytest.mark.parametrize("how", [S.SUCCEEDED, S.RUNNING], ids=["after a stage", "within a stage"])
def test_a_script_after_the_end_is_never_undone(position: int, how: S) -> None:
    decision = decide_rollback(ended_at(position, how, None), auto_rollback=True)

    assert all(stage.index < position for stage in decision.stages)
