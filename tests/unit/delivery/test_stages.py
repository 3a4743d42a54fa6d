"""What a deployment does next, in every state it can be found in."""

from typing import Any

import msgspec
import pytest

from fairway.config.application import Planner
from fairway.delivery.stages import NextAction, NextDecision, NextFacts, decide_next
from fairway.model.command import CancelDeployment
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.stage import Stage, StageStatus
from tests.unit.delivery.builders import a_config, a_pipeline
from tests.unit.model.builders import NOW, a_deployment, a_stage

D = DeploymentStatus
S = StageStatus
CANCEL = CancelDeployment(deployment_id="d-1")
NO_ROLLBACK = CancelDeployment(deployment_id="d-1", force_no_rollback=True)
FORCE_ROLLBACK = CancelDeployment(deployment_id="d-1", force_rollback=True)
SETTINGS = a_pipeline("K8S_CANARY_ROLLOUT", "SCRIPT_RUN")


def stages(canary: S, script: S, undo_canary: S = S.NOT_STARTED, undo_script: S = S.NOT_STARTED) -> tuple[Stage, ...]:
    return (
        a_stage("canary", name="K8S_CANARY_ROLLOUT", index=0, status=canary),
        a_stage("script", name="SCRIPT_RUN", index=1, status=script),
        a_stage("undo-canary", name="K8S_ROLLBACK", index=0, rollback=True, status=undo_canary),
        a_stage("undo-script", name="SCRIPT_RUN_ROLLBACK", index=1, rollback=True, status=undo_script),
    )


def facts(status: D, *statuses: S, **fields: Any) -> NextFacts:
    deployment = a_deployment(status=status, stages=stages(*statuses) if statuses else ())
    return NextFacts(**{"deployment": deployment, "config": a_config(*SETTINGS), "commander": "ada", **fields})


def _undoing_ended(status: S, reason: str) -> Deployment:
    failed = stages(S.FAILED, S.NOT_STARTED, status)
    undo = msgspec.structs.replace(failed[2], status_reason=reason)
    return a_deployment(status=D.ROLLING_BACK, stages=(*failed[:2], undo, *failed[3:]))


def _failed_in_lines(reason: str) -> Deployment:
    undone = _undoing_ended(S.SUCCEEDED, "")
    failed = msgspec.structs.replace(undone.stages[0], status_reason=reason)
    return msgspec.structs.replace(undone, stages=(failed, *undone.stages[1:]))


ROLLBACK_OFF = a_config(*SETTINGS, planner=Planner(auto_rollback=False))


def run(stage_id: str, reason: str) -> NextDecision:
    return NextDecision(action=NextAction.RUN, reason=reason, stage_id=stage_id, stage_status=S.RUNNING)


def stop(status: D, reason: str) -> NextDecision:
    return NextDecision(action=NextAction.STOP, reason=reason, deployment_status=status)


def interrupt(stage_id: str, status: S, reason: str) -> NextDecision:
    return NextDecision(action=NextAction.INTERRUPT, reason=reason, stage_id=stage_id, stage_status=status)


def roll_back(reason: str) -> NextDecision:
    return NextDecision(action=NextAction.ROLL_BACK, reason=reason, deployment_status=D.ROLLING_BACK)


def wait(reason: str, stage_id: str = "") -> NextDecision:
    return NextDecision(action=NextAction.WAIT, reason=reason, stage_id=stage_id)


ALL_LEFT = "autoRollback is on; {} of {} rollback stages are left"
START = NextDecision(action=NextAction.START, reason="Its plan is ready", deployment_status=D.RUNNING)
RESUMED = "Going on with {}, which was running when its agent stopped"


