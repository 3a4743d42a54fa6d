"""Ends a stage of a deployment whose files cannot be had, and hears who wants such a deployment to be given up.

Without its file nobody knows which plugin an application means. But what a stage has started must not go on beside the
next deployment of the application: so every plugin that has such a stage is asked to end it, and those that know
nothing of it have nothing to do. What it has said meanwhile is not told: which secrets it knows is in those files.
"""

import asyncio
from functools import partial

import structlog

from fairway.agent.planning import Plugins
from fairway.agent.plugins.client import PluginGone, PluginRefused
from fairway.agent.plugins.stopping import GivenUp, stopped
from fairway.agent.run_context import Cancelling

_log = structlog.get_logger()


async def end_stage(plugins: Plugins, given_up: GivenUp) -> None:
    """End all that a stage has started, by each plugin that may have started it."""
    if not plugins.plugins_of_stage.get(given_up.stage.name):
        await plugins.settled()
    for name in plugins.plugins_of_stage.get(given_up.stage.name, ()):
        try:
            await stopped(await plugins.reached(name), partial(plugins.back, name), given_up, None)
        except (PluginGone, PluginRefused) as error:
            _log.warning("a stage is not ended by its plugin", stage=given_up.stage.name, reason=str(error))


class Wishes:
    """What people want of a deployment that cannot go on yet. It belongs to one event loop."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        #: That it is given up.
        self.first: asyncio.Future[Cancelling] = loop.create_future()
        #: That nothing is undone, either.
        self.to_leave_it: asyncio.Future[Cancelling] = loop.create_future()

    def hear(self, wish: Cancelling) -> None:
        """Somebody wants it to be given up."""
        heard = [self.first, self.to_leave_it] if wish.command.force_no_rollback else [self.first]
        for each in heard:
            if not each.done():
                each.set_result(wish)
