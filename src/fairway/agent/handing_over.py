"""Ends what an agent runs when another one is at work in its place, in the little time that there is.

Each stage is ended by its plugin, with everything that it started, and found interrupted by whoever goes on with it.
One that cannot be ended so (a plugin that is gone, or of PipeCD's kind) keeps nobody from ending the others; it ends
with its plugin, which is ended right after.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple, Protocol

import structlog

from fairway.errors import FairwayError

_log = structlog.get_logger()


class RunningStage(NamedTuple):
    """A stage that a plugin was asked for."""

    deployment_id: str
    stage_id: str
    name: str


class Client(Protocol):
    """A plugin that can be told to hand over."""

    async def hand_over(self, deployment_id: str, stage_id: str, grace_seconds: float) -> bool:
        """End a stage; whether the plugin knows how to."""
        ...


class Plugins(Protocol):
    """The plugins of an agent."""

    @property
    def plugins_of_stage(self) -> Mapping[str, Sequence[str]]:
        """Stage name → the plugins that serve it."""
        ...

    def client(self, name: str) -> Client:
        """One plugin; an error when it does not answer."""
        ...


async def hand_over(stages: Iterable[RunningStage], plugins: Plugins, grace_seconds: float) -> None:
    """End all stages; what they started is asked to end for that long, and then made to."""
    serving = plugins.plugins_of_stage
    ending = [
        _ended(plugins, plugin, stage, grace_seconds) for stage in stages for plugin in serving.get(stage.name, ())
    ]
    with suppress(TimeoutError):
        # Asked to end, made to end, and a moment to say so.
        async with asyncio.timeout(3 * grace_seconds):
            await asyncio.gather(*ending)


async def _ended(plugins: Plugins, plugin: str, stage: RunningStage, grace_seconds: float) -> None:
    try:
        known = await plugins.client(plugin).hand_over(stage.deployment_id, stage.stage_id, grace_seconds)
        reason = "" if known else f"plugin {plugin} does not know how to"
    except FairwayError as error:
        reason = str(error)
    if reason:
        _log.warning("a stage is not ended by its plugin, but with it", stage=stage.name, reason=reason)
