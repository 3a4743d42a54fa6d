"""What a stage is told when it runs: its options with secrets opened, or those of the stage that it undoes."""

import msgspec

from fairway.config.application import ApplicationConfig, UndoScript
from fairway.delivery.skip import config_of
from fairway.in_thread import in_thread
from fairway.model.deployment import Deployment
from fairway.model.stage import Stage
from fairway.model.trigger import SyncStrategy
from fairway.model.undoing import stage_undone_by
from fairway.secrets.render import render_options
from fairway.secrets.renderer import RendererError
from fairway.secrets.secret import SecretError
from fairway.secrets.template import TemplateValues


async def options_of(
    stage: Stage, deployment: Deployment, config: ApplicationConfig, values: TemplateValues, *, lists: bool
) -> bytes:
    """As JSON: its own, or for a rollback those of the stage at the same place. `lists`: its plugin knows lists of
    commands."""
    if deployment.trigger.sync_strategy is SyncStrategy.QUICK_SYNC:
        return b""
    undo = undo_of(stage, deployment, config)
    if undo is None:
        written = next((each.written for each in config.stages if each.index == stage.index), {})
    else:
        # PipeCD's plugin takes one text only, and no options without `run`.
        script = list(undo.commands) if lists else "\n".join(["set -e", *undo.commands])
        written = {"run": ":", "onRollback": script, "env": undo.env}
    try:
        return msgspec.json.encode(await in_thread(render_options, written, values, stage.name))
    except RendererError as error:
        raise SecretError(str(error)) from error


def undo_of(stage: Stage, deployment: Deployment, config: ApplicationConfig) -> UndoScript | None:
    """The script of a rollback stage that undoes a stage whose own plugin has no script for that."""
    undone = stage_undone_by(stage, deployment.stages) if stage.is_rollback else None
    settings = config_of(undone, deployment, config) if undone is not None else None
    return None if settings is None else settings.undo
