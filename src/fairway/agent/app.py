"""One agent: everything it watches, wired together, until it is told to stop.

Nothing here waits for a poll where a hint can come: hints and Git wake the loops, and each loop also looks by itself
from time to time, so that a hint that was lost costs time and nothing else. When the agent stops, what it was doing is
left as it is and taken up by whoever starts next.
"""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import msgspec
from grpc import aio

from fairway.agent.applications import Registered
from fairway.agent.control_plane import ControlPlane
from fairway.agent.deploying import DeployingDesk, deploy, give_up
from fairway.agent.deployments import Deployments, Underway
from fairway.agent.inbox import Inbox
from fairway.agent.launcher.link import Link
from fairway.agent.launcher.upgrading import UpgradeDesk, Upgrader, running_version
from fairway.agent.live_state import LiveStateDesk, LiveStates
from fairway.agent.outbox import Outbox
from fairway.agent.plugins.host_service import HostDesk
from fairway.agent.plugins.opening import open_plugins
from fairway.agent.plugins.tools import Tools
from fairway.agent.repositories import Repositories
from fairway.agent.server_watch import Listening, ServerWatch
from fairway.agent.status import StatusDesk, keep_state
from fairway.agent.watching import Watcher, WatcherDesk
from fairway.agent.workspace import Workspace
from fairway.clock import Clock
from fairway.config.agent import AgentConfig
from fairway.git.remote import redacted
from fairway.model.agent import AgentPlugin, AgentProfile, SecretEncryption
from fairway.model.application import Repository
from fairway.secrets.render import Unsealer

_LONGEST_SLEEP = 5.0


class AgentSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent is told when it starts."""

    config: AgentConfig
    #: Where mirrors, trees and unsent reports are kept.
    data: Path
    channel: aio.Channel
    #: What the agent shows the server: project, agent and key.
    token: str
    #: Opens sealed values; None where the agent has no key for that.
    unsealer: Unsealer | None = None
    secret_encryption: SecretEncryption = SecretEncryption()
    #: The agent's file with its secrets masked, for the server to show.
    masked_config: str = ""
    #: To the launcher that keeps this agent, if one does.
    link: Link = Link()


async def run_agent(settings: AgentSettings, clock: Clock, ready: Callable[[], None], stop: asyncio.Event) -> None:
    """Run until `stop` is set or somebody asks for a restart; `ready` is called once everything is being watched."""
    settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    async with AsyncExitStack() as stack:
        server = ControlPlane(settings.channel, settings.token)
        stack.push_async_callback(server.close)
        outbox = await stack.enter_async_context(Outbox.open(settings.data / "outbox.db", server))
        registered = Registered()
        # What brings deployments to their end needs what is made below; it is called only when all is there.
        deployments = Deployments(
            lambda underway: _deploy(desk, underway, live),
            lambda underway, giving_up: give_up(desk, underway, giving_up),
        )
        repositories = await stack.enter_async_context(Repositories.open(settings.data / "mirrors", settings.config))
        watcher = Watcher(
            WatcherDesk(
                config=settings.config,
                registered=registered,
                repositories=repositories,
                deployments=deployments,
                outbox=outbox,
                clock=clock,
                new_id=lambda: str(uuid4()),
                looked=lambda: live.look_soon(),  # noqa: PLW0108  # `live` is made below
            )
        )
        inbox = Inbox(deployments, outbox, clock, watcher.sync)
        host = HostDesk(
            deployments=deployments,
            inbox=inbox,
            outbox=outbox,
            control_plane=server,
            tools=Tools(settings.data / "tools"),
            unsealer=settings.unsealer,
        )
        plugins = await stack.enter_async_context(open_plugins(settings.config.plugins, settings.data, host))
        desk = DeployingDesk(
            registered=registered,
            outbox=outbox,
            repositories=repositories,
            workspace=Workspace(settings.data / "work", settings.unsealer, settings.data / "plugins"),
            plugins=plugins,
            clock=clock,
            stage_ended=lambda deployment, stage: _stage_ended(inbox, live, deployment, stage),
            sleep_until=_sleeper(clock),
        )
        live = LiveStates(
            LiveStateDesk(
                config=settings.config,
                known=watcher.known,
                deployments=deployments,
                repositories=repositories,
                workspace=desk.workspace,
                plugins=desk.plugins,
                server=server,
                clock=clock,
            )
        )
        stack.push_async_callback(deployments.close)
        stack.push_async_callback(inbox.close)
        upgrader = _upgrader(settings, server)
        listening = Listening(
            registered=registered,
            deployments=deployments,
            inbox=inbox,
            look=watcher.look_everywhere,
            nudge=repositories.nudge,
            wish=upgrader.look_soon,
        )
        watch = ServerWatch(server, listening)
        status = StatusDesk(
            config=settings.config,
            started_at=clock.now(),
            plugins=plugins,
            deployments=deployments,
            repositories=repositories,
            outbox=outbox,
            upgrader=upgrader,
        )
        watching = _Watching(watcher, live, lambda: keep_state(settings.data, status), upgrader)
        work = _work(watch, desk, _profile(settings), ready, watching)
        await _until(stop, inbox.restart, work)


async def _work(
    watch: ServerWatch, desk: DeployingDesk, profile: AgentProfile, ready: Callable[[], None], watching: "_Watching"
) -> None:
    await _begin(watch, desk, profile)
    ready()
    async with asyncio.TaskGroup() as group:
        group.create_task(watch.run(), name="server")
        group.create_task(desk.repositories.watch(watching.watcher.look), name="repositories")
        group.create_task(watching.live.run(), name="live state")
        group.create_task(watching.status(), name="status")
        group.create_task(watching.upgrader.run(), name="version")


class _Watching(NamedTuple):
    watcher: Watcher
    live: LiveStates
    status: Callable[[], Coroutine[Any, Any, None]]
    upgrader: Upgrader


def _upgrader(settings: AgentSettings, server: ControlPlane) -> Upgrader:
    async def tell(version: str) -> None:
        await server.introduce(msgspec.structs.replace(_profile(settings), version=version))

    return Upgrader(
        UpgradeDesk(
            versions=settings.data / "versions",
            link=settings.link,
            upgrade=settings.config.upgrade,
            ask=server.desired_version,
            tell=tell,
        )
    )


async def _deploy(desk: DeployingDesk, underway: Underway, live: LiveStates) -> None:
    await deploy(desk, underway)
    live.look_soon(underway.deployment.application_id)


async def _stage_ended(inbox: Inbox, live: LiveStates, deployment_id: str, stage_id: str) -> None:
    await inbox.stage_ended(deployment_id, stage_id)
    live.look_at_deployment(deployment_id)


async def _begin(watch: ServerWatch, desk: DeployingDesk, profile: AgentProfile) -> None:
    """Take up what an earlier agent has left."""
    # What it could not tell comes first: the server's lists are only true after that.
    await desk.outbox.drained()
    await watch.introduce(profile)
    await desk.workspace.sweep(await watch.first_lists())


def _profile(settings: AgentSettings) -> AgentProfile:
    config = settings.config
    return AgentProfile(
        version=running_version(),
        config=settings.masked_config,
        repositories=tuple(
            Repository(id=each.repo_id, remote=redacted(each.remote), branch=each.branch)
            for each in config.repositories
        ),
        plugins=tuple(
            AgentPlugin(name=each.name, deploy_targets=tuple(target.name for target in each.deploy_targets))
            for each in config.plugins
        ),
        secret_encryption=settings.secret_encryption,
    )


async def _until(stop: asyncio.Event, restart: asyncio.Event, work: Coroutine[Any, Any, None]) -> None:
    """Work until one of the two, or until the work fails."""
    ends = [asyncio.create_task(each.wait()) for each in (stop, restart)]
    working = asyncio.create_task(work, name="agent")
    try:
        await asyncio.wait({working, *ends}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            working.result()
    finally:
        for task in (working, *ends):
            task.cancel()
        await asyncio.gather(working, *ends, return_exceptions=True)


def _sleeper(clock: Clock) -> Callable[[datetime], Coroutine[Any, Any, None]]:
    async def sleep_until(moment: datetime) -> None:
        # Never long, because a machine that slept or a clock that was set makes a long wait too long; whoever waits
        # looks at the time again.
        left = (moment - clock.now()).total_seconds()
        await asyncio.sleep(max(0.0, min(left, _LONGEST_SLEEP)))

    return sleep_until
