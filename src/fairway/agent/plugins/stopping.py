"""Ends a stage by its plugin: also one that is still on its way there, because what is to end it may arrive first, and
one whose plugin is just being started again, because what it started may have outlived the plugin.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from fairway.agent.plugins.client import PluginClient, PluginGone, StageResult, StopAnswer
from fairway.model.stage import Stage

#: When a plugin that has not heard of a stage is asked again to end it.
_AGAIN_SECONDS = 0.1


class GivenUp(NamedTuple):
    """A stage that is given up."""

    deployment_id: str
    stage: Stage
    reason: str
    #: Whether the plugin ends the log of one that an agent has left which is gone.
    with_log: bool = True


async def stopped(
    client: PluginClient,
    back: Callable[[], Awaitable[PluginClient]],
    given_up: GivenUp,
    executing: "asyncio.Task[Any] | None",
) -> bool:
    """End a stage and all that it started; whether the plugin knows how to. PluginGone when it is not there, nor
    `back`. `executing` waits for the stage's result."""
    try:
        return await _stopped(client, given_up, executing)
    except PluginGone:
        if not client.resumes:
            # What it has started has ended with it.
            raise
    return await _stopped(await back(), given_up, executing)


async def _stopped(client: PluginClient, given_up: GivenUp, executing: "asyncio.Task[Any] | None") -> bool:
    deployment_id, stage, reason, with_log = given_up
    left = with_log and executing is None
    while (said := await client.stop(deployment_id, stage, reason, left=left)) is StopAnswer.NOT_RUNNING:
        if executing is None or (await asyncio.wait({executing}, timeout=_AGAIN_SECONDS))[0]:
            return True
    return said is StopAnswer.ENDED


def with_last_words(reason: str, ended: "asyncio.Task[StageResult]") -> str:
    """Why a stage was ended, and what its plugin has to add: it may have left something."""
    said = "" if ended.cancelled() or ended.exception() else ended.result().message
    return said if said.startswith(reason) else reason
