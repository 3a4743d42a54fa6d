"""A picture that is kept up to date: through changes, breaks and a cluster that forgets."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
import pytest

from fairway.kube.access import Access
from fairway.kube.cluster import Cluster, Scope
from fairway.kube.errors import ClusterAway, NotAllowed
from fairway.kube.reflector import Owner, Reflector
from tests.integration.kube.double import (
    CONFIG_MAPS,
    Answer,
    a_cluster,
    a_list,
    an_object,
    for_ever,
    hangs_up,
    no_waits,
    refuses,
    says,
    serving,
    tells,
)
from tests.patience import PATIENCE_SECONDS


class Watcher:
    """A reflector that holds the `x` of each object's data, and what it told."""

    def __init__(self, cluster: Cluster) -> None:
        self.told: list[tuple[str, str | None, str | None]] = []
        #: What it said of itself.
        self.problems: list[type[object]] = []
        self._news = asyncio.Event()
        #: How long it would have waited.
        self.waits: list[float] = []
        self.reflector: Reflector[str] = Reflector(
            cluster, CONFIG_MAPS, Scope(), Owner(_x, self._note, self._noted), no_waits(self.waits)
        )

    def _noted(self, reflector: Reflector[str]) -> None:
        self.problems.append(type(reflector.problem))

    def _note(self, uid: str, before: str | None, now: str | None) -> None:
        self.told.append((uid, before, now))
        self._news.set()

    async def until_told(self, count: int) -> list[tuple[str, str | None, str | None]]:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while len(self.told) < count:
                self._news.clear()
                await self._news.wait()
        return self.told

    def values(self) -> list[str]:
        return sorted(self.reflector.values())


def _x(raw: bytes) -> str | None:
    found = msgspec.json.decode(raw)["data"].get("x")
    return str(found) if found is not None else None


@asynccontextmanager
async def watching(*answers: Answer) -> AsyncIterator[Watcher]:
    async with serving(*answers) as double, a_cluster(double) as cluster:
        watcher = Watcher(cluster)
        task = asyncio.create_task(watcher.reflector.run())
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await watcher.reflector.settled()
            yield watcher
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


def change(kind: str, name: str, version: str, **data: str) -> dict[str, object]:
    return {"type": kind, "object": an_object(name, version, **data)}


LISTED = says(a_list("5", an_object("a", "1", x="1"), an_object("b", "2", x="2"), an_object("c", "3")))


async def test_a_picture_is_listed_and_follows_changes() -> None:
    changes = [
        change("MODIFIED", "a", "6", x="9"),
        change("ADDED", "d", "7", x="4"),
        change("DELETED", "b", "8", x="2"),
        change("BOOKMARK", "", "9"),
    ]
    async with watching(LISTED, tells(*changes, then=for_ever)) as watcher:
        await watcher.until_told(5)

        assert watcher.told[2:] == [("a", "1", "9"), ("d", None, "4"), ("b", "2", None)]
        assert watcher.values() == ["4", "9"]


async def test_an_object_that_is_of_no_interest_any_more_leaves_the_picture() -> None:
    async with watching(LISTED, tells(change("MODIFIED", "a", "6"), then=for_ever)) as watcher:
        await watcher.until_told(3)

        assert (watcher.told[2], watcher.values()) == (("a", "1", None), ["2"])


@pytest.mark.parametrize(
    "then",
    [
        pytest.param(hangs_up, id="broken"),
        pytest.param(None, id="ended by the server"),
    ],
)
async def test_a_watch_goes_on_where_it_was(then: Answer | None) -> None:
    first = tells(change("BOOKMARK", "", "8"), then=then)
    answers = (LISTED, first, tells(change("ADDED", "d", "9", x="4"), then=for_ever))
    async with serving(*answers) as double, a_cluster(double) as cluster:
        watcher = Watcher(cluster)
        task = asyncio.create_task(watcher.reflector.run())
        await watcher.until_told(3)
        task.cancel()

        assert [each.query.get("resourceVersion") for each in double.asked] == [None, "5", "8"]


async def test_a_cluster_that_forgets_is_listed_again_and_only_differences_are_told() -> None:
    again = says(a_list("20", an_object("a", "1", x="1"), an_object("d", "15", x="4")))
    gone = tells({"type": "ERROR", "object": {"kind": "Status", "code": 410}})
    async with watching(LISTED, gone, again, tells(then=for_ever)) as watcher:
        await watcher.until_told(4)

        assert sorted(watcher.told[2:]) == [("b", "2", None), ("d", None, "4")]


async def test_a_missing_permission_is_the_reason_why_there_is_no_picture() -> None:
    said = 'User "u" cannot list resource "configmaps" in API group "" at the cluster scope'
    async with watching(refuses(403, said)) as watcher:
        assert isinstance(watcher.reflector.problem, NotAllowed)
        assert not watcher.reflector.listed


