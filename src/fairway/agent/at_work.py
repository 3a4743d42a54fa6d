"""An agent at work: everything it watches and does, wired together.

Nothing here waits for a poll where a hint can come: hints and Git wake the loops, and each loop also looks by itself
from time to time, so that a hint that was lost costs time and nothing else.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from typing import Any, NamedTuple
from uuid import uuid4

import msgspec

from fairway.agent.applications import Registered
from fairway.agent.control_plane import ControlPlane
from fairway.agent.deploying import DeployingDesk, deploy, give_up
from fairway.agent.deployments import Deployments, Underway
from fairway.agent.handing_over import RunningStage
from fairway.agent.healing import Healing, HealingDesk
from fairway.agent.inbox import Inbox
from fairway.agent.launcher.upgrading import UpgradeDesk, Upgrader
from fairway.agent.lease import Lease
from fairway.agent.live_state import LiveStateDesk, LiveStates
from fairway.agent.opened_lately import OpenedLately
from fairway.agent.outbox import Outbox
from fairway.agent.plan_preview import Previewer
from fairway.agent.plugins.host_service import HostDesk
from fairway.agent.plugins.opening import open_plugins
from fairway.agent.plugins.output import NO_MASK
from fairway.agent.plugins.supervisor import Supervisor
from fairway.agent.plugins.tools import Tools
from fairway.agent.repositories import Repositories
from fairway.agent.server_watch import Listening, ServerWatch
from fairway.agent.settings import AgentSettings
from fairway.agent.status import AgentState, StatusDesk, Told, agent_state, keep_state
from fairway.agent.watching import Watcher, WatcherDesk
from fairway.agent.workspace import Workspace
from fairway.clock import Clock
from fairway.config.agent import AgentConfig
from fairway.model.stage import StageStatus

_LONGEST_SLEEP = 5.0


class Place(NamedTuple):
    """One agent process: what it was told, and what it has whether it is at work or not."""

    settings: AgentSettings
    clock: Clock
    server: ControlPlane
    lease: Lease
    #: Told when the agent is at work for the first time, or stands by.
    ready: Callable[[], None]
    started_at: datetime

    @property
    def told(self) -> Told:
        """What its status says in either case."""
        return Told(started_at=self.started_at, lease=self.lease.state)


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of an agent at work."""

    place: Place
    desk: DeployingDesk
    deployments: Deployments
    inbox: Inbox
    plugins: Supervisor
    watcher: Watcher
    live: LiveStates
    upgrader: Upgrader

    @property
    def running_stages(self) -> tuple[RunningStage, ...]:
        """Each stage that runs."""
        found = [self.deployments.find(each) for each in self.deployments.open_ids]
        return tuple(
            RunningStage(each.current.id, stage.id, stage.name)
            for each in found
            if each is not None
            for stage in each.current.stages
            if stage.status is StageStatus.RUNNING
        )

    async def run(self) -> None:
        """Take up what an earlier agent has left, then watch until cancelled."""
        watch = ServerWatch(self.place.server, self._listening())
        await self._begin(watch)
        self.place.ready()
        async with asyncio.TaskGroup() as group:
            group.create_task(watch.run(), name="server")
            group.create_task(self.desk.repositories.watch(self.watcher.look), name="repositories")
            group.create_task(self.live.run(), name="live state")
            group.create_task(keep_state(self.place.settings.data, self._state), name="status")
            group.create_task(self.upgrader.run(), name="version")

    async def _begin(self, watch: ServerWatch) -> None:
        # What could not be told comes first: the server's lists are only true after that.
        await self.desk.outbox.drained()
        await watch.introduce(self.place.settings.profile)
        # Before anything is begun that would be swept away.
        await self.desk.workspace.sweep(await watch.open_deployments())
        await watch.first_lists()

    def _listening(self) -> Listening:
        return Listening(
            registered=self.desk.registered,
            deployments=self.deployments,
            inbox=self.inbox,
            look=self.watcher.look_everywhere,
            found=self.watcher.found,
            nudge=self.desk.repositories.nudge,
            wish=self.upgrader.look_soon,
            lease=self.place.lease.ask_soon,
        )

    def _state(self) -> AgentState:
        return agent_state(
            StatusDesk(
                config=self.place.settings.config,
                told=self.place.told,
                plugins=self.plugins,
                deployments=self.deployments,
                repositories=self.desk.repositories,
                outbox=self.desk.outbox,
                upgrader=self.upgrader,
                unusable=self.watcher.unusable,
            )
        )


@asynccontextmanager
async def open_work(place: Place) -> AsyncIterator[Work]:
    """Everything that an agent at work has, while the block lasts."""
    settings, clock = place.settings, place.clock
    async with AsyncExitStack() as stack:
        # What brings deployments to their end needs what is made below; it is called only when all is there.
        deployments = Deployments(
            lambda underway: _deploy(work, underway), lambda underway, giving_up: give_up(desk, underway, giving_up)
        )
        basis = await _open_basis(place, deployments, stack)
        watcher = _watcher(basis, lambda: work.live.look_soon())  # noqa: PLW0108  # `work` is made below
        inbox = Inbox(
            deployments,
            basis.outbox,
            clock,
            watcher.sync,
            lambda command, asked: previewer.answer(command, asked),  # noqa: PLW0108  # `previewer` is made below
            place.server.deployment,
        )
        plugins = await stack.enter_async_context(
            open_plugins(settings.config.plugins, settings.data, _host(basis, inbox, lambda each: _changed(work, each)))
        )
        desk = _desk(basis, plugins, lambda deployment, stage: _stage_ended(work, deployment, stage))
        previewer = Previewer(desk, settings.config.agent_id)
        stack.push_async_callback(deployments.close)
        stack.push_async_callback(inbox.close)
        work = Work(
            place=place,
            desk=desk,
            deployments=deployments,
            inbox=inbox,
            plugins=plugins,
            watcher=watcher,
            live=_live(basis, desk, watcher),
            upgrader=_upgrader(place),
        )
        await stack.enter_async_context(_look_when_started(plugins, work.live))
        yield work


