"""For authors of plugins: a plugin is a class, its stages are methods, and everything else is done here.

    class Greet(Plugin):
        name = "greet"

        @stage("GREET", options=GreetOptions)
        async def greet(self, run: StageRun[GreetOptions]) -> None:
            run.log.info(f"hello {run.options.name}")

A stage that returns has succeeded, one that raises `StageFailed` has failed with that reason, and one that raises
`TryAgain` is tried again. `start` makes a process of it that Fairway's agent and PipeCD's piped v1 can both start;
`testing` runs it in a test over real gRPC.
"""

from fairway.config.settings import Settings
from fairway.config.stages import StageOptions
from fairway.git.retry import Retry
from fairway.model.live_state import Health, Resource
from fairway.model.stage import ManualOperation, StageStatus
from fairway.model.trigger import SyncStrategy
from fairway.sdk.plugin import (
    Live,
    LiveQuestion,
    PlannedStage,
    Plugin,
    PluginSettings,
    Preview,
    PreviewQuestion,
    Strategy,
    Target,
    rollback,
    stage,
    undo,
)
from fairway.sdk.stage_run import Files, Outcome, StageFailed, StageRun, TryAgain

__all__ = [
    "Files",
    "Health",
    "Live",
    "LiveQuestion",
    "ManualOperation",
    "Outcome",
    "PlannedStage",
    "Plugin",
    "PluginSettings",
    "Preview",
    "PreviewQuestion",
    "Resource",
    "Retry",
    "Settings",
    "StageFailed",
    "StageOptions",
    "StageRun",
    "StageStatus",
    "Strategy",
    "SyncStrategy",
    "Target",
    "TryAgain",
    "rollback",
    "stage",
    "undo",
]
