"""Which stages undo a deployment, and in what order.

First each platform's own rollback, then one SCRIPT_RUN_ROLLBACK for each stage that says by `onRollback` how to undo
itself and was started, in pipeline order. The same rule holds for every platform and for failure, timeout and cancel.
For a SCRIPT_RUN its plugin plans that stage; for any other stage it is planned here.

Rollback stages are planned whether or not `autoRollback` is on, because whoever cancels may ask for a rollback
all the same; the switch is looked at here, when it matters.
"""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from fairway.config.application import StageConfig
from fairway.model.command import CancelDeployment
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.stage import Stage
from fairway.model.undoing import BASE_STAGE, SCRIPT_RUN, SCRIPT_RUN_ROLLBACK, stage_undone_by, what_it_undoes

#: What v0 calls the rollback of every platform.
ROLLBACK = "ROLLBACK"


class RollbackDecision(msgspec.Struct, frozen=True, kw_only=True):
    """The stages that are still to run, in their order; none when there is no rollback or it is done."""

    stages: tuple[Stage, ...]
    reason: str


def decide_rollback(
    deployment: Deployment, *, auto_rollback: bool, cancel: CancelDeployment | None = None
) -> RollbackDecision:
    """What is left to undo of a deployment that failed or was cancelled."""
    if cancel is not None and cancel.force_no_rollback:
        return RollbackDecision(stages=(), reason="whoever cancelled asked for no rollback")
    forced = cancel is not None and cancel.force_rollback
    # What has begun goes on, also when whoever asked for it is not remembered, or asks for less by a second cancel.
    begun = deployment.status is DeploymentStatus.ROLLING_BACK
    if not auto_rollback and not forced and not begun:
        return RollbackDecision(stages=(), reason="autoRollback is off for this application")
    if not any(stage.was_started for stage in deployment.stages if not stage.is_rollback):
        return RollbackDecision(stages=(), reason="no stage had started, so there is nothing to undo")
    if not any(stage.is_rollback for stage in deployment.stages):
        return RollbackDecision(stages=(), reason="its plan has no rollback stages")
    wanted = stages_to_undo(deployment)
    if not wanted:
        return RollbackDecision(stages=(), reason="nothing that was started has anything to undo")
    left = tuple(stage for stage in wanted if not stage.status.is_terminal)
    if not left:
        return RollbackDecision(stages=(), reason="everything that was to be undone has been")
    why = "whoever cancelled asked for it" if forced else "autoRollback is on" if auto_rollback else "it has begun"
    return RollbackDecision(stages=left, reason=f"{why}; {len(left)} of {len(wanted)} rollback stages are left")


def stages_to_undo(deployment: Deployment) -> list[Stage]:
    """The rollback stages that a deployment needs, in their order, whether they have run or not."""
    planned = [stage for stage in deployment.stages if stage.is_rollback]
    return [stage for stage in in_rollback_order(planned) if _was_needed(stage, deployment)]


def in_rollback_order(stages: Sequence[Stage]) -> list[Stage]:
    """Each platform's rollback first, then the scripts'; within both, in pipeline order."""
    return sorted(stages, key=lambda stage: (stage.name == SCRIPT_RUN_ROLLBACK, stage.index))


def plan_v0_rollback(stages: Sequence[StageConfig], ids: Sequence[str], now: datetime) -> tuple[Stage, ...]:
    """The rollback of an application of v0, which no plugin plans: ROLLBACK, then each script that can be undone.

    `ids` are those of the stages, in the same order.
    """
    rollbacks = [_v0_stage("rollback", ROLLBACK, now)]
    for stage, id in zip(stages, ids, strict=True):
        if stage.undo or (stage.name == SCRIPT_RUN and stage.written.get("onRollback")):
            undo = _v0_stage(f"{id}-rollback", SCRIPT_RUN_ROLLBACK, now)
            rollbacks.append(msgspec.structs.replace(undo, index=stage.index, metadata={BASE_STAGE: id}))
    return tuple(rollbacks)


def plan_undo_scripts(stages: Sequence[StageConfig], ids: Sequence[str], now: datetime) -> tuple[Stage, ...]:
    """The rollback of the stages that a script undoes and whose own plugin knows nothing of that.

    `ids` are those of the stages, in the same order.
    """
    return tuple(
        Stage(
            id=f"{id}-rollback",
            name=SCRIPT_RUN_ROLLBACK,
            index=stage.index,
            rollback=True,
            metadata={BASE_STAGE: id},
            created_at=now,
            updated_at=now,
        )
        for stage, id in zip(stages, ids, strict=True)
        if stage.undo
    )


def _v0_stage(id: str, name: str, now: datetime) -> Stage:
    return Stage(id=id, name=name, rollback=True, predefined=True, visible=False, created_at=now, updated_at=now)


def saying_what_it_undoes(rollback: Stage, normal: Sequence[Stage]) -> Stage:
    """The rollback stage with words that tell a script's from the others'; a platform's has its own."""
    undone = stage_undone_by(rollback, normal)
    return rollback if undone is None else msgspec.structs.replace(rollback, desc=what_it_undoes(undone))


def _was_needed(rollback: Stage, deployment: Deployment) -> bool:
    """A platform always undoes; a script only what was started."""
    if rollback.name != SCRIPT_RUN_ROLLBACK:
        return True
    undone = stage_undone_by(rollback, deployment.stages)
    return undone is not None and undone.was_started