@asynccontextmanager
async def _look_when_started(plugins: Supervisor, live: LiveStates) -> AsyncIterator[None]:
    """Ask for live states again when a plugin has started: before that, its applications are unknown."""

    async def look(settled: Coroutine[Any, Any, None]) -> None:
        await settled
        live.look_soon()

    tasks = [asyncio.create_task(look(keeper.settled())) for keeper in plugins.keepers if not keeper.has_answered]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class _Basis(NamedTuple):
    """What everything else is made with."""

    place: Place
    registered: Registered
    deployments: Deployments
    outbox: Outbox
    repositories: Repositories
    #: Opens sealed values; None where the agent has no key for that.
    unsealer: OpenedLately | None


async def _open_basis(place: Place, deployments: Deployments, stack: AsyncExitStack) -> _Basis:
    data = place.settings.data
    outbox = Outbox.open(
        data / "outbox.db",
        place.server,
        gate=place.lease.may_begin,
        # What runs goes on while nothing new is begun; it would fail if nobody took what it says.
        log_gate=place.lease.at_work,
        # When another agent was at work since, it has told more than what is kept here.
        only_logs=not place.lease.unbroken,
    )
    repositories = Repositories.open(data / "mirrors", place.settings.config)
    return _Basis(
        place,
        Registered(_targets(place.settings.config)),
        deployments,
        await stack.enter_async_context(outbox),
        await stack.enter_async_context(repositories),
        OpenedLately(place.settings.unsealer) if place.settings.unsealer else None,
    )


def _targets(config: AgentConfig) -> dict[str, tuple[str, ...]]:
    """The deploy targets of each plugin that can be started."""
    usable = (each for each in config.plugins if each.deploy_targets and not each.unusable)
    return {each.name: tuple(target.name for target in each.deploy_targets) for each in usable}


def _watcher(basis: _Basis, looked: Callable[[], None]) -> Watcher:
    return Watcher(
        WatcherDesk(
            config=basis.place.settings.config,
            registered=basis.registered,
            repositories=basis.repositories,
            deployments=basis.deployments,
            outbox=basis.outbox,
            clock=basis.place.clock,
            new_id=lambda: str(uuid4()),
            find=basis.place.server.deployment,
            report_unusable=basis.place.server.report_unusable,
            looked=looked,
        )
    )


def _host(basis: _Basis, inbox: Inbox, look_soon: Callable[[str], None]) -> HostDesk:
    settings = basis.place.settings
    return HostDesk(
        deployments=basis.deployments,
        inbox=inbox,
        outbox=basis.outbox,
        control_plane=basis.place.server,
        tools=Tools(settings.data / "tools"),
        look_soon=look_soon,
        unsealer=basis.unsealer,
        mask=basis.unsealer.mask if basis.unsealer else NO_MASK,
    )


def _desk(
    basis: _Basis, plugins: Supervisor, stage_ended: Callable[[str, str], Coroutine[Any, Any, None]]
) -> DeployingDesk:
    settings = basis.place.settings
    return DeployingDesk(
        registered=basis.registered,
        outbox=basis.outbox,
        repositories=basis.repositories,
        workspace=Workspace(settings.data / "work", basis.unsealer, settings.data / "plugins"),
        plugins=plugins,
        clock=basis.place.clock,
        chain_turn=basis.place.server.chain_turn,
        stage_ended=stage_ended,
        find=basis.place.server.deployment,
        sleep_until=_sleeper(basis.place.clock),
        terms=settings.config.terms,
    )


def _live(basis: _Basis, desk: DeployingDesk, watcher: Watcher) -> LiveStates:
    healing = Healing(HealingDesk(registered=basis.registered, find=basis.place.server.deployment, deploy=watcher.heal))
    return LiveStates(
        LiveStateDesk(
            config=basis.place.settings.config,
            known=watcher.known,
            deployments=basis.deployments,
            repositories=basis.repositories,
            workspace=desk.workspace,
            plugins=desk.plugins,
            server=basis.place.server,
            clock=basis.place.clock,
            healing=healing,
        )
    )


def _upgrader(place: Place) -> Upgrader:
    settings, server = place.settings, place.server

    async def tell(version: str) -> None:
        await server.introduce(msgspec.structs.replace(settings.profile, version=version))

    return Upgrader(
        UpgradeDesk(
            versions=settings.data / "versions",
            link=settings.link,
            upgrade=settings.config.upgrade,
            ask=server.desired_version,
            tell=tell,
        )
    )


async def _deploy(work: Work, underway: Underway) -> None:
    await deploy(work.desk, underway)
    work.live.look_soon(underway.deployment.application_id)


def _changed(work: Work, application_id: str) -> None:
    work.live.look_soon(application_id)


async def _stage_ended(work: Work, deployment_id: str, stage_id: str) -> None:
    await work.inbox.stage_ended(deployment_id, stage_id)
    work.live.look_at_deployment(deployment_id)


def _sleeper(clock: Clock) -> Callable[[datetime], Coroutine[Any, Any, None]]:
    async def sleep_until(moment: datetime) -> None:
        # Never long, because a machine that slept or a clock that was set makes a long wait too long; whoever waits
        # looks at the time again.
        left = (moment - clock.now()).total_seconds()
        await asyncio.sleep(max(0.0, min(left, _LONGEST_SLEEP)))

    return sleep_until
