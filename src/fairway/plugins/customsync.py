"""CUSTOM_SYNC: deploys with a script of one's own. Deprecated: SCRIPT_RUN does it better, and can be undone."""

from fairway.config.stages import CustomSyncOptions, ScriptRunOptions
from fairway.plugins.scriptrun.guard import Guard
from fairway.plugins.scriptrun.plugin import Script, end_scripts, run_script
from fairway.sdk import Outcome, Plugin, StageRun, stage
from fairway.sdk.plugin import LeftStage, PluginSettings

DEPRECATED = "CUSTOM_SYNC is deprecated and will go; write the same as SCRIPT_RUN, with `env` instead of `envs`"


class CustomSync(Plugin):
    """Runs a script in place of a platform."""

    name = "customsync"

    def __init__(self, settings: PluginSettings) -> None:
        super().__init__(settings)
        self._guard = Guard(settings.state, settings.left_alone)

    async def close(self) -> None:
        await self._guard.close()

    async def end_left(self, left: LeftStage) -> None:
        await end_scripts(self._guard, left)

    @stage("CUSTOM_SYNC", options=CustomSyncOptions)
    async def sync(self, run: StageRun[CustomSyncOptions]) -> Outcome:
        """Run the script."""
        options = ScriptRunOptions(run=run.options.run, env=run.options.envs)
        script = Script(run=run, options=options, commands=options.commands, preface=DEPRECATED)
        return await run_script(self._guard, script)
