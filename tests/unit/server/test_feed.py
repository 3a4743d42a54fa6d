"""Watchers hear of their topics, once each, and of nothing when they have missed something but that they did."""

import pytest

from fairway.server.feed import Feed, LogTopic, Subscription, Taken, Topic
from fairway.server.logs import LogGrowth, StageLogKey
from fairway.server.store.changes import Change, ChangeKind

DEPLOYMENTS = Topic(ChangeKind.DEPLOYMENTS)
LOG = LogTopic("d", "s")


def changed(id: str, kind: ChangeKind = ChangeKind.DEPLOYMENTS, project_id: str = "shop") -> Change:
    return Change(kind, id, project_id)


def a_watcher(*topics: Topic | LogTopic, owner: str = "ada") -> Subscription:
    return Subscription(frozenset(topics or (DEPLOYMENTS,)), "shop", owner)


async def test_a_watcher_hears_of_its_topics_in_its_project() -> None:
    feed = Feed()
    every, one = a_watcher(DEPLOYMENTS), a_watcher(Topic(ChangeKind.DEPLOYMENTS, "a"))
    await feed.subscribe(every)
    await feed.subscribe(one)

    feed.publish([changed("a"), changed("b"), changed("a", ChangeKind.AGENTS), changed("c", project_id="other")])

    assert feed.take(every).changes == {changed("a"): 1, changed("b"): 2}
    assert feed.take(one).changes == {changed("a"): 1}


async def test_what_changed_often_before_it_was_taken_is_taken_once() -> None:
    feed, watcher = Feed(), a_watcher()
    await feed.subscribe(watcher)

    for _ in range(5):
        feed.publish([changed("a")])

    assert feed.take(watcher) == Taken({changed("a"): 5}, feed.position)
    assert feed.take(watcher) == Taken({}, feed.position)


async def test_one_that_is_slower_than_the_memory_is_long_is_told_to_look_at_everything() -> None:
    feed, slow, quick = Feed(remembered=4), a_watcher(), a_watcher()
    await feed.subscribe(slow)
    await feed.subscribe(quick)

    taken = []
    for number in range(8):
        feed.publish([changed(str(number))])
        taken += [change.id for change in feed.take(quick).changes]

    assert taken == list("01234567")
    assert feed.take(slow) == Taken({}, feed.position, reset=True)
    assert feed.take(slow) == Taken({}, feed.position)


async def test_one_whose_topics_are_quiet_misses_nothing_however_much_else_happens() -> None:
    feed, watcher = Feed(remembered=4), a_watcher(Topic(ChangeKind.DEPLOYMENTS, "mine"))
    await feed.subscribe(watcher)

    feed.publish([changed(str(number)) for number in range(20)])
    feed.publish([changed("mine")])

    assert feed.take(watcher).changes == {changed("mine"): 21}


async def test_one_that_comes_back_takes_what_it_missed() -> None:
    feed, first, again = Feed(), a_watcher(), a_watcher()
    await feed.subscribe(first)
    feed.publish([changed("a")])
    position = feed.take(first).position
    feed.leave(first)
    feed.publish([changed("b")])

    await feed.subscribe(again, position)

    assert feed.take(again) == Taken({changed("b"): 2}, feed.position)
    assert feed.watcher_count == 1


@pytest.mark.parametrize("position", ["", "nonsense", "of.1", "9"])
async def test_a_position_that_nobody_knows_means_to_look_at_everything(position: str) -> None:
    feed, watcher = Feed(), a_watcher()

    await feed.subscribe(watcher, position)

    assert feed.take(watcher) == Taken({}, feed.position, reset=True)


class Elsewhere:
    """Another replica, while things go on."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed

    async def catch_up(self) -> None:
        self._feed.publish([changed("known")])

    async def since(self, position: str) -> list[Change]:
        self._feed.publish([changed("meanwhile")])
        return [changed(f"since {position}"), changed("x", project_id="other")]


async def test_a_position_of_another_replica_is_looked_up() -> None:
    feed, watcher = Feed(), a_watcher()
    feed.history = Elsewhere(feed)

    await feed.subscribe(watcher, "elsewhere")
    feed.publish([changed("later")])

    assert feed.take(watcher).changes == {changed("since elsewhere"): 2, changed("meanwhile"): 2, changed("later"): 3}


async def test_a_reset_reaches_those_who_watch_and_those_who_come_back() -> None:
    feed, watcher, again = Feed(), a_watcher(), a_watcher()
    await feed.subscribe(watcher)
    position = feed.position

    feed.publish([changed("a")])
    feed.reset()
    await feed.subscribe(again, position)

    assert [feed.take(each) for each in (watcher, again)] == [Taken({}, feed.position, reset=True)] * 2


async def test_growth_of_a_log_wakes_its_readers_with_the_lowest_index() -> None:
    feed, reader, other = Feed(), a_watcher(LOG), a_watcher(LogTopic("d", "t"))
    await feed.subscribe(reader)
    await feed.subscribe(other)

    for index in (7, 3, 9):
        feed.publish_growth(LogGrowth(StageLogKey("d", "s", 0), index))

    assert feed.take(reader) == Taken({}, feed.position, grown={LOG: 3})
    assert not other.wake.is_set()


async def test_a_recheck_wakes_the_one_it_is_about_or_all() -> None:
    feed, ada, bob = Feed(), a_watcher(owner="ada"), a_watcher(owner="bob")
    await feed.subscribe(ada)
    await feed.subscribe(bob)

    feed.recheck("ada")
    assert (ada.recheck, ada.wake.is_set(), bob.recheck, bob.wake.is_set()) == (True, True, False, False)

    feed.recheck()
    assert (bob.recheck, bob.wake.is_set()) == (True, True)


async def test_a_feed_that_closes_wakes_everybody() -> None:
    feed, watcher = Feed(), a_watcher()
    await feed.subscribe(watcher)

    feed.close()

    assert feed.closed
    assert watcher.wake.is_set()
