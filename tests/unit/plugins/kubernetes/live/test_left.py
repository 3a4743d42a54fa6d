"""Former deploy targets of an application, as the record and the agent's file say."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec

from fairway.config.agent_file import DeployTarget
from fairway.errors import TemporaryError
from fairway.plugins.kubernetes.live.left import LeftObjects

EAST, WEST = DeployTarget(name="east"), DeployTarget(name="west")


class Kept:
    """A plugin with a record."""

    def __init__(self, *targets: str) -> None:
        self.settings = SimpleNamespace(targets=(EAST, WEST))
        self.targets: tuple[str, ...] | None = targets
        self.asked = 0

    async def application_object(self, _application_id: str, _key: str) -> bytes:
        self.asked += 1
        if self.targets is None:
            raise TemporaryError("the agent failed GetApplicationSharedObject")
        return msgspec.json.encode(self.targets)


def a_question(under_way: bool = False) -> Any:
    files = SimpleNamespace(commit="c", directory=Path())
    return SimpleNamespace(application_id="app", files=files, deployment_under_way=under_way)


async def test_former_targets_are_read_again_only_when_something_has_changed() -> None:
    plugin: Any = Kept("east", "west", "gone")
    left = LeftObjects(plugin)

    found = [await left.targets(a_question(), [WEST]) for _ in range(2)]
    plugin.targets = ("west",)
    then = await left.targets(a_question(under_way=True), [WEST])

    assert (found, then, plugin.asked) == ([(EAST,), (EAST,)], (), 2)


async def test_a_record_that_cannot_be_read_hides_nothing() -> None:
    plugin: Any = Kept()
    plugin.targets = None
    left = LeftObjects(plugin)

    assert await left.targets(a_question(), [WEST]) == ()
    plugin.targets = ("east",)
    assert await left.targets(a_question(), [WEST]) == (EAST,)
