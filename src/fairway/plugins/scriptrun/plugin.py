"""The stages SCRIPT_RUN and SCRIPT_RUN_ROLLBACK.

A script runs at most once for each run of its stage, whatever happens to plugin and agent: it is started through a
`Journal`, and a stage that is asked for again takes up the journal it finds. A rollback runs only for a script that was
started, which is noted with the deployment before anything else.
"""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fairway.config.stages import ScriptRunOptions, StageOptions
from fairway.model.log_block import LogBlock, LogSeverity
from fairway.model.stage import StageStatus
from fairway.plugins.scriptrun.environment import script_environment
from fairway.plugins.scriptrun.journal import Journal, Order, Told
from fairway.plugins.scriptrun.script import script_text
from fairway.sdk import Outcome, PlannedStage, Plugin, StageFailed, StageRun, stage, undo
from fairway.sdk.plugin import Sort, StageSpec

#: How much output is sent as one piece, and how long a line may grow before it is cut.
_PIECE_BYTES = 256 * 1024
#: How long a script that is asked to end may take.
_GRACE_SECONDS = 10.0
#: How often the output is looked at: at first, and when nothing has come for a while.
_EAGER_SECONDS = 0.02
_CALM_SECONDS = 0.25
#: Block numbers of a script: the stage's start in microseconds, then bytes of output.
_MICROSECONDS = 1_000_000


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
    """Run commands through a journal below `state`, or take up the one that is there."""
    if not commands:
        run.log.info("There is nothing to run")
        return Outcome()
    journal = Journal(state / run.deployment.id / f"{run.stage.id}-{run.stage.retried_count}")
    try:
        environment = {**script_environment(run.deployment, run.stage.is_rollback), **options.env}
        text = script_text(commands, environment, journal.step_file)
        await journal.start(Order(text=text, shell=options.shell, directory=run.target.application_directory))
        await _tell(journal, run)
    except asyncio.CancelledError:
        if run.stopped:
            await journal.end(_GRACE_SECONDS)
            await _tell(journal, run)
        raise
    return _outcome(journal, commands)


def _started(run: StageRun[ScriptRunOptions]) -> str:
    return f"started-{run.stage.index}"


def _outcome(journal: Journal, commands: Sequence[str]) -> Outcome:
    status = journal.status
    if status == 0:
        return Outcome()
    which = f"command {journal.step} of {len(commands)} failed" if len(commands) > 1 and journal.step else "it failed"
    if status is None:
        raise StageFailed("the script was killed before it could end; whether its work was done is not known")
    if status > 128:
        raise StageFailed(f"{which}: ended by signal {status - 128}")
    return Outcome(StageStatus.FAILED, f"{which}: exit status {status}")


async def _tell(journal: Journal, run: StageRun[Any]) -> None:
    """Send the output as it comes, until the script has ended and all of it is safe."""
    ended = asyncio.create_task(journal.ended())
    pause = _EAGER_SECONDS
    try:
        while True:
            over = ended.done()
            if await _tell_more(journal, run, at_the_end=over):
                pause = _EAGER_SECONDS
            elif over:
                return
            else:
                await asyncio.wait({ended}, timeout=pause)
                pause = min(pause * 2, _CALM_SECONDS)
    finally:
        ended.cancel()


async def _tell_more(journal: Journal, run: StageRun[Any], at_the_end: bool) -> bool:
    """Send one piece; whether there was one."""
    told = journal.told()
    piece = journal.output(told.safe, _PIECE_BYTES)
    # What an earlier process was sending is cut where that one cut it, and has its time.
    again = told.sending > told.safe
    piece = piece[: told.sending - told.safe] if again else _whole_lines(piece, at_the_end)
    if not piece:
        return False
    at = told.at if again else int(run.now().timestamp())
    end = told.safe + len(piece)
    journal.telling(Told(told.safe, end, at))
    base = int(run.stage.created_at.timestamp()) * _MICROSECONDS
    block = LogBlock(
        index=base + told.safe,
        log=piece.decode("utf-8", "replace").removesuffix("\n"),
        created_at=datetime.fromtimestamp(at, UTC),
        severity=LogSeverity.INFO,
    )
    await run.log.send(block)
    journal.telling(Told(end, end, at))
    return True


def _whole_lines(piece: bytes, at_the_end: bool) -> bytes:
    """The piece up to its last line end; all of it when no more will come, or when the line is too long to wait for."""
    end = piece.rfind(b"\n") + 1
    if end or not (at_the_end or len(piece) >= _PIECE_BYTES):
        return piece[:end]
    return piece
