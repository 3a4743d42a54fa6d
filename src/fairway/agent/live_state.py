"""What runs, and whether it is what Git says: asked of the plugins of every application, told to the server.

Every application is asked about once a minute, and at once when its plugin says so, when a deployment of it has come
further or its repository has moved; whoever is asked about at once does not wait for the others. The server is told
when something has changed, and now and then all the same. Plugins that cannot look are passed over; one that fails
leaves its part unknown and does not hide what the others see.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Protocol

import msgspec
import structlog

from fairway.agent import reports
from fairway.agent.applications import KnownApplication
from fairway.agent.control_plane import ServerAway, ServerRefused
from fairway.agent.deployments import Deployments
from fairway.agent.planning import Plugins
from fairway.agent.plugins.client import LiveAnswer, PluginGone, PluginRefused
from fairway.agent.reports import Report
from fairway.agent.repositories import Repositories
from fairway.agent.workspace import Source, Wanted, Workspace
from fairway.clock import Clock
from fairway.config.agent import AgentConfig
from fairway.errors import FairwayError
from fairway.model.application import SyncState, SyncStatus
from fairway.model.live_state import Health, LiveState, LiveStateVersion, Resource

_log = structlog.get_logger()

#: How often all applications are asked about, and how often the server is told what it knows.
ASK_SECONDS = 60.0
REFRESH = timedelta(minutes=10)
#: How many applications are asked about at the same time.
_SIDE_BY_SIDE = 4
#: Of several states the first of these is that of the whole; the wire's order of importance.
_IMPORTANCE = (
    SyncStatus.DEPLOYING,
    SyncStatus.INVALID_CONFIG,
    SyncStatus.OUT_OF_SYNC,
    SyncStatus.UNKNOWN,
    SyncStatus.SYNCED,
)


class Server(Protocol):
    """Who is told."""

    async def send(self, report: Report) -> None:
        """Tell the server now; ServerAway when it is not there."""
        ...


class LiveStateDesk(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked with."""

    config: AgentConfig
    #: The registered applications as they were last seen in Git.
    known: Callable[[], Iterable[KnownApplication]]
    deployments: Deployments
    repositories: Repositories
    workspace: Workspace
    plugins: Plugins
    server: Server
    clock: Clock
    #: Told of each application of which something else runs than Git says, at each look.
    heal: Callable[[KnownApplication, datetime], Awaitable[None]]


