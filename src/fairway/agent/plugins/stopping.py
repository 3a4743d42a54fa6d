"""Ends a stage by its plugin, also one that is still on its way there: what is to end it may arrive first."""

import asyncio
from typing import Any

from fairway.agent.plugins.client import PluginClient, StopAnswer
from fairway.model.stage import Stage

#: When a plugin that has not heard of a stage is asked again to end it.
_AGAIN_SECONDS = 0.1


async def stopped(
    client: PluginClient, deployment_id: str, stage: Stage, reason: str, executing: "asyncio.Task[Any] | None"
) -> bool:
    """End a stage and all that it started; whether the plugin knows how to. `executing` waits for its result."""
    while (said := await client.stop(deployment_id, stage.id, reason)) is StopAnswer.NOT_RUNNING:
        if executing is None or (await asyncio.wait({executing}, timeout=_AGAIN_SECONDS))[0]:
            return True
    return said is StopAnswer.ENDED
