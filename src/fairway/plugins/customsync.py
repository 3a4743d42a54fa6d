"""CUSTOM_SYNC: deploys with a script of one's own. Deprecated: SCRIPT_RUN does it better, and can be undone."""

from fairway.config.stages import CustomSyncOptions, ScriptRunOptions
from fairway.plugins.scriptrun.plugin import GuardedScripts, Script, run_script
from fairway.sdk import Outcome, StageRun, stage

DEPRECATED = "CUSTOM_SYNC is deprecated and will go; write the same as SCRIPT_RUN, with `env` instead of `envs`"


class CustomSync(GuardedScripts):
    """Runs a script in place of a platform."""

    name = "customsync"

    @stage("CUSTOM_SYNC", options=CustomSyncOptions)
    async def sync(self, run: StageRun[CustomSyncOptions]) -> Outcome:
        """Run the script."""
        options = ScriptRunOptions(run=run.options.run, env=run.options.envs)
        script = Script(run=run, options=options, commands=options.commands, preface=DEPRECATED)
        return await run_script(self._guard, script)
