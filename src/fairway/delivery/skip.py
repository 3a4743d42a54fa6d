"""Whether a stage is passed over because of its `skipOn`: the commit message starts so, or all changes are elsewhere.

Only stages that the user wrote can be skipped: never those of a quick sync, never those of a rollback, even
where they share an index with a stage that has `skipOn`.
"""

from fairway.config.application import ApplicationConfig, StageConfig
from fairway.delivery.paths import PathPatterns
from fairway.model.deployment import Deployment
from fairway.model.stage import Stage
from fairway.model.trigger import SyncStrategy


def config_of(stage: Stage, deployment: Deployment, config: ApplicationConfig) -> StageConfig | None:
    """What the application's file says of a stage; `None` for a stage that the user did not write."""
    if stage.predefined or deployment.trigger.sync_strategy is SyncStrategy.QUICK_SYNC:
        return None
    # The name tells a rollback stage, which shares its index, from the stage that it undoes.
    written = next((each for each in config.stages if each.index == stage.index), None)
    return written if written is not None and written.name == stage.name else None


def reason_to_skip(settings: StageConfig, message: str, changed_files: tuple[str, ...] | None) -> str:
    """Why the stage is passed over; empty when it is not.

    `changed_files` lie between the running commit and the one to deploy; `None` when nothing runs yet. Then, and
    when the two commits are the same, paths never skip: there is no change to judge.
    """
    for prefix in settings.skip_on.commit_message_prefixes:
        if message.startswith(prefix):
            return f'Skipped: the commit message starts with "{prefix}"'
    if settings.skip_on.paths and changed_files:
        patterns = PathPatterns(settings.skip_on.paths)
        if all(patterns.match(file) for file in changed_files):
            return f"Skipped: all changed files ({len(changed_files)}) match skipOn.paths"
    return ""
