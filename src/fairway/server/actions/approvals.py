"""Who may approve or skip a stage, and when: pure, and asked while the deployment is locked.

Whether enough people have approved is the stage's own to know, and is asked when its agent reports that it succeeded.
"""

from fairway.model.deployment import Deployment, UnknownStage
from fairway.model.stage import GROUP_OF_OPERATORS, ManualOperation, Stage, StageStatus
from fairway.server.callers import Caller
from fairway.server.status_codes import Forbidden, NotNow


def operable_stage(deployment: Deployment, stage_id: str, operation: ManualOperation, caller: Caller) -> Stage:
    """The running stage that the caller may perform the operation on; the reason why not is raised."""
    same = [stage for stage in deployment.stages if stage.id == stage_id]
    if not same:
        raise UnknownStage(deployment, stage_id)
    # v0 agents give several stages one id; the one that runs is meant.
    stage = next((stage for stage in same if stage.status is StageStatus.RUNNING), same[0])
    subject = f"stage {stage.id} ({stage.name}) of deployment {deployment.id}"
    if deployment.status.is_terminal or stage.status is not StageStatus.RUNNING:
        state = deployment.status if deployment.status.is_terminal else stage.status
        raise NotNow(f"{subject} cannot be {_DONE[operation]}: it is {state.value}; only a running stage can be")
    if stage.available_operation is not operation:
        raise NotNow(f"{subject} cannot be {_DONE[operation]}: what can be done to it is {_offered(stage)}")
    wanted = stage.authorized_operators
    if wanted and not _names(caller) & set(wanted):
        raise Forbidden(
            f"{caller.name} is not one of those who may do this to {subject} ({', '.join(wanted)}); ask one of them"
        )
    return stage


def _names(caller: Caller) -> set[str]:
    """As what the caller may be named. Nobody passes for a group by being called like one."""
    groups = {GROUP_OF_OPERATORS + group for group in caller.groups}
    return groups if caller.name.startswith(GROUP_OF_OPERATORS) else {caller.name, *groups}


_DONE = {ManualOperation.APPROVE: "approved", ManualOperation.SKIP: "skipped"}


def _offered(stage: Stage) -> str:
    return stage.available_operation.value if stage.available_operation in _DONE else "nothing"
