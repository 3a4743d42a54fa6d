"""Whatever a plugin does when an agent must make room, the stages of the others are ended."""

import asyncio
from collections.abc import Mapping, Sequence

from fairway.agent.handing_over import RunningStage, hand_over
from fairway.agent.plugins.client import PluginGone


class Plugin:
    """Remembers what it was told to hand over, or does as badly as it is told."""

    def __init__(self, how: str = "well") -> None:
        self._how = how
        self.ended: list[tuple[str, str, float]] = []

    async def hand_over(self, deployment_id: str, stage_id: str, grace_seconds: float) -> bool:
        if self._how == "hangs":
            await asyncio.sleep(1000)
        if self._how == "refuses":
            raise PluginGone("it is gone")
        self.ended.append((deployment_id, stage_id, grace_seconds))
        return self._how != "unable"


class Plugins:
    """Plugins, each with a stage of its own name."""

    def __init__(self, **plugins: Plugin) -> None:
        self._plugins = plugins

    @property
    def plugins_of_stage(self) -> Mapping[str, Sequence[str]]:
        return {name.upper(): (name,) for name in (*self._plugins, "gone")}

    def client(self, name: str) -> Plugin:
        if name not in self._plugins:
            raise PluginGone(f"{name} does not answer")
        return self._plugins[name]


async def test_each_stage_is_ended_whatever_becomes_of_the_others() -> None:
    good, unable = Plugin(), Plugin("unable")
    plugins = Plugins(good=good, hanging=Plugin("hangs"), refusing=Plugin("refuses"), unable=unable)
    names = ["GONE", "HANGING", "REFUSING", "UNABLE", "UNKNOWN", "GOOD", "GOOD"]

    await hand_over([RunningStage(f"d-{n}", "s", name) for n, name in enumerate(names)], plugins, 0.05)

    assert (good.ended, unable.ended) == ([("d-5", "s", 0.05), ("d-6", "s", 0.05)], [("d-3", "s", 0.05)])
