"""What runs, and whether it is what Git says: asked of the plugins of every application, told to the server.

An application is asked about when its plugin says so, when a deployment of it has come further or its repository has
moved; whoever is asked about for that does not wait for others. All whose plugins have not promised to tell of changes
are asked about once a minute, the others now and then (`live_rests`). The server is told when something has changed,
and now and then all the same. Plugins that cannot look are passed over; one that fails leaves its part unknown and does
not hide what the others see.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import NamedTuple, Protocol

import msgspec
import structlog

from fairway.agent import reports
from fairway.agent.applications import KnownApplication
from fairway.agent.control_plane import ServerAway, ServerRefused
from fairway.agent.deployments import Deployments
from fairway.agent.healing import Healing, heals
from fairway.agent.live_answers import drift_of, health_of, masked_answer, merged_sync, with_times
from fairway.agent.live_rests import ROUNDS, Rests
from fairway.agent.masking import Opened, opened_in
from fairway.agent.planning import Plugins, plugins_with_live_state
from fairway.agent.plugins.client import PluginClient, PluginGone, PluginRefused
from fairway.agent.plugins.live_answer import LiveAnswer
from fairway.agent.reports import Report
from fairway.agent.repositories import Repositories
from fairway.agent.workspace import Source, Wanted, Workspace
from fairway.clock import Clock
from fairway.config.agent import AgentConfig
from fairway.errors import FairwayError
from fairway.git.mirror import Mirror
from fairway.model.application import SyncState, SyncStatus
from fairway.model.live_state import LiveState, LiveStateVersion

_log = structlog.get_logger()

#: How often applications are asked about that do not rest, and how often the server is told what it knows.
ASK_SECONDS = 60.0
REFRESH = timedelta(minutes=10)
#: How many applications are asked about at the same time.
_SIDE_BY_SIDE = 4


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
    #: Told at each look whether what runs is what Git says.
    healing: Healing


class LiveStates:
    """Asks and tells. It belongs to one event loop."""

    def __init__(self, desk: LiveStateDesk, ask_seconds: float = ASK_SECONDS, rounds: int = ROUNDS) -> None:
        self._desk = desk
        self._ask_seconds = ask_seconds
        self._woken = asyncio.Event()
        #: Applications that are to be asked about soon; None stands for all.
        self._soon: set[str | None] = set()
        self._told: dict[str, _Told] = {}
        self._rests = Rests(desk.plugins.client, rounds)
        #: Applications that are being asked about, and whether they are to be asked about once more.
        self._looking: dict[str, bool] = {}
        #: Applications that are to be asked about when it is their turn.
        self._waiting: dict[str, _Waiting] = {}
        self._hurried, self._others = asyncio.Semaphore(_SIDE_BY_SIDE), asyncio.Semaphore(_SIDE_BY_SIDE)
        #: Application → the tree that was made for it alone, and what of.
        self._sources: dict[str, tuple[Wanted, Source]] = {}

    def look_soon(self, application_id: str | None = None) -> None:
        """Ask soon about one application, or about all of which something may have changed."""
        self._soon.add(application_id)
        self._woken.set()

    def look_at_deployment(self, deployment_id: str) -> None:
        """Ask soon about the application of a deployment that has come further."""
        underway = self._desk.deployments.find(deployment_id)
        if underway is not None:
            self.look_soon(underway.deployment.application_id)

    async def run(self) -> None:
        """Ask until cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                try:
                    async with asyncio.timeout(self._ask_seconds):
                        await self._woken.wait()
                except TimeoutError:
                    self._rests.end_some()
                    self._soon.add(None)
                self._woken.clear()
                soon, self._soon = self._soon, set()
                known = list(self._desk.known())
                for each in known:
                    if each.application.id in soon:
                        self._begin(group, each, self._hurried)
                    elif None in soon and not self._is_resting(each):
                        self._begin(group, each, self._others)
                if None in soon:
                    await self._keep({each.application.id for each in known})

    def _is_resting(self, known: KnownApplication) -> bool:
        return self._rests.holds(known) and not self._desk.deployments.under_way(known.application.id)

    async def _keep(self, application_ids: Collection[str]) -> None:
        """Forget the applications that are not this agent's any more."""
        self._rests.keep(application_ids)
        self._told = {each: told for each, told in self._told.items() if each in application_ids}
        for gone in self._sources.keys() - application_ids:
            # Whoever just looks at it may have taken it out, while another one was removed.
            self._sources.pop(gone, None)
            await self._desk.workspace.remove(_place(gone))

    def _begin(self, group: asyncio.TaskGroup, known: KnownApplication, turns: asyncio.Semaphore) -> None:
        application_id = known.application.id
        if not self._plugins_of(known):
            # That a file cannot be used has been told by whoever read it, in place of what was told before. Where no
            # plugin of a platform is used, no plugin can be asked; there may be thousands of those.
            self._told.pop(application_id, None)
            return
        if application_id in self._looking:
            self._looking[application_id] = True
            return
        waiting = self._waiting.get(application_id)
        if waiting is not None and waiting.turns in (turns, self._hurried):
            self._waiting[application_id] = _Waiting(known, waiting.turns)
            return
        self._waiting[application_id] = _Waiting(known, turns)
        group.create_task(self._look_in_turn(application_id, turns))

    async def _look_in_turn(self, application_id: str, turns: asyncio.Semaphore) -> None:
        async with turns:
            waiting = self._waiting.get(application_id)
            if waiting is None or waiting.turns is not turns:
                return  # It became urgent meanwhile.
            del self._waiting[application_id]
            # What changes from here on is not in the answer for certain.
            self._looking[application_id] = False
            self._rests.end(application_id)
            try:
                await self._look(waiting.known)
            except FairwayError as error:
                _log.warning("what runs is not known", application=waiting.known.application.name, reason=str(error))
            except Exception:
                # One application's; the others, and this agent, go on.
                _log.exception("what runs is not known by a defect of this agent", application=application_id)
        if self._looking.pop(application_id):
            self.look_soon(application_id)

    async def _look(self, known: KnownApplication) -> None:
        looked_at = self._desk.clock.now()
        deployment_id = self._desk.deployments.under_way(known.application.id)
        answers = await self._answers(known, under_way=bool(deployment_id))
        may_rest = not deployment_id and all(each.watched for each in answers.said)
        if answers.said:
            picture = self._picture(known, answers.said, deployment_id)
            drift = drift_of(known, picture.sync, answers.said)
            if drift is not None and (remark := await self._desk.healing.remark(known, drift)):
                said = msgspec.structs.replace(picture.sync, short_reason=remark)
                picture = msgspec.structs.replace(picture, sync=said)
            may_rest &= await self._tell(picture)
            if drift is not None:
                # When it is deployed again depends on the time too.
                may_rest &= not heals(known)
                await self._desk.healing.heal(known, drift, looked_at)
            elif picture.sync.status is SyncStatus.SYNCED:
                self._desk.healing.note_synced(known)
        if may_rest:
            self._rests.begin(known, answers.asked)

    def _picture(self, known: KnownApplication, answers: Sequence[LiveAnswer], deployment_id: str) -> "_Told":
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
            health=health_of(answers),
            resources=resources,
        )
        return _Told(live, sync, now)

    async def _answers(self, known: KnownApplication, *, under_way: bool) -> "_Answers":
        found = _Answers()
        for name in self._plugins_of(known):
            opened = Opened()
            try:
                client = self._desk.plugins.client(name)
                agent_id = self._desk.config.agent_id
                async with self._source(known) as source:
                    opened = opened_in(source)
                    answer = await client.live_state(known.application, agent_id, source, under_way=under_way)
            except (PluginRefused, PluginGone) as error:
                now = self._desk.clock.now()
                unknown = SyncState(status=SyncStatus.UNKNOWN, at=now, short_reason=opened.masked(f"{name}: {error}"))
                found.said.append(LiveAnswer((), unknown))
                continue
            found.asked.append(client)
            if answer is not None:
                found.said.append(masked_answer(answer, opened))
        return found

    def _plugins_of(self, known: KnownApplication) -> tuple[str, ...]:
        """The plugins of an application that may know what runs; none while its file cannot be used."""
        if known.config is None:
            return ()
        return plugins_with_live_state(known.application, known.config, self._desk.plugins)

    @asynccontextmanager
    async def _source(self, known: KnownApplication) -> AsyncIterator[Source]:
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
        async with workspace.shared(mirror, wanted) as shared:
            yield shared or await self._own_source(application.id, mirror, wanted)

    async def _own_source(self, application_id: str, mirror: Mirror, wanted: Wanted) -> Source:
        # Whatever becomes of what follows, files that are gone are not known any more.
        known, source = self._sources.pop(application_id, (None, None))
        if source is None or known != wanted:
            place = _place(application_id)
            await self._desk.workspace.remove(place)
            source = await self._desk.workspace.source(place, "head", mirror, wanted)
        self._sources[application_id] = (wanted, source)
        return source

    async def _tell(self, told: "_Told") -> bool:
        """Tell the server what it does not know, and all of it now and then; whether it knows now."""
        application_id = told.live.application_id
        before = self._told.get(application_id)
        again = before is None or told.at - before.at >= REFRESH
        runs_otherwise = again or before is None or _without_time(told.live) != _without_time(before.live)
        is_otherwise = again or before is None or _same_time(told.sync) != _same_time(before.sync)
        if is_otherwise and not self._is_usable(application_id):
            # A commit came while it was asked about. That its file cannot be used has been told, and stays so.
            self._told.pop(application_id, None)
            return False
        try:
            if runs_otherwise:
                await self._desk.server.send(reports.live_state(told.live))
            if is_otherwise:
                await self._desk.server.send(reports.sync_state(application_id, told.sync))
        except (ServerAway, ServerRefused) as error:
            # The picture of the next look is newer than any that could be kept for a server that is away.
            _log.warning("what runs could not be told", application=application_id, reason=str(error))
            self._told.pop(application_id, None)
            return False
        self._told[application_id] = told if again or before is None else _Told(told.live, told.sync, before.at)
        return True

    def _is_usable(self, application_id: str) -> bool:
        return any(each.application.id == application_id and each.config is not None for each in self._desk.known())


class _Answers(msgspec.Struct):
    """What the plugins of an application have said."""

    #: Those that answered, also that they cannot tell.
    asked: list[PluginClient] = msgspec.field(default_factory=list)
    said: list[LiveAnswer] = msgspec.field(default_factory=list)


class _Waiting(NamedTuple):
    #: The application as it was known last.
    known: KnownApplication
    turns: asyncio.Semaphore


class _Told(msgspec.Struct, frozen=True):
    live: LiveState
    sync: SyncState
    #: When all of it was told last.
    at: datetime


def _place(application_id: str) -> str:
    """Where the tree of an application is that has one of its own."""
    return f"live-{application_id}"


def _without_time(live: LiveState) -> LiveState:
    return msgspec.structs.replace(live, version=_NEVER)


def _same_time(state: SyncState) -> SyncState:
    return msgspec.structs.replace(state, at=_NEVER.at)


_NEVER = LiveStateVersion(at=datetime.fromtimestamp(0).astimezone())