async def test_a_picture_is_there_once_the_permission_is() -> None:
    async with watching(refuses(403), refuses(403), LISTED, tells(then=for_ever)) as watcher:
        await watcher.until_told(2)

        assert watcher.values() == ["1", "2"]


async def test_a_line_that_breaks_once_is_taken_up_again_without_ado() -> None:
    answers = (LISTED, refuses(500), tells(change("ADDED", "d", "9", x="4"), then=for_ever))
    async with serving(*answers) as double, a_cluster(double) as cluster:
        watcher = Watcher(cluster)
        task = asyncio.create_task(watcher.reflector.run())
        await watcher.until_told(3)
        task.cancel()

        assert (watcher.reflector.problem, watcher.waits) == (None, [1.0])


async def test_a_cluster_that_stays_away_is_asked_less_and_less_and_the_picture_stays() -> None:
    async with watching(LISTED, refuses(500)) as watcher:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while len(watcher.waits) < 4:  # noqa: ASYNC110  # nobody tells of it
                await asyncio.sleep(0)

        assert watcher.waits[:4] == [1.0, 2.0, 3.0, 3.0]
        assert isinstance(watcher.reflector.problem, ClusterAway)
        assert watcher.values() == ["1", "2"]


async def test_that_a_cluster_is_away_and_that_it_is_back_is_noted_once_each() -> None:
    away, back = [refuses(500)] * 4, tells(change("ADDED", "d", "9", x="4"), then=for_ever)
    async with watching(LISTED, *away, back) as watcher:
        await watcher.until_told(3)

        assert watcher.problems == [ClusterAway, type(None)]


async def test_a_missing_permission_is_noted_once_however_often_it_is_tried() -> None:
    async with watching(refuses(403)) as watcher:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while len(watcher.waits) < 5:  # noqa: ASYNC110  # nobody tells of it
                await asyncio.sleep(0)

        assert watcher.problems == [NotAllowed]


async def test_who_hears_that_the_cluster_is_back_tries_again_at_once_but_not_again_and_again() -> None:
    pauses: list[asyncio.Future[None]] = []

    async def sleep(_: float) -> None:
        pauses.append(asyncio.get_running_loop().create_future())
        await pauses[-1]

    async with serving(refuses(403)) as double, a_cluster(double) as cluster, asyncio.timeout(PATIENCE_SECONDS):
        patience = msgspec.structs.replace(no_waits(), sleep=sleep)
        reflector = Reflector(cluster, CONFIG_MAPS, Scope(), Owner(_x, lambda *_: None), patience)
        task = asyncio.create_task(reflector.run())

        async def until_paused(count: int) -> None:
            while len(pauses) < count:  # noqa: ASYNC110  # nobody tells of it
                await asyncio.sleep(0)

        await until_paused(1)
        reflector.hurry()
        await until_paused(2)
        reflector.hurry()
        for _ in range(20):
            await asyncio.sleep(0)
        broken_off = [each.cancelled() for each in pauses]
        task.cancel()

    assert broken_off == [True, False]


async def test_a_cluster_that_forgets_at_once_what_it_has_said_is_not_asked_without_a_pause() -> None:
    gone = tells({"type": "ERROR", "object": {"kind": "Status", "code": 410}})
    async with watching(LISTED, gone, LISTED, gone, LISTED, gone, LISTED, tells(then=for_ever)) as watcher:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while len(watcher.waits) < 2:  # noqa: ASYNC110  # nobody tells of it
                await asyncio.sleep(0)

        assert watcher.waits == [1.0, 2.0]


async def test_where_the_kubeconfig_leads_elsewhere_by_now_everything_is_listed_there() -> None:
    there = (says(a_list("2", an_object("z", "1", x="9"))), tells(then=for_ever))
    async with serving(LISTED, hangs_up) as first, serving(tells(then=for_ever), *there) as second:
        where = [first.reach()]
        async with Cluster("dev", Access(lambda: where[-1]), no_waits()) as cluster:
            watcher = Watcher(cluster)
            task = asyncio.create_task(watcher.reflector.run())
            await watcher.until_told(2)
            where.append(second.reach())
            await watcher.until_told(5)
            task.cancel()

    assert sorted(watcher.told[2:]) == [("a", "1", None), ("b", "2", None), ("z", None, "9")]


async def test_a_cluster_that_hangs_up_at_once_is_not_asked_without_a_pause() -> None:
    async with watching(LISTED, tells()) as watcher:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not isinstance(watcher.reflector.problem, ClusterAway):  # noqa: ASYNC110  # nobody tells of it
                await asyncio.sleep(0)

        assert watcher.values() == ["1", "2"]
