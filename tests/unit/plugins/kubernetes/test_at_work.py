"""What a stage does to a cluster has ended when the stage has: a rollback must not find it at work."""

import asyncio
from typing import Any, cast

import pytest

from fairway.kube.cluster import Cluster
from fairway.plugins.kubernetes.applying.applying import Applier
from fairway.plugins.kubernetes.removing.removing import remove
from fairway.sdk.stage_log import StageLog
from tests.unit.plugins.kubernetes.objects import a_config

OBJECTS = (a_config("hasty"), a_config("slow"))


class Slow:
    """A cluster, and a log, that meet a defect with one object and need long for another."""

    def __init__(self) -> None:
        self.ended: list[str] = []

    async def kind(self, _version: str, _kind: str) -> None:
        await asyncio.sleep(0)

    async def delete(self, _kind: None, _namespace: str, name: str, uid: str, version: str) -> bool:
        await self.work(name)
        return False

    async def work(self, name: str) -> None:
        if name == "hasty":
            raise KeyError("a defect")
        for _ in range(100):
            await asyncio.sleep(0)
        self.ended.append(name)

    def info(self, text: str) -> None:
        pass


async def test_what_is_being_removed_is_waited_for_when_another_meets_a_defect() -> None:
    slow = Slow()

    with pytest.raises(KeyError, match="a defect"):
        await remove(cast(Cluster, slow), [each.body for each in OBJECTS], cast(StageLog, slow), "why")

    assert slow.ended == ["slow"]


async def test_what_is_being_applied_is_waited_for_when_another_meets_a_defect() -> None:
    slow = Slow()
    nobody = cast(Any, None)
    applier = Applier(cast(Cluster, slow), cast(StageLog, slow), nobody, nobody, nobody)

    with pytest.raises(KeyError, match="a defect"):
        await applier._side_by_side(OBJECTS, lambda each: slow.work(each.key.name), lambda each: each, str)

    assert slow.ended == ["slow"]
