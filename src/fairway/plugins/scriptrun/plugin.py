"""The stages SCRIPT_RUN and SCRIPT_RUN_ROLLBACK.

A script runs at most once for each run of its stage, whatever happens to plugin and agent: it is started through a
`Journal`, and a stage that is asked for again takes up the journal it finds. Where it runs is noted with the deployment
before anything else (`claim`): a rollback runs only for a script that was started, which the `Ledger` of this place
knows, and a script that was started on another machine is not run here unless it says so (`onInterrupted`).
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from fairway.config.stages import ScriptRunOptions, StageOptions
from fairway.errors import FairwayError
from fairway.git.retry import Retry
from fairway.in_thread import in_thread
from fairway.model.log_block import LogSeverity
from fairway.model.stage import Stage, StageStatus
from fairway.model.undoing import stage_undone_by
from fairway.plugins.scriptrun.attempts import Attempt, in_words, notes, outcome, runs_again
from fairway.plugins.scriptrun.claim import claim, name_of
from fairway.plugins.scriptrun.disk import DiskFull, JournalError
from fairway.plugins.scriptrun.environment import FENCING_VARIABLE, script_environment
from fairway.plugins.scriptrun.guard import Guard
from fairway.plugins.scriptrun.journal import Journal, Order, was_started
from fairway.plugins.scriptrun.script import script_text
from fairway.plugins.scriptrun.telling import Place, Telling
from fairway.plugins.scriptrun.tree import Ended
from fairway.plugins.scriptrun.tree import in_words as processes_in_words
from fairway.rpc.plugin_api import PLACE_KEY
from fairway.sdk import Outcome, PlannedStage, Plugin, StageFailed, StageRun, stage, undo
from fairway.sdk.plugin import LeftStage, PluginSettings, Sort, StageSpec
from fairway.sdk.stage_log import StageLog

#: How long a script that is asked to end may take.
_GRACE_SECONDS = 10.0
_NOTHING_ENDED = Ended()
#: How long the output of a script that has ended may take to be stored; and where a process that is kept may hold it.
_STORED_SECONDS, _KEPT_SECONDS = 60.0, 1.0
_NOTHING_RUN = "nothing had been run"
#: Waits between two looks whether a full disk has room.
_ROOM = Retry(first_delay=0.2, longest_delay=5.0)


class GuardedScripts(Plugin):
    """What every plugin has that runs scripts: somebody who guards them, and ends those that were left."""

    def __init__(self, settings: PluginSettings) -> None:
        super().__init__(settings)
        self._guard = Guard(settings.state, settings.left_alone)

    async def close(self) -> None:
        await self._guard.close()

    async def end_left(self, left: LeftStage) -> None:
        await _end_scripts(self._guard, left)


class ScriptRun(GuardedScripts):
    """Runs scripts."""

    name = "scriptrun"

    def plan(self, spec: StageSpec, options: StageOptions, /) -> PlannedStage:
        if spec.sort is not Sort.UNDO:
            # Where the name cannot be written yet, the claim before the script tries again.
            with contextlib.suppress(JournalError):
                return PlannedStage(metadata={PLACE_KEY: name_of(self._guard.journals)})
        needless = spec.sort is Sort.UNDO and isinstance(options, ScriptRunOptions) and not options.rollback_commands
        return PlannedStage(wanted=not needless)

    @stage("SCRIPT_RUN", options=ScriptRunOptions)
    async def run_script(self, run: StageRun[ScriptRunOptions]) -> Outcome:
        """Run the commands."""
        script = Script(run=run, options=run.options, commands=run.options.commands)
        return await run_script(self._guard, script)

    @undo("SCRIPT_RUN_ROLLBACK", of="SCRIPT_RUN", options=ScriptRunOptions)
    async def undo_script(self, run: StageRun[ScriptRunOptions]) -> Outcome:
        """Run what undoes them, if they were started."""
        if not await self._was_started(run):
            run.log.info("The script was not started, so there is nothing to undo")
            return Outcome()
        script = Script(run=run, options=run.options, commands=run.options.rollback_commands)
        return await run_script(self._guard, script)

    async def _was_started(self, run: StageRun[ScriptRunOptions]) -> bool:
        """Whether the script that is to be undone was started, here or anywhere."""
        # Of a deployment that an agent of PipeCD's older generation has planned, the number does not tell which it is.
        undone = stage_undone_by(run.stage, run.deployment.stages)
        noted = await run.noted_by_plugin(_started(run.stage if undone is None else undone))
        if noted is None and undone is not None and PLACE_KEY not in undone.metadata:
            # Such an agent writes no notes either.
            return undone.was_started
        if noted is None and undone is None:
            raise StageFailed(
                f"the deployment of this request lists no stage {run.stage.index + 1} to undo, and no note says "
                "whether its script was started; nothing was undone"
            )
        if noted is None or undone is None or noted != name_of(self._guard.journals):
            return noted is not None
        # The note is older than the start; in between the stage may have been cancelled.
        return was_started(self._guard.journals, run.deployment.id, undone.id)


class Script(msgspec.Struct, frozen=True, kw_only=True):
    """Commands to run in a stage."""

    run: StageRun[Any]
    options: ScriptRunOptions
    commands: tuple[str, ...]
    #: A line for the log, before what the commands write.
    preface: str = ""


async def run_script(guard: Guard, script: Script) -> Outcome:
    """Run a script through journals that are guarded, or take up those that are there."""
    run, commands = script.run, len(script.commands)
    if not commands:
        run.log.info("There is nothing to run")
        return Outcome()
    attempts: list[Attempt] = []

    def attempt(number: int) -> Journal:
        return Journal(guard.journals / run.deployment.id / f"{run.stage.id}-{run.stage.retried_count}-{number}")

    try:
        while True:
            journal = attempt(len(attempts))
            if not attempts:
                key = _undoing(run.stage) if run.stage.is_rollback else _started(run.stage)
                await _with_room(run, partial(claim, guard.journals, run, key, journal))
                if await _may_not_begin(run, journal):
                    raise StageFailed("its time was over before the script was started")
            telling = Telling(journal, Place(run.stage, run.log, len(attempts)))
            attempts.append(await _attempt(guard, telling, script, tuple(attempts)))
            again = runs_again(attempts, script.options)
            if not again or await _may_not_begin(run, attempt(len(attempts))):
                ended = outcome(attempts, commands)
                well = ended.status is StageStatus.SUCCEEDED
                telling.close(ended.message, LogSeverity.SUCCESS if well else LogSeverity.ERROR)
                return ended
            sentence = f"Attempt {len(attempts)}: {in_words(attempts[-1], commands)}; it is run again"
            telling.close(sentence, LogSeverity.ERROR)
    except JournalError as error:
        raise StageFailed(str(error)) from error


async def _may_not_begin(run: StageRun[Any], journal: Journal) -> bool:
    """Whether the time is over of a script that was not begun, so that it never will be."""
    return run.overdue and await asyncio.to_thread(journal.forbid)


async def _end_scripts(guard: Guard, left: LeftStage) -> None:
    """End the scripts of a stage that an earlier process has started."""
    directories = (guard.journals / left.deployment_id).glob(f"{left.stage_id}-*")
    journals = [Journal(each) for each in sorted(directories, key=_number)]
    ended = _NOTHING_ENDED
    for journal in journals:
        seconds = left.grace_seconds or _GRACE_SECONDS
        if left.handed_over:
            await _hand_over(journal, seconds)
        else:
            ended = await journal.end(seconds)
            journal.remove_script()
    if left.end_of_log is not None:
        stage, log = left.end_of_log
        if not journals:
            log.error(f"{left.reason}: {_NOTHING_RUN}")
            return
        # Of those before the last all was told before that was begun.
        telling = Telling(journals[-1], Place(stage, log, _number(journals[-1].directory)[1]))
        await telling.all(telling.journal.ended())
        await _log_missing(log, telling.journal)
        _close_given_up(telling, left.reason, ended)


def _number(directory: Path) -> tuple[int, int]:
    """Of which run of its stage a journal is, and which attempt."""
    _, run, attempt = directory.name.rsplit("-", 2)
    return int(run), int(attempt)


def _close_given_up(telling: Telling, reason: str, ended: Ended, commands: int = 0) -> None:
    """Say at the end of the log why the script was ended, and how it ended then."""
    journal = telling.journal
    words = in_words(_ended(journal, ended), commands) if journal.came_to_life else _NOTHING_RUN
    telling.close(f"{reason or 'Stopped'}: {words}", LogSeverity.ERROR)


async def _attempt(guard: Guard, telling: Telling, script: Script, before: Sequence[Attempt]) -> Attempt:
    journal, run = telling.journal, script.run
    if not before and script.preface:
        telling.preface(script.preface)
    try:
        await guard.in_time()
        await _with_room(run, partial(journal.start, _order(guard, journal, script), guard.stand))
        rest = await telling.all(_end_of_all(guard, journal, script.options))
    except asyncio.CancelledError:
        if run.handed_over:
            await _hand_over(journal, run.stop_grace_seconds)
        elif run.stopped:
            ended = await journal.end(run.stop_grace_seconds or _GRACE_SECONDS)
            await telling.all(journal.ended())
            await _log_missing(run.log, journal)
            journal.remove_script()
            _close_given_up(telling, run.stop_reason, ended, len(script.commands))
            with contextlib.suppress(FairwayError):
                # The log says the same.
                await run.note(notes([*before, _ended(journal)]))
        raise
    await _log_missing(run.log, journal)
    if rest.names:
        run.log.info(f"Ended what the script left running: {processes_in_words(rest.names)}")
    journal.remove_script()
    await in_thread(journal.sync_end)
    return _ended(journal)


async def _log_missing(log: StageLog, journal: Journal) -> None:
    """Say which output could not be stored."""
    if (missing := await in_thread(journal.stream.missing)) is not None:
        log.error(str(missing))


async def _end_of_all(guard: Guard, journal: Journal, options: ScriptRunOptions) -> Ended:
    """Wait for the end of the script, and end what it left running unless that is kept."""
    await journal.ended()
    if journal.interruption:
        # After the end of the lease this is for the next holder to report, and the guard ends what is left.
        await guard.in_time()
    if journal.status is not None and options.background == "keep":
        journal.close_background()
        await journal.stream.stored(_KEPT_SECONDS)
        return _NOTHING_ENDED
    ended = await journal.end_rest(_GRACE_SECONDS if journal.status is not None else 0.0)
    await journal.stream.stored(_STORED_SECONDS)
    return ended


def _order(guard: Guard, journal: Journal, script: Script) -> Order:
    run, token = script.run, guard.fencing_token
    environment = {**script_environment(run.deployment, run.stage.is_rollback), **script.options.env}
    if token is not None:
        environment[FENCING_VARIABLE] = str(token)
    return Order(
        text=script_text(script.commands, environment, journal.step_file),
        shell=script.options.shell,
        directory=run.target.application_directory,
        lease=guard.lease,
        background=script.options.background,
    )


async def _hand_over(journal: Journal, grace_seconds: float) -> None:
    """End the script; the agent that goes on with the stage finds it interrupted, unless it had ended before."""
    if journal.status is None:
        journal.interrupt()
    await journal.end(grace_seconds)
    journal.remove_script()


async def _with_room(run: StageRun[Any], work: Callable[[], Awaitable[None]]) -> None:
    """Do something that needs room on the disk, as soon as there is some; the stage's timeout is the end of that."""
    failures = 0
    while True:
        try:
            return await work()
        except DiskFull as error:
            failures += 1
            if failures == 1:
                run.log.error(f"{error}; it goes on when there is room")
        await asyncio.sleep(_ROOM.delay(failures))


def _ended(journal: Journal, ended: Ended = _NOTHING_ENDED) -> Attempt:
    return Attempt(
        status=journal.status,
        seconds=journal.seconds,
        step=journal.step,
        interruption=journal.interruption,
        killed=ended.killed,
        killed_after=ended.after,
    )


def _started(stage: Stage) -> str:
    """As PipeCD's plugin calls it too: that a script was started."""
    return f"started-{stage.index}"


def _undoing(stage: Stage) -> str:
    return f"undoing-{stage.index}"
