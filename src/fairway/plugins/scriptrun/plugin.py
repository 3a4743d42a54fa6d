"""The stages SCRIPT_RUN and SCRIPT_RUN_ROLLBACK.

A script runs at most once for each run of its stage, whatever happens to plugin and agent: it is started through a
`Journal`, and a stage that is asked for again takes up the journal it finds. A rollback runs only for a script that was
started, which is noted with the deployment before anything else.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fairway.config.stages import ScriptRunOptions, StageOptions
from fairway.plugins.scriptrun.attempts import Attempt, in_words, outcome, runs_again
from fairway.plugins.scriptrun.environment import script_environment
from fairway.plugins.scriptrun.journal import Journal, Order
from fairway.plugins.scriptrun.script import script_text
from fairway.plugins.scriptrun.telling import Telling
from fairway.sdk import Outcome, PlannedStage, Plugin, StageRun, stage, undo
from fairway.sdk.plugin import Sort, StageSpec

#: How long a script that is asked to end may take.
_GRACE_SECONDS = 10.0


class ScriptRun(Plugin):
    """Runs scripts."""

    name = "scriptrun"

    def plan(self, spec: StageSpec, options: StageOptions, /) -> PlannedStage:
        needless = spec.sort is Sort.UNDO and isinstance(options, ScriptRunOptions) and not options.rollback_commands
        return PlannedStage(wanted=not needless)

    @stage("SCRIPT_RUN", options=ScriptRunOptions)
    async def run_script(self, run: StageRun[ScriptRunOptions]) -> Outcome:
        """Run the commands."""
        await run.note_for_plugin({_started(run): "_"})
        return await run_commands(self.settings.state, run, run.options, run.options.commands)

    @undo("SCRIPT_RUN_ROLLBACK", of="SCRIPT_RUN", options=ScriptRunOptions)
    async def undo_script(self, run: StageRun[ScriptRunOptions]) -> Outcome:
        """Run what undoes them, if they were started."""
        if await run.noted_by_plugin(_started(run)) is None:
            run.log.info("The script was not started, so there is nothing to undo")
            return Outcome()
        return await run_commands(self.settings.state, run, run.options, run.options.rollback_commands)


async def run_commands(state: Path, run: StageRun[Any], options: ScriptRunOptions, commands: Sequence[str]) -> Outcome:
    """Run commands through journals below `state`, or take up those that are there."""
    if not commands:
        run.log.info("There is nothing to run")
        return Outcome()
    attempts: list[Attempt] = []
    while True:
        folder = state / run.deployment.id / f"{run.stage.id}-{run.stage.retried_count}-{len(attempts)}"
        telling = Telling(Journal(folder), run, len(attempts))
        attempts.append(await _attempt(telling, options, commands))
        if not runs_again(attempts, options):
            return outcome(attempts, len(commands))
        await telling.close(f"Attempt {len(attempts)}: {in_words(attempts[-1], len(commands))}; it is run again")


async def _attempt(telling: Telling, options: ScriptRunOptions, commands: Sequence[str]) -> Attempt:
    journal, run = telling.journal, telling.run
    environment = {**script_environment(run.deployment, run.stage.is_rollback), **options.env}
    text = script_text(commands, environment, journal.step_file)
    try:
        await journal.start(Order(text=text, shell=options.shell, directory=run.target.application_directory))
        await telling.all()
    except asyncio.CancelledError:
        if run.stopped:
            await journal.end(_GRACE_SECONDS)
            await telling.all()
            journal.remove_script()
        raise
    journal.end_leftovers()
    journal.remove_script()
    return Attempt(status=journal.status, seconds=journal.seconds, step=journal.step)


def _started(run: StageRun[ScriptRunOptions]) -> str:
    return f"started-{run.stage.index}"
