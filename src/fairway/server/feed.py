"""What changed lately, for everybody of this process who watches: one memory for all, and a wake-up for each.

Watchers keep no queue. The feed remembers the latest changes once; a watcher remembers where it stands among them, is
woken when something of its topics comes, and takes what is new, each thing once however often it changed. One that
is slower than the memory is long is told to look at everything again. So no watcher can make publishing wait or
memory grow. What a thing is now, the watcher asks the store: a change says only which one.

A position is a text that tells a watcher who comes back where it stood, here or, with a database that replicas share,
at another one. Where changes come from, and what other replicas changed, is left to `replicas`.
"""

import asyncio
from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Sequence
from typing import Protocol
from uuid import uuid4

import msgspec

from fairway.server.logs import LogGrowth
from fairway.server.store.changes import Change, ChangeKind

REMEMBERED_CHANGES = 8_192


class Topic(msgspec.Struct, frozen=True):
    """Some things that a watcher wants to hear of."""

    kind: ChangeKind
    #: Empty: all of them.
    id: str = ""


class LogTopic(msgspec.Struct, frozen=True):
    """The log of a stage's latest run."""

    deployment_id: str
    stage_id: str


class Taken(msgspec.Struct, frozen=True):
    """What is new to a watcher."""

    #: Each with the number of its latest change.
    changes: dict[Change, int]
    #: Where the watcher stands once it has dealt with them.
    position: str
    #: Something was missed: the watcher must look at everything that it watches.
    reset: bool = False
    #: The lowest index at which each log grew.
    grown: dict[LogTopic, int] = {}


class History(Protocol):
    """What was stored before this process remembers, or by others."""

    async def catch_up(self) -> None:
        """Publish what is stored by now."""
        ...

    async def since(self, position: str) -> Sequence[Change] | None:
        """What was stored since a position; `None` when nobody knows."""
        ...


class Subscription:
    """One watcher's place in the feed."""

    def __init__(self, topics: frozenset[Topic | LogTopic], project_id: str, owner: str) -> None:
        self.topics = topics
        self.project_id = project_id
        #: Whose it is: the name of a person, or the id of a key.
        self.owner = owner
        self.wake = asyncio.Event()
        #: The number of the last change that was taken; it counts only while the watcher is awake.
        self.seen = 0
        self.reset = False
        #: Whether what the owner may see is to be found out again.
        self.recheck = False
        self.grown: dict[LogTopic, int] = {}
        #: What it missed before it came here.
        self.missed: dict[Change, int] = {}

    def wants(self, change: Change) -> bool:
        """Whether the change is of its topics, in its project."""
        if change.project_id != self.project_id:
            return False
        return Topic(change.kind) in self.topics or Topic(change.kind, change.id) in self.topics

    def rouse(self, before: int) -> None:
        """Wake the watcher, who has seen everything up to `before` unless it is awake already."""
        if not self.wake.is_set():
            self.seen = before
            self.wake.set()


