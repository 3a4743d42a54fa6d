"""A stage while it runs: what it is told, and what it can ask and tell.

A stage ends early in two ways, and both reach it as `asyncio.CancelledError`. When somebody cancelled the deployment or
its time ran out, `stopped` is true and whatever the stage has started must end. When the agent went away, `stopped` is
false: work that can go on by itself may be left, because the agent will ask for the same stage again.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path
from typing import Generic, NamedTuple, Protocol, TypeVar

import msgspec

from fairway.config.agent_file import DeployTarget
from fairway.config.stages import StageOptions
from fairway.errors import FairwayError, TemporaryError, UserError
from fairway.model.command import Command
from fairway.model.deployment import Deployment
from fairway.model.limits import SENT_TARGET_TEXT, SENT_TEXT, cut, refuse_large_object
from fairway.model.notes import checked_notes
from fairway.model.registration import Registration
from fairway.model.stage import DISPLAY, TARGET, WAITS_FOR, Stage, StageStatus
from fairway.sdk.awaited import Awaited
from fairway.sdk.side_by_side import all_ended
from fairway.sdk.stage_log import StageLog
from fairway.secrets.secret import Secret

O = TypeVar("O", bound=StageOptions)  # noqa: E741  # options; there is no better single letter

_SUCCEEDED = "succeeded"


class StageFailed(UserError):
    """A stage that could not do its work; the message is the reason that people see."""


class TryAgain(TemporaryError):
    """A stage that could not do its work now; it is asked for again, from its beginning, some times."""


class Outcome(msgspec.Struct, frozen=True):
    """How a stage ended."""

    status: StageStatus = StageStatus.SUCCEEDED
    #: In words; may be empty.
    message: str = ""
    #: The same for programs: kept with the stage.
    notes: Mapping[str, str] = {}


class Files(msgspec.Struct, frozen=True, kw_only=True):
    """The files of an application at one commit, secrets opened."""

    application_directory: Path
    commit: str
    #: The application's file, as it was written.
    config_text: bytes
    config_filename: str
    #: What the repository's applications share.
    shared_directory: Path


class Agent(Protocol):
    """The agent, as a running stage sees it."""

    async def note_stage(self, metadata: Mapping[str, str]) -> None: ...
    async def stage_note(self, key: str) -> str | None: ...
    async def note_deployment(self, metadata: Mapping[str, str]) -> None: ...
    async def deployment_note(self, key: str) -> str | None: ...
    async def shared_note(self, key: str) -> str | None: ...
    async def put_object(self, key: str, value: bytes) -> None: ...
    async def get_object(self, key: str) -> bytes | None: ...
    async def find_application(self, application_id: str) -> Registration: ...
    async def open_secret(self, sealed: str) -> Secret: ...
    async def install_tool(self, name: str, version: str, script: str) -> Path: ...
    def commands(self) -> AsyncIterator[Command]: ...


class StageRun(Generic[O]):
    """One run of one stage."""

    def __init__(self, told: "Told", options: O, log: StageLog, agent: Agent) -> None:
        self.deployment: Deployment = told.deployment
        self.stage: Stage = told.stage
        self.target: Files = told.target
        #: What runs until now; None on a first deployment.
        self.running: Files | None = told.running
        self.targets: tuple[DeployTarget, ...] = told.targets
        #: The names of those that are the application's, and not in the agent's file any more.
        self.lost_targets: tuple[str, ...] = told.lost
        #: What stages of this plugin had kept with the deployment when this one was started; `noted_by_plugin` may know
        #: more.
        self.notes_at_start: Mapping[str, str] = told.notes
        #: Whether the stage's time ran out while no agent was there: what an earlier run of it has begun may have ended
        #: well, and then counts; nothing more should be begun, it would be stopped within a minute.
        self.overdue: bool = told.overdue
        self.options: O = options
        self.log = log
        #: Whether somebody ended the stage on purpose; the reason is in `stop_reason`.
        self.stopped = False
        self.stop_reason = ""
        #: How long what the stage has started may take to end by itself; 0: as the plugin thinks right.
        self.stop_grace_seconds = 0.0
        #: Whether somebody else goes on with the stage that was stopped, so that it is interrupted and not cancelled.
        self.handed_over = False
        self._agent = agent
        self._awaited = Awaited(agent.note_stage, told.stage.metadata.get(WAITS_FOR, ""))

    def now(self) -> datetime:
        """The time."""
        return self.log.clock.now()

    async def note(self, metadata: Mapping[str, str]) -> None:
        """Keep something with the stage, for a later run of it and for people to see. TooLarge when it exceeds a limit
        (`fairway.model.limits`)."""
        await self._agent.note_stage(checked_notes(metadata, SENT_TEXT))

    async def noted(self, key: str) -> str | None:
        """What was kept with the stage, perhaps before a restart."""
        return await self._agent.stage_note(key)

    async def show(self, text: str) -> None:
        """Show a text under the stage; a long one is cut."""
        await self.note({DISPLAY: text})

    def waits_for(self, text: str) -> None:
        """Say in words what the stage waits for from now on; nothing, when it goes on. People see it beside the stage
        while it runs, and in the reason should its time run out. It may be said as often as one likes: only changes
        are told, about one a second. Of several deploy targets each says its own."""
        self._awaited.say(text, self.log.subject)

    async def waits_no_more(self) -> None:
        """What the service calls when the stage has ended."""
        await self._awaited.close()

    async def note_for_plugin(self, metadata: Mapping[str, str]) -> None:
        """Keep something with the deployment, for other stages of this plugin. TooLarge when it exceeds a limit."""
        await self._agent.note_deployment(checked_notes(metadata))

    async def noted_by_plugin(self, key: str) -> str | None:
        """What a stage of this plugin has kept with the deployment."""
        return await self._agent.deployment_note(key)

    async def noted_for_all(self, key: str) -> str | None:
        """What the agent has kept with the deployment for every plugin."""
        return await self._agent.shared_note(key)

    async def put_object(self, key: str, value: bytes) -> None:
        """Keep bytes with the application, for later deployments. TooLarge when they exceed a limit."""
        refuse_large_object(key, value)
        await self._agent.put_object(key, value)

    async def get_object(self, key: str) -> bytes | None:
        """What was kept with the application."""
        return await self._agent.get_object(key)

    async def find_application(self, application_id: str) -> Registration:
        """Whether another application is registered, and what it is called; with PipeCD's agent nobody can tell."""
        return await self._agent.find_application(application_id)

    async def open_secret(self, sealed: str) -> Secret:
        """Open a value that was sealed for the agent; the stage's log never shows it. PipeCD's agent cannot."""
        return await self._agent.open_secret(sealed)

    async def install_tool(self, name: str, version: str, script: str) -> Path:
        """Where a command-line tool is, installed if need be by a Go template for /bin/sh with Name, Version, OutPath,
        TmpDir, Arch and Os."""
        return await self._agent.install_tool(name, version, script)

    async def on_each_target(self, work: Callable[[DeployTarget], Awaitable[str | None]]) -> None:
        """Do the work for each deploy target of the application, all at once, and keep how it went with each: in the
        log, under the stage, and in its metadata under `fairway/target/NAME`.

        Of several, each line that the work logs begins with the name of its target. What the work returns is told
        beside "succeeded". One that fails does not keep the others from their work; then the stage fails, or is tried
        again when all that failed may be. One that has succeeded is not done twice.
        """
        if not self.targets:
            raise StageFailed("the application names no deploy target of this plugin")
        results = await all_ended(self._on_target(each, work) for each in self.targets)
        words = {each.name: result.words for each, result in zip(self.targets, results, strict=True)}
        await self.note({DISPLAY: "\n".join(f"{name}: {said}" for name, said in words.items())})
        failed = {each.name: result.error for each, result in zip(self.targets, results, strict=True) if result.error}
        if failed:
            kind = TryAgain if all(error.retry for error in failed.values()) else StageFailed
            why = "; ".join(f"{name}: {cut(str(error), SENT_TARGET_TEXT)}" for name, error in failed.items())
            raise kind(f"{len(failed)} of {len(results)} deploy targets failed: {why}")

    async def _on_target(
        self, target: DeployTarget, work: Callable[[DeployTarget], Awaitable[str | None]]
    ) -> "_Result":
        key = f"{TARGET}{target.name}"
        before = await self.noted(key) or ""
        if before.startswith(_SUCCEEDED):
            return _Result(before)
        try:
            with self.log.about(target.name) if len(self.targets) > 1 else nullcontext():
                said = await work(target)
        except FairwayError as error:
            result = _Result(cut(f"failed: {error}", SENT_TARGET_TEXT), error)
            self.log.error(f"{target.name}: {error}")
        else:
            result = _Result(cut(f"{_SUCCEEDED}: {said}", SENT_TARGET_TEXT) if said else _SUCCEEDED)
            self.log.success(f"{target.name}: {result.words}")
        await self.note({key: result.words})
        return result

    def commands(self) -> AsyncIterator[Command]:
        """Approvals and skips of this stage as they come, those from before a restart too."""
        return self._agent.commands()


class _Result(NamedTuple):
    """How the work for one deploy target went."""

    words: str
    error: FairwayError | None = None


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What the agent says when it starts a stage."""

    deployment: Deployment
    stage: Stage
    target: Files
    running: Files | None
    targets: tuple[DeployTarget, ...]
    lost: tuple[str, ...] = ()
    #: What stages of this plugin have kept with the deployment.
    notes: Mapping[str, str]
    #: The stage's `with` as JSON; empty for a quick sync.
    config: bytes
    overdue: bool = False
