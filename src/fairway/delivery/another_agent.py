"""Scripts that another agent has started, such as PipeCD's: it is not known whether they still run.

PipeCD's agents and plugins do not end a script when they stop, nor when its stage is cancelled. A script of a Fairway
agent has ended before another Fairway agent may act, which its lease guarantees.
"""

from typing import Final

from fairway.model.deployment import STARTED_AT, Deployment
from fairway.model.stage import Stage, StageStatus
from fairway.model.undoing import SCRIPT_RUN, SCRIPT_RUN_ROLLBACK

#: The stages that run a script.
SCRIPTS: Final = frozenset({SCRIPT_RUN, SCRIPT_RUN_ROLLBACK, "CUSTOM_SYNC", "CUSTOM_SYNC_ROLLBACK"})
#: Stage metadata of a script that a Fairway agent starts, where no plugin note says so.
STARTED_BY: Final = "fairway/started-by"
#: What PipeCD's plugin writes in place of the name of a directory of journals.
_PIPECD_NOTE: Final = "_"


def script_of_another_agent(deployment: Deployment, executing: str) -> Stage | None:
    """The first stage whose script another agent has started and may still run.

    `executing` is the stage that this agent runs.
    """
    stages = [each for each in deployment.stages if each.id != executing and _may_run(each)]
    return next((each for each in stages if _is_of_another_agent(each, deployment)), None)


def _is_of_another_agent(stage: Stage, deployment: Deployment) -> bool:
    """Whether the stage runs a script and no Fairway agent has noted its start."""
    if stage.name not in SCRIPTS or STARTED_BY in stage.metadata:
        return False
    # Under PipeCD's agent, Fairway's plugin writes the same note.
    if STARTED_AT not in deployment.shared_metadata:
        return True
    key = f"{'undoing' if stage.is_rollback else 'started'}-{stage.index}"
    found = [notes[key] for notes in deployment.plugin_metadata.values() if key in notes]
    return all(note == _PIPECD_NOTE for note in found)


def _may_run(stage: Stage) -> bool:
    # PipeCD's agent cancels the stage when it stops, and leaves the script. Nothing runs after a cancelled rollback.
    cancelled = stage.status is StageStatus.CANCELLED and stage.was_started and not stage.is_rollback
    return cancelled or stage.status is StageStatus.RUNNING