@pytest.mark.parametrize(
    ("known", "decision"),
    [
        pytest.param(facts(D.PENDING), wait("Waiting for its plan"), id="pending"),
        pytest.param(facts(D.PLANNED, S.NOT_STARTED, S.NOT_STARTED), START, id="planned"),
        pytest.param(
            facts(D.RUNNING, S.NOT_STARTED, S.NOT_STARTED),
            run("canary", "K8S_CANARY_ROLLOUT is running"),
            id="the first stage",
        ),
        pytest.param(
            facts(D.RUNNING, S.SUCCEEDED, S.NOT_STARTED), run("script", "SCRIPT_RUN is running"), id="the next stage"
        ),
        pytest.param(
            facts(D.RUNNING, S.SKIPPED, S.NOT_STARTED), run("script", "SCRIPT_RUN is running"), id="after a skipped one"
        ),
        pytest.param(
            facts(D.RUNNING, S.SUCCEEDED, S.RUNNING, executing="script"),
            wait("Waiting for stage SCRIPT_RUN", "script"),
            id="while a stage runs",
        ),
        pytest.param(
            facts(D.RUNNING, S.SUCCEEDED, S.RUNNING), run("script", RESUMED.format("SCRIPT_RUN")), id="after a restart"
        ),
        pytest.param(
            facts(D.RUNNING, S.SUCCEEDED, S.SUCCEEDED), stop(D.SUCCEEDED, "All stages have ended well"), id="at the end"
        ),
        pytest.param(
            facts(D.RUNNING, S.EXITED, S.NOT_STARTED),
            stop(D.SUCCEEDED, "Stage K8S_CANARY_ROLLOUT found nothing left to do"),
            id="a stage that exits",
        ),
        pytest.param(facts(D.RUNNING), stop(D.SUCCEEDED, "All stages have ended well"), id="without stages"),
        pytest.param(facts(D.FAILED), stop(D.FAILED, "The deployment has already failed"), id="failed"),
        pytest.param(
            facts(D.CANCELLED), stop(D.CANCELLED, "The deployment has already been cancelled"), id="cancelled"
        ),
    ],
)
def test_a_deployment_goes_forward(known: NextFacts, decision: NextDecision) -> None:
    assert decide_next(known, NOW) == decision


@pytest.mark.parametrize(
    ("known", "decision"),
    [
        pytest.param(
            facts(D.RUNNING, S.SUCCEEDED, S.FAILED),
            roll_back("Stage SCRIPT_RUN failed; rolling back: " + ALL_LEFT.format(2, 2)),
            id="a failed stage",
        ),
        pytest.param(
            facts(D.RUNNING, S.FAILED, S.NOT_STARTED),
            roll_back("Stage K8S_CANARY_ROLLOUT failed; rolling back: " + ALL_LEFT.format(1, 1)),
            id="a failed stage before the script",
        ),
        pytest.param(
            facts(D.RUNNING, S.SUCCEEDED, S.FAILED, config=ROLLBACK_OFF),
            stop(
                D.FAILED,
                "Stage SCRIPT_RUN failed; there is no rollback: autoRollback is off for this application",
            ),
            id="a failed stage without rollback",
        ),
        pytest.param(
            facts(D.ROLLING_BACK, S.SUCCEEDED, S.FAILED), run("undo-canary", "Undoing with K8S_ROLLBACK"), id="platform"
        ),
        pytest.param(
            facts(D.ROLLING_BACK, S.SUCCEEDED, S.FAILED, S.FAILED),
            run("undo-script", "Undoing stage 2 with SCRIPT_RUN_ROLLBACK"),
            id="the script, even after the platform failed",
        ),
        pytest.param(
            facts(D.ROLLING_BACK, S.SUCCEEDED, S.FAILED, S.SUCCEEDED, S.RUNNING, executing="undo-script"),
            wait("Waiting for stage SCRIPT_RUN_ROLLBACK", "undo-script"),
            id="while undoing",
        ),
        pytest.param(
            facts(D.ROLLING_BACK, S.SUCCEEDED, S.FAILED, S.RUNNING),
            run("undo-canary", RESUMED.format("K8S_ROLLBACK")),
            id="undoing after a restart",
        ),
        pytest.param(
            facts(D.ROLLING_BACK, S.SUCCEEDED, S.FAILED, S.SUCCEEDED, S.SUCCEEDED),
            stop(D.FAILED, "Stage SCRIPT_RUN failed; it was rolled back"),
            id="all undone",
        ),
        pytest.param(
            facts(D.ROLLING_BACK, S.FAILED, S.NOT_STARTED, S.FAILED),
            stop(D.FAILED, "Stage K8S_CANARY_ROLLOUT failed; the rollback failed in K8S_ROLLBACK"),
            id="undoing failed",
        ),
        pytest.param(
            facts(D.ROLLING_BACK, deployment=_undoing_ended(S.FAILED, "cluster a is away; Pod b is left there")),
            stop(
                D.FAILED,
                "Stage K8S_CANARY_ROLLOUT failed; the rollback failed in K8S_ROLLBACK "
                "(cluster a is away; Pod b is left there)",
            ),
            id="undoing failed for a reason",
        ),
        pytest.param(
            facts(D.ROLLING_BACK, deployment=_undoing_ended(S.SUCCEEDED, "Pod b stays as it is")),
            stop(D.FAILED, "Stage K8S_CANARY_ROLLOUT failed; it was rolled back: Pod b stays as it is"),
            id="undone, with something to say",
        ),
        pytest.param(
            facts(D.ROLLING_BACK, deployment=_failed_in_lines("2 are refused:\na\nb")),
            stop(D.FAILED, "Stage K8S_CANARY_ROLLOUT failed: 2 are refused:\na\nb\nit was rolled back"),
            id="undone, after a reason of several lines",
        ),
        pytest.param(
            facts(D.ROLLING_BACK, S.SUCCEEDED, S.CANCELLED, S.SUCCEEDED, S.SUCCEEDED),
            stop(D.CANCELLED, "Cancelled by ada; it was rolled back"),
            id="a cancelled deployment, undone",
        ),
        pytest.param(
            facts(D.ROLLING_BACK, S.SUCCEEDED, S.RUNNING),
            interrupt("script", S.CANCELLED, "The rollback has begun"),
            id="a stage nobody closed before",
        ),
    ],
)
def test_a_failed_stage_starts_the_rollback(known: NextFacts, decision: NextDecision) -> None:
    assert decide_next(known, NOW) == decision


