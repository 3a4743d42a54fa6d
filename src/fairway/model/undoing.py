"""Which stage a script undoes: the scripts of a rollback all have one name, and people want to know whose each is."""

from collections.abc import Iterable
from typing import Final

from fairway.model.stage import Stage

SCRIPT_RUN: Final = "SCRIPT_RUN"
SCRIPT_RUN_ROLLBACK: Final = "SCRIPT_RUN_ROLLBACK"
#: The metadata key in which a script's rollback names the stage it undoes; that of a v1 plugin has its index instead.
BASE_STAGE: Final = "baseStageID"


def stage_undone_by(stage: Stage, stages: Iterable[Stage]) -> Stage | None:
    """The one stage of a deployment that a rollback stage undoes; `None` for a platform's, which undoes everything."""
    if stage.name != SCRIPT_RUN_ROLLBACK:
        return None
    base = stage.metadata.get(BASE_STAGE)
    forward = [each for each in stages if not each.is_rollback]
    if base:
        return next((each for each in forward if each.id == base), None)
    return next((each for each in forward if each.name == SCRIPT_RUN and each.index == stage.index), None)


def what_it_undoes(undone: Stage) -> str:
    """Which stage is undone, in words, with those that its author gave it."""
    called = f"undoes {undone.name} (stage {undone.index + 1})"
    return f"{called}: {undone.desc}" if undone.desc else called