class LiveStates:
    """Asks and tells. It belongs to one event loop."""

    def __init__(self, desk: LiveStateDesk, ask_seconds: float = ASK_SECONDS) -> None:
        self._desk = desk
        self._ask_seconds = ask_seconds
        self._woken = asyncio.Event()
        #: Applications that are to be asked about soon; None stands for all.
        self._soon: set[str | None] = set()
        self._told: dict[str, _Told] = {}
        #: Applications that are being asked about, and whether they are to be asked about once more.
        self._looking: dict[str, bool] = {}
        #: Application → the tree that was made for it alone.
        self._sources: dict[str, Source] = {}

    def look_soon(self, application_id: str | None = None) -> None:
        """Ask soon about one application, or about all."""
        self._soon.add(application_id)
        self._woken.set()

    def look_at_deployment(self, deployment_id: str) -> None:
        """Ask soon about the application of a deployment that has come further."""
        underway = self._desk.deployments.find(deployment_id)
        if underway is not None:
            self.look_soon(underway.deployment.application_id)

    async def run(self) -> None:
        """Ask until cancelled."""
        hurried, others = asyncio.Semaphore(_SIDE_BY_SIDE), asyncio.Semaphore(_SIDE_BY_SIDE)
        async with asyncio.TaskGroup() as group:
            while True:
                try:
                    async with asyncio.timeout(self._ask_seconds):
                        await self._woken.wait()
                except TimeoutError:
                    self._soon.add(None)
                self._woken.clear()
                soon, self._soon = self._soon, set()
                for known in self._desk.known():
                    named = known.application.id in soon
                    # Where no platform is named, nobody can be asked; there may be thousands of those.
                    if (named or None in soon) and known.config is not None and known.config.plugins:
                        self._begin(group, known, hurried if named else others)

    def _begin(self, group: asyncio.TaskGroup, known: KnownApplication, turns: asyncio.Semaphore) -> None:
        application_id = known.application.id
        if application_id in self._looking:
            self._looking[application_id] = True
            return
        self._looking[application_id] = False
        group.create_task(self._look_in_turn(known, turns))

    async def _look_in_turn(self, known: KnownApplication, turns: asyncio.Semaphore) -> None:
        async with turns:
            # What changes from here on is not in the answer for certain.
            self._looking[known.application.id] = False
            try:
                await self._look(known)
            except FairwayError as error:
                _log.warning("what runs is not known", application=known.application.name, reason=str(error))
        if self._looking.pop(known.application.id):
            self.look_soon(known.application.id)

    async def _look(self, known: KnownApplication) -> None:
        if known.config is None:
            return  # That its file cannot be used has been told by whoever read it.
        looked_at = self._desk.clock.now()
        deployment_id = self._desk.deployments.under_way(known.application.id)
        answers = await self._answers(known, known.config.plugins, under_way=bool(deployment_id))
        if not answers:
            return
        now = self._desk.clock.now()
        sync = merged_sync([answer.sync for answer in answers], now)
        if deployment_id:
            short = "A deployment is under way"
            sync = SyncState(status=SyncStatus.DEPLOYING, at=now, short_reason=short, head_deployment_id=deployment_id)
        before = self._told.get(known.application.id)
        resources = with_times(
            [resource for answer in answers for resource in answer.resources],
            before.live.resources if before else (),
            now,
        )
        live = LiveState(
            application_id=known.application.id,
            agent_id=self._desk.config.agent_id,
            project_id=self._desk.config.project_id,
            version=LiveStateVersion(at=now),
            health=merged_health([resource.health for resource in resources]),
            resources=resources,
        )
        await self._tell(_Told(live, sync, now))
        if sync.status is SyncStatus.OUT_OF_SYNC:
            await self._desk.heal(known, looked_at)

    async def _answers(self, known: KnownApplication, plugins: Iterable[str], *, under_way: bool) -> list[LiveAnswer]:
        answers: list[LiveAnswer] = []
        for name in plugins:
            try:
                client = self._desk.plugins.client(name)
                source = await self._source(known)
                agent_id = self._desk.config.agent_id
                answer = await client.live_state(known.application, agent_id, source, under_way=under_way)
            except (PluginRefused, PluginGone) as error:
                now = self._desk.clock.now()
                unknown = SyncState(status=SyncStatus.UNKNOWN, at=now, short_reason=f"{name}: {error}")
                answer = LiveAnswer((), unknown)
            if answer is not None:
                answers.append(answer)
        return answers

    async def _source(self, known: KnownApplication) -> Source:
        """The files at the newest commit: those that all share, where nothing is opened in them."""
        application = known.application
        repository = self._desk.repositories.by_id[application.git_path.repository.id]
        if known.config is None:
            raise AssertionError("only applications with a usable file are asked about")
        wanted = Wanted(
            repository_id=repository.id,
            commit=known.commit,
            directory=application.git_path.path,
            file=known.file,
            config=known.config,
        )
        mirror, workspace = await repository.mirror(), self._desk.workspace
        if shared := await workspace.shared(mirror, wanted):
            return shared
        before = self._sources.get(application.id)
        if before is None or before.commit != known.commit:
            place = f"live-{application.id}"
            await workspace.remove(place)
            before = self._sources[application.id] = await workspace.source(place, "head", mirror, wanted)
        return before

    async def _tell(self, told: "_Told") -> None:
        application_id = told.live.application_id
        before = self._told.get(application_id)
        again = before is None or told.at - before.at >= REFRESH
        try:
            if again or before is None or _without_time(told.live) != _without_time(before.live):
                await self._desk.server.send(reports.live_state(told.live))
            if again or before is None or _same_time(told.sync) != _same_time(before.sync):
                await self._desk.server.send(reports.sync_state(application_id, told.sync))
        except (ServerAway, ServerRefused) as error:
            # The picture of the next look is newer than any that could be kept for a server that is away.
            _log.warning("what runs could not be told", application=application_id, reason=str(error))
            self._told.pop(application_id, None)
            return
        self._told[application_id] = told if again or before is None else _Told(told.live, told.sync, before.at)


class _Told(msgspec.Struct, frozen=True):
    live: LiveState
    sync: SyncState
    #: When all of it was told last.
    at: datetime


def merged_sync(states: Sequence[SyncState], now: datetime) -> SyncState:
    """The state of the whole: that of the part which needs a person's eye most, with everybody's reasons."""
    worst = min(states, key=lambda state: _IMPORTANCE.index(state.status))
    alike = [state for state in states if state.status is worst.status]
    reasons = [state.reason or state.short_reason for state in alike]
    return SyncState(
        status=worst.status,
        at=now,
        short_reason=worst.short_reason,
        reason="\n".join(reason for reason in reasons if reason),
    )


def merged_health(parts: Sequence[Health]) -> Health:
    """The health of the whole; nobody knows that of nothing."""
    if Health.UNHEALTHY in parts:
        return Health.UNHEALTHY
    return Health.UNKNOWN if not parts or Health.UNKNOWN in parts else Health.HEALTHY


def with_times(resources: Sequence[Resource], before: Iterable[Resource], now: datetime) -> tuple[Resource, ...]:
    """The resources with their times: where the plugin gives none, when each was first and when it last was otherwise.

    One that is as it was keeps its times, so that a plugin that has a new time in each answer does not make a change.
    """
    known = {(each.plugin_name, each.id): each for each in before}
    timed = []
    for resource in resources:
        old = known.get((resource.plugin_name, resource.id))
        if old is not None and _timeless(old) == _timeless(resource):
            timed.append(old)
            continue
        created = resource.created_at or (old.created_at if old else None) or now
        updated = resource.updated_at or now
        timed.append(msgspec.structs.replace(resource, created_at=created, updated_at=updated))
    return tuple(timed)


def _timeless(resource: Resource) -> Resource:
    return msgspec.structs.replace(resource, created_at=None, updated_at=None)


def _without_time(live: LiveState) -> LiveState:
    return msgspec.structs.replace(live, version=_NEVER)


def _same_time(state: SyncState) -> SyncState:
    return msgspec.structs.replace(state, at=_NEVER.at)


_NEVER = LiveStateVersion(at=datetime.fromtimestamp(0).astimezone())
