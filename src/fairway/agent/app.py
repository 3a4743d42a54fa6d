"""One agent, from its start until it is told to stop: it stands by while another one of its id is at work, and works.

When the agent stops, what it was doing is left as it is and taken up by whoever starts next. When another agent takes
its place it ends what it runs, before that one begins; then it stands by, and keeps its mirrors up to date. What it
does while it is at work is wired in `at_work`, who is at work is found out by `lease`.
"""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from typing import Any

from fairway.agent.at_work import Place, open_work
from fairway.agent.control_plane import ControlPlane
from fairway.agent.handing_over import hand_over
from fairway.agent.lease import Lease, Role
from fairway.agent.own_data import own_data
from fairway.agent.repositories import WARM_SECONDS, Repositories, WatchedRepository
from fairway.agent.settings import AgentSettings
from fairway.agent.status import idle_state, keep_state
from fairway.clock import Clock

__all__ = ["AgentSettings", "run_agent"]


async def run_agent(settings: AgentSettings, clock: Clock, ready: Callable[[], None], stop: asyncio.Event) -> None:
    """Run until `stop` is set or somebody asks for a restart; `ready` is called once everything is being watched, or
    once it is known that another agent is at work."""
    async with AsyncExitStack() as stack:
        server = ControlPlane(settings.channel, settings.token)
        stack.push_async_callback(server.close)
        stack.enter_context(own_data(settings.data))
        lease = await stack.enter_async_context(Lease.open(server, settings.data))
        server.replaced = lease.lose
        place = Place(settings, clock, server, lease, _Once(ready), clock.now())
        while await _taken_up(place, stop):
            if not await _replaced_at_work(place, stop):
                return


async def _taken_up(place: Place, stop: asyncio.Event) -> bool:
    """Stand by until it is this agent's turn; False when it is told to stop before that."""
    settings = place.settings
    telling = keep_state(settings.data, lambda: idle_state(settings.config, place.told))
    await _until(telling, stop.wait(), _turn(place))
    if stop.is_set():
        await place.lease.release()
    return not stop.is_set()


async def _turn(place: Place) -> None:
    if await place.lease.reached(Role.ACTIVE, Role.STANDBY) is Role.STANDBY:
        place.ready()
        await _until(_keep_warm(place.settings), place.lease.reached(Role.ACTIVE))


async def _keep_warm(settings: AgentSettings) -> None:
    """Fetch what is pushed, so that an agent that takes over need not clone first. Nothing is made of it."""
    async with Repositories.open(settings.data / "mirrors", settings.config) as repositories:
        await repositories.watch(_nothing, WARM_SECONDS)


async def _nothing(_repository: WatchedRepository) -> None: ...


async def _replaced_at_work(place: Place, stop: asyncio.Event) -> bool:
    """Be at work until that is over; whether because another agent is."""
    lease = place.lease
    async with open_work(place) as work:
        # The lease is asked for every second while nobody answers; what is kept is tried ever more seldom.
        lease.heard_again = work.desk.outbox.try_now
        await _until(work.run(), stop.wait(), work.inbox.restart.wait(), lease.reached(Role.STEPPING_DOWN))
        replaced = lease.role is Role.STEPPING_DOWN
        if replaced:
            await hand_over(work.running_stages, work.plugins, lease.grace_seconds)
    if replaced:
        await lease.stepped_down()
    elif not work.running_stages:
        # What runs on waits for an agent with the same data, and not for another one. It is looked for when all has
        # stopped: until then a stage may have been begun.
        await lease.release()
    return replaced


async def _until(work: Coroutine[Any, Any, None], *ends: Coroutine[Any, Any, object]) -> None:
    """Work until one of those ends, or the work itself; what either raises is raised."""
    waiting = [asyncio.create_task(each) for each in ends]
    working = asyncio.create_task(work, name="agent")
    try:
        done, _ = await asyncio.wait({working, *waiting}, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in (working, *waiting):
            task.cancel()
        await asyncio.gather(working, *waiting, return_exceptions=True)


class _Once:
    """Calls somebody the first time only."""

    def __init__(self, call: Callable[[], None]) -> None:
        self._call: Callable[[], None] | None = call

    def __call__(self) -> None:
        call, self._call = self._call, None
        if call is not None:
            call()
