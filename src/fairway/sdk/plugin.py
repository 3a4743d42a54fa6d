"""What a plugin is: a name, settings, and stages that are its methods.

Each decorated method becomes a stage that applications can name in their pipelines. `rollback` marks the one stage that
undoes whatever this plugin did in a deployment, `undo` a stage that undoes one other stage.
"""

import enum
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

import msgspec

from fairway.config.agent_file import DeployTarget as Target
from fairway.config.stages import StageOptions
from fairway.errors import UserError
from fairway.git.retry import Retry
from fairway.model.artifact import ArtifactVersion
from fairway.model.live_state import Resource
from fairway.model.stage import ManualOperation, Stage
from fairway.model.trigger import SyncStrategy
from fairway.sdk.stage_log import StageLog
from fairway.sdk.stage_run import Files, Outcome, StageRun

__all__ = [
    "Live",
    "LiveQuestion",
    "PlannedStage",
    "Plugin",
    "PluginSettings",
    "Preview",
    "PreviewQuestion",
    "StageSpec",
    "Strategy",
    "Target",
    "rollback",
    "stage",
    "undo",
]

O = TypeVar("O", bound=StageOptions)  # noqa: E741  # options; there is no better single letter

T = TypeVar("T")

RunStage = Callable[[Any, StageRun[Any]], Awaitable[Outcome | None]]
F = TypeVar("F", bound=RunStage)


class Sort(enum.Enum):
    """What a stage is there for."""

    #: Users write it.
    FORWARD = "forward"
    #: Undoes all that the plugin did in a deployment.
    ROLLBACK = "rollback"
    #: Undoes one stage.
    UNDO = "undo"


class StageSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One stage that a plugin serves."""

    name: str
    method: str
    options: type[StageOptions]
    sort: Sort = Sort.FORWARD
    #: For UNDO: the stage that is undone.
    undoes: str = ""
    #: Whether the stage is what a quick sync consists of.
    quick_sync: bool = False


class PlannedStage(msgspec.Struct, frozen=True, kw_only=True):
    """What a plugin says about a stage before it runs."""

    operation: ManualOperation = ManualOperation.NONE
    #: Who may do the operation; empty means everybody who may act on the application.
    operators: tuple[str, ...] = ()
    metadata: Mapping[str, str] = {}
    #: False: an `undo` that is not needed, because there would be nothing to do.
    wanted: bool = True


class Strategy(msgspec.Struct, frozen=True):
    """Whether a change deserves the pipeline, in the plugin's opinion."""

    strategy: SyncStrategy
    #: Why, in words.
    summary: str = ""


class Shared:
    """What the plugins of one process have in common, such as connections: made by the first of them that asks."""

    def __init__(self) -> None:
        self._made: dict[type, Any] = {}

    def get(self, kind: type[T]) -> T:
        """The one of this kind."""
        if kind not in self._made:
            self._made[kind] = kind()
        made: T = self._made[kind]
        return made


class PluginSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What the agent's file says about a plugin."""

    name: str
    config: Mapping[str, Any] = {}
    targets: tuple[Target, ...] = ()
    #: Where the plugin may store files that outlive its process. The agent removes `DEPLOYMENT_ID` and
    #: `*/DEPLOYMENT_ID` below it when that deployment has ended.
    state: Path
    #: A file with the deadlines and the fencing token of the agent's lease (`sdk/lease_file`). None without a lease.
    left_alone: Path | None = None
    #: What it has in common with other plugins of its process.
    shared: Shared = msgspec.field(default_factory=Shared)

    def lost(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those of these deploy targets that the plugin has not."""
        known = {each.name for each in self.targets}
        return tuple(each for each in names if each not in known)


class LiveQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """Of which application an agent wants to know what runs."""

    application_id: str
    application_name: str
    #: What Git says at the newest commit, to compare with.
    files: Files
    #: Whether a deployment of the application is under way; None where the agent does not say.
    deployment_under_way: bool | None = None
    targets: tuple[Target, ...] = ()
    #: The names of those that are the application's, and not in the agent's file any more.
    lost_targets: tuple[str, ...] = ()


class Live(msgspec.Struct, frozen=True, kw_only=True):
    """What runs of an application."""

    resources: tuple[Resource, ...] = ()
    #: How it differs from what Git says, a sentence for each difference, the most important first; nothing when it is
    #: the same. None where the plugin does not compare.
    drift: tuple[str, ...] | None = None
    #: Whether deploying takes away any of that difference. Where it does not, an application that asks for it
    #: (`trigger.onOutOfSync`) is not deployed for it.
    mendable: bool = True
    #: Why nobody can tell at the moment whether it differs, where that is so.
    problem: str = ""
    #: Whether the plugin calls `live_state_changed` whenever anything of this changes; then it is asked again only now
    #: and then. A change that it does not tell of may go unseen for many minutes.
    watched: bool = False


class PreviewQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """Of which change an agent wants to know what it would do."""

    application_id: str
    application_name: str
    #: The files as they would be.
    target: Files
    #: As they run; None when nothing does.
    running: Files | None
    targets: tuple[Target, ...] = ()


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    """What a change would do to one deploy target."""

    #: Its name; empty for a plugin without deploy targets.
    deploy_target: str = ""
    #: In one line.
    summary: str
    changes: bool = True
    #: The change itself, such as a diff.
    details: str = ""
    #: How to colour the details.
    language: str = "diff"


class HostAgent(Protocol):
    """The agent, as a plugin sees it that is not in a stage."""

    async def install_tool(self, name: str, version: str, script: str) -> Path: ...
    async def live_state_changed(self, application_ids: Sequence[str]) -> bool: ...
    async def application_object(self, application_id: str, key: str) -> bytes | None: ...


class EndOfLog(NamedTuple):
    """The log of a stage that nobody goes on with; it is closed afterwards."""

    stage: Stage
    log: StageLog


class LeftStage(msgspec.Struct, frozen=True, kw_only=True):
    """A stage that this process does not run, though an earlier one may have."""

    deployment_id: str
    stage_id: str
    #: Why it is to end.
    reason: str = ""
    #: How long what it has started may take to end by itself; 0: as the plugin thinks right.
    grace_seconds: float = 0.0
    #: Whether somebody else goes on with it, so that it is interrupted and not cancelled.
    handed_over: bool = False
    #: The end of its log is to be written here, by who would have gone on with it; None where somebody else does that.
    end_of_log: EndOfLog | None = None


class NoAgent(UserError):
    """A plugin that nobody serves has no agent to ask."""


class Plugin:
    """The base of every plugin. Override what the plugin has an opinion on."""

    #: How applications and agents name it, unless the agent's file gives it another name.
    name: ClassVar[str] = ""
    #: The stages of the class, by name; filled from the decorators.
    stages: ClassVar[Mapping[str, StageSpec]] = {}
    #: How often and how patiently a stage is tried again that raises `TryAgain`, or another error that says so.
    retry: ClassVar[Retry] = Retry(attempts=5, first_delay=1.0, longest_delay=30.0)

    def __init_subclass__(cls) -> None:
        own = (getattr(member, _SPEC, None) for member in vars(cls).values())
        cls.stages = {**cls.stages, **{spec.name: spec for spec in own if spec is not None}}

    def __init__(self, settings: PluginSettings) -> None:
        self.settings = settings
        self._agent: HostAgent | None = None

    def meet(self, agent: HostAgent) -> None:
        """Know the agent that the plugin is served to."""
        self._agent = agent

    async def install_tool(self, name: str, version: str, script: str) -> Path:
        """Where a command-line tool is; as `StageRun.install_tool`, for what is asked outside of stages."""
        if self._agent is None:
            raise NoAgent(f"{name} {version} cannot be installed: the plugin {self.settings.name} has no agent")
        return await self._agent.install_tool(name, version, script)

    async def live_state_changed(self, application_ids: Sequence[str]) -> bool:
        """Tell the agent that what runs of these applications has changed, so that it asks before its time.

        False for an agent that does not want to be told.
        """
        return self._agent is not None and await self._agent.live_state_changed(application_ids)

    async def application_object(self, application_id: str, key: str) -> bytes | None:
        """As `StageRun.get_object`, for what is asked outside of stages."""
        return None if self._agent is None else await self._agent.application_object(application_id, key)

    async def close(self) -> None:
        """The process is about to end."""

    async def end_left(self, left: LeftStage) -> None:
        """End what a stage has started that goes on by itself, though the process that ran the stage is gone: the stage
        is given up and will not be asked for again. What it has to say of that goes to the end of its log."""
        if left.end_of_log is not None:
            left.end_of_log.log.error(left.reason)

    async def versions(self, target: Files) -> tuple[ArtifactVersion, ...]:
        """What the commit would bring; nothing when the plugin cannot tell."""
        return ()

    async def strategy(self, target: Files, running: Files | None) -> Strategy | None:
        """Whether the change deserves the pipeline; None without an opinion."""
        return None

    async def live_state(self, question: LiveQuestion) -> Live:
        """What runs of an application; a plugin that does not override this is not asked."""
        # Never reached: the service is offered only by a plugin that overrides this.
        raise NotImplementedError

    async def plan_preview(self, question: PreviewQuestion) -> tuple[Preview, ...]:
        """What a change would do to each deploy target; a plugin that does not override this is not asked."""
        # Never reached: the service is offered only by a plugin that overrides this.
        raise NotImplementedError

    def plan(self, spec: StageSpec, options: StageOptions, /) -> PlannedStage:
        """What is known of a stage before it runs."""
        return PlannedStage()


_SPEC = "__fairway_stage__"


def stage(name: str, *, options: type[StageOptions] = StageOptions, quick_sync: bool = False) -> Callable[[F], F]:
    """Serve a stage that applications can write in their pipelines."""
    return _marked(lambda method: StageSpec(name=name, method=method, options=options, quick_sync=quick_sync))


def rollback(name: str, *, options: type[StageOptions] = StageOptions) -> Callable[[F], F]:
    """Serve the stage that undoes everything that this plugin did in a deployment."""
    return _marked(lambda method: StageSpec(name=name, method=method, options=options, sort=Sort.ROLLBACK))


def undo(name: str, *, of: str, options: type[StageOptions] = StageOptions) -> Callable[[F], F]:
    """Serve a stage that undoes one other stage; it gets that stage's options."""
    return _marked(lambda method: StageSpec(name=name, method=method, options=options, sort=Sort.UNDO, undoes=of))


def _marked(spec: Callable[[str], StageSpec]) -> Callable[[F], F]:
    def mark(method: F) -> F:
        setattr(method, _SPEC, spec(method.__name__))
        return method

    return mark