class Feed:
    """The latest changes, and who watches. It belongs to one event loop."""

    def __init__(self, remembered: int = REMEMBERED_CHANGES, history: History | None = None) -> None:
        # A position of another process, or of an earlier one, says nothing about this one.
        self._epoch = uuid4().hex
        self._remembered = remembered
        self.history = history
        self._changes: list[Change] = []
        #: The number of the newest change, and of the newest that is forgotten. Numbers begin at 1.
        self._number = 0
        self._forgotten = 0
        self._position = f"{self._epoch}.0"
        #: Position → number of the last change before it; the newest comes last.
        self._positions: OrderedDict[str, int] = OrderedDict({self._position: 0})
        self._watchers: defaultdict[Topic | LogTopic, set[Subscription]] = defaultdict(set)
        self._all: set[Subscription] = set()
        self.closed = False
        #: Grows whenever a log may have.
        self.growths = 0

    @property
    def position(self) -> str:
        """Where somebody stands who has seen everything."""
        return self._position

    @property
    def number(self) -> int:
        """The number of the newest change."""
        return self._number

    @property
    def watcher_count(self) -> int:
        """How many subscriptions are open."""
        return len(self._all)

    def publish(self, changes: Iterable[Change], position: str = "") -> None:
        """Remember the changes and wake who wants them. A position replaces the feed's own."""
        before = self._number
        added = tuple(dict.fromkeys(changes))
        self._changes.extend(added)
        self._number += len(added)
        self._stand(position or f"{self._epoch}.{self._number}")
        wanted = {Topic(change.kind, id) for change in added for id in ("", change.id)}
        for topic in wanted & self._watchers.keys():
            for subscription in self._watchers[topic]:
                subscription.rouse(before)
        self._forget_old()

    def publish_growth(self, growth: LogGrowth) -> None:
        """Wake who reads this log."""
        self._grow(LogTopic(growth.key.deployment_id, growth.key.stage_id), growth.first_index)

    def reset(self, position: str = "") -> None:
        """Changes were missed: everybody looks at everything again, now or when they come back."""
        self._forgotten = self._number
        self._changes.clear()
        self._positions.clear()
        self._stand(position or f"{self._epoch}.{self._number}")
        for subscription in self._all:
            subscription.reset = True
            subscription.rouse(self._number)

    def recheck(self, owner: str = "") -> None:
        """What this caller may see has changed, or what everybody may."""
        for subscription in self._all:
            if owner in ("", subscription.owner):
                subscription.recheck = True
                subscription.rouse(self._number)

    def look_into_logs(self) -> None:
        """Any log may have grown."""
        for topic in self._watchers:
            if isinstance(topic, LogTopic):
                self._grow(topic, 0)

    async def subscribe(self, subscription: Subscription, position: str | None = None) -> None:
        """Let somebody watch, beginning with what came since the position; without one, with what comes now."""
        if position is not None and position not in self._positions:
            await self._recall(subscription, position)
        else:
            known = self._number if position is None else self._positions[position]
            if known < self._number:
                subscription.rouse(known)
        self._all.add(subscription)
        for topic in subscription.topics:
            self._watchers[topic].add(subscription)

    def take(self, subscription: Subscription) -> Taken:
        """What is new to a watcher; it sleeps again once it has dealt with that."""
        if not subscription.wake.is_set():
            return Taken({}, self._position)
        subscription.wake.clear()
        grown, subscription.grown = subscription.grown, {}
        reset = subscription.reset or subscription.seen < self._forgotten
        subscription.reset = False
        missed, subscription.missed = subscription.missed, {}
        if reset:
            return Taken({}, self._position, True, grown)
        latest = self._changes[subscription.seen - self._forgotten :]
        numbered = enumerate(latest, subscription.seen + 1)
        changes = missed | {change: number for number, change in numbered if subscription.wants(change)}
        return Taken(changes, self._position, False, grown)

    def leave(self, subscription: Subscription) -> None:
        """Watch no longer."""
        self._all.discard(subscription)
        for topic in subscription.topics:
            self._watchers[topic].discard(subscription)
            if not self._watchers[topic]:
                del self._watchers[topic]

    def count_of(self, owner: str) -> int:
        """How many subscriptions somebody has."""
        return sum(subscription.owner == owner for subscription in self._all)

    def close(self) -> None:
        """Wake everybody, to be told to go on elsewhere."""
        self.closed = True
        for subscription in self._all:
            subscription.rouse(self._number)

    async def _recall(self, subscription: Subscription, position: str) -> None:
        """Find what came since a position that another replica gave."""
        missed = None
        if self.history is not None:
            # First, so that what is published behind its back is newer than what it knows.
            await self.history.catch_up()
            before = self._number
            missed = await self.history.since(position)
            subscription.rouse(before)
        subscription.rouse(self._number)
        subscription.reset = missed is None
        subscription.missed = dict.fromkeys(filter(subscription.wants, missed or ()), self._number)

    def _grow(self, topic: LogTopic, first_index: int) -> None:
        self.growths += 1
        for subscription in self._watchers.get(topic, ()):
            subscription.grown[topic] = min(subscription.grown.get(topic, first_index), first_index)
            subscription.rouse(self._number)

    def _stand(self, position: str) -> None:
        self._position = position
        self._positions[position] = self._number
        self._positions.move_to_end(position)
        while len(self._positions) > self._remembered:
            self._positions.popitem(last=False)

    def _forget_old(self) -> None:
        """Forget in large steps, because a list is cut at its beginning by copying the rest."""
        if len(self._changes) >= 2 * self._remembered:
            self._forgotten = self._number - self._remembered
            del self._changes[: -self._remembered]