@pytest.mark.parametrize(
    ("known", "decision"),
    [
        pytest.param(
            facts(D.PENDING, cancel=CANCEL),
            stop(D.CANCELLED, "Cancelled by ada before any stage had started"),
            id="while pending",
        ),
        pytest.param(
            facts(D.PLANNED, S.NOT_STARTED, S.NOT_STARTED, cancel=FORCE_ROLLBACK),
            stop(D.CANCELLED, "Cancelled by ada before any stage had started"),
            id="when planned, whatever is forced",
        ),
        pytest.param(
            facts(D.RUNNING, S.NOT_STARTED, S.NOT_STARTED, cancel=CANCEL),
            stop(
                D.CANCELLED, "Cancelled by ada; there is no rollback: no stage had started, so there is nothing to undo"
            ),
            id="before the first stage",
        ),
        pytest.param(
            facts(D.RUNNING, S.SUCCEEDED, S.RUNNING, cancel=CANCEL, executing="script"),
            interrupt("script", S.CANCELLED, "Cancelled by ada"),
            id="during a stage",
        ),
        pytest.param(
            facts(D.RUNNING, S.SUCCEEDED, S.RUNNING, cancel=CANCEL),
            interrupt("script", S.CANCELLED, "Cancelled by ada"),
            id="during a stage, after a restart",
        ),
        pytest.param(
            facts(D.RUNNING, S.SUCCEEDED, S.NOT_STARTED, cancel=CANCEL, executing="script"),
            interrupt("script", S.CANCELLED, "Cancelled by ada"),
            id="during a stage whose start has not been stored",
        ),
        pytest.param(
            facts(D.RUNNING, S.SUCCEEDED, S.CANCELLED, cancel=CANCEL, executing="script"),
            wait("Waiting for stage SCRIPT_RUN to end", "script"),
            id="while the stage is being ended",
        ),
        pytest.param(
            facts(D.RUNNING, S.SUCCEEDED, S.CANCELLED, cancel=CANCEL),
            roll_back("Cancelled by ada; rolling back: " + ALL_LEFT.format(2, 2)),
            id="after the stage was ended",
        ),
        pytest.param(
            facts(D.RUNNING, S.SUCCEEDED, S.NOT_STARTED, cancel=CANCEL),
            roll_back("Cancelled by ada; rolling back: " + ALL_LEFT.format(1, 1)),
            id="between stages",
        ),
        pytest.param(
            facts(D.RUNNING, S.SUCCEEDED, S.CANCELLED, cancel=NO_ROLLBACK),
            stop(D.CANCELLED, "Cancelled by ada; there is no rollback: whoever cancelled asked for no rollback"),
            id="without rollback",
        ),
        pytest.param(
            facts(D.RUNNING, S.SUCCEEDED, S.CANCELLED, cancel=FORCE_ROLLBACK, config=ROLLBACK_OFF),
            roll_back(
                "Cancelled by ada; rolling back: whoever cancelled asked for it; 2 of 2 rollback stages are left"
            ),
            id="with rollback though it is off",
        ),
        pytest.param(
            facts(D.RUNNING, S.SUCCEEDED, S.SUCCEEDED, cancel=CANCEL),
            stop(D.SUCCEEDED, "All stages have ended well"),
            id="too late",
        ),
        pytest.param(
            facts(D.ROLLING_BACK, S.SUCCEEDED, S.FAILED, S.RUNNING, cancel=CANCEL, executing="undo-canary"),
            wait("Waiting for stage K8S_ROLLBACK", "undo-canary"),
            id="during the rollback, which goes on",
        ),
        pytest.param(
            facts(D.ROLLING_BACK, S.SUCCEEDED, S.FAILED, S.RUNNING, cancel=NO_ROLLBACK, executing="undo-canary"),
            interrupt("undo-canary", S.CANCELLED, "The rollback ends here: whoever cancelled asked for no rollback"),
            id="during the rollback, without the rest of it",
        ),
        pytest.param(
            facts(D.ROLLING_BACK, S.SUCCEEDED, S.FAILED, S.CANCELLED, cancel=NO_ROLLBACK),
            stop(
                D.FAILED,
                "Stage SCRIPT_RUN failed; the rollback was given up, with K8S_ROLLBACK, SCRIPT_RUN_ROLLBACK of stage 2 "
                "left to do",
            ),
            id="the rollback was given up",
        ),
        pytest.param(
            facts(D.ROLLING_BACK, S.SUCCEEDED, S.FAILED, S.FAILED, S.CANCELLED, cancel=NO_ROLLBACK),
            stop(
                D.FAILED,
                "Stage SCRIPT_RUN failed; the rollback failed in K8S_ROLLBACK and "
                "the rollback was given up, with SCRIPT_RUN_ROLLBACK of stage 2 left to do",
            ),
            id="the rollback failed, and was given up",
        ),
        pytest.param(
            facts(D.ROLLING_BACK, S.SUCCEEDED, S.CANCELLED, S.RUNNING, cancel=CANCEL, config=ROLLBACK_OFF),
            run("undo-canary", RESUMED.format("K8S_ROLLBACK")),
            id="a rollback that was asked for, and then a second cancel that asks for none",
        ),
        pytest.param(
            facts(D.ROLLING_BACK, S.SUCCEEDED, S.CANCELLED, S.RUNNING, config=ROLLBACK_OFF),
            run("undo-canary", RESUMED.format("K8S_ROLLBACK")),
            id="a rollback that was asked for, taken up by an agent that does not know of it yet",
        ),
        pytest.param(
            facts(D.ROLLING_BACK, S.SUCCEEDED, S.NOT_STARTED, S.SUCCEEDED, cancel=CANCEL),
            stop(D.CANCELLED, "Cancelled by ada; it was rolled back"),
            id="between stages, undone",
        ),
    ],
)
def test_a_cancel_ends_the_stage_then_undoes_then_stops(known: NextFacts, decision: NextDecision) -> None:
    assert decide_next(known, NOW) == decision
