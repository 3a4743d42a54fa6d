"""Hints for agents that ask to be told when asking again is worth while.

A hint carries no truth, so nothing of it is stored: the board remembers for each agent when each topic was last
published, which is all that a late, slow or returning watcher needs. Publishing sets a number and wakes whoever
waits; it never waits itself, and a thousand publications that a slow watcher did not see are one hint to it. Sending
hints to an agent is left to `hint_service`, carrying them to other replicas to `relay`.
"""

import asyncio
import enum
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable
from uuid import uuid4

import msgspec

#: How many agents are remembered. An agent that is forgotten is told that anything may have changed.
REMEMBERED_AGENTS = 10_000
#: Streams of one agent. One that opens more loses its oldest: it connected anew, and the old ones hang in the net.
MOST_WATCHES = 8


class HintTopic(enum.Enum):
    """What is worth asking for again."""

    #: Any of the others: the board does not know what the agent missed.
    ANYTHING = "anything"
    #: Somebody wants the agent to do something.
    COMMANDS = "commands"
    #: A deployment of the agent was made or changed by somebody else.
    DEPLOYMENTS = "deployments"
    #: An application came to the agent, left it or was changed.
    APPLICATIONS = "applications"
    #: Somebody pushed to a Git repository.
    REPOSITORY = "repository"
    #: Somebody waits for the agent's lease, or does not any more.
    LEASE = "lease"


class Hint(msgspec.Struct, frozen=True):
    """One hint, and the token with which to go on behind it."""

    topic: HintTopic
    token: str


class HintBoard:
    """What was published to whom since this process started. It belongs to one event loop."""

    def __init__(self, remembered_agents: int = REMEMBERED_AGENTS) -> None:
        # A token of another process, or of an earlier one, says nothing about this one.
        self._epoch = uuid4().hex
        self._remembered_agents = remembered_agents
        self._number = 0
        #: The number of the newest publication that may have been forgotten.
        self._forgotten = 0
        #: Agent → topic → number of its last publication; the agent published to last comes last.
        self._published: OrderedDict[str, dict[HintTopic, int]] = OrderedDict()
        #: The one that came last is the last.
        self._watchers: dict[str, dict[asyncio.Event, None]] = {}
        self._closed = False
        #: Is told what is published here, for agents that watch elsewhere.
        self.relay: Callable[[str, HintTopic], None] | None = None

    def publish(self, agent_id: str, topic: HintTopic) -> None:
        """Tell an agent, now or when it comes back, wherever it is connected."""
        self.hear(agent_id, topic)
        if self.relay is not None:
            self.relay(agent_id, topic)

    def lose(self) -> None:
        """What was published elsewhere may have been lost: every agent is told that anything may have changed."""
        self._number += 1
        self._forgotten = self._number
        self._published.clear()
        for watchers in self._watchers.values():
            for watcher in watchers:
                watcher.set()

    def hear(self, agent_id: str, topic: HintTopic) -> None:
        """Tell an agent that is connected here."""
        self._number += 1
        self._published.setdefault(agent_id, {})[topic] = self._number
        self._published.move_to_end(agent_id)
        if len(self._published) > self._remembered_agents:
            _, numbers = self._published.popitem(last=False)
            self._forgotten = max(self._forgotten, *numbers.values())
        for watcher in self._watchers.get(agent_id, ()):
            watcher.set()

    async def watch(self, agent_id: str, resume_token: str = "") -> AsyncGenerator[Hint]:
        """Hints for one agent, beginning with what it missed since the token, until the board is closed.

        It also ends when the same agent opens too many others.
        """
        wake = self._new_watcher(agent_id)
        try:
            seen = self._known_number(resume_token)
            while not self._closed and wake in self._watchers.get(agent_id, ()):
                wake.clear()
                for number, topic in self._missed(agent_id, seen):
                    seen = number
                    yield Hint(topic, f"{self._epoch}.{number}")
                # What was published while a slow reader took its time has set the event again.
                await wake.wait()
        finally:
            self._forget_watcher(agent_id, wake)

    def close(self) -> None:
        """End every watch, so that the agents go on elsewhere."""
        self._closed = True
        for watchers in self._watchers.values():
            for watcher in watchers:
                watcher.set()

    @property
    def watcher_count(self) -> int:
        """How many watches are open."""
        return sum(map(len, self._watchers.values()))

    def _missed(self, agent_id: str, seen: int | None) -> list[tuple[int, HintTopic]]:
        """What came after `seen`, oldest first; anything at all when that is not known."""
        if seen is None or seen < self._forgotten:
            return [(self._number, HintTopic.ANYTHING)]
        published = self._published.get(agent_id, {})
        return sorted((number, topic) for topic, number in published.items() if number > seen)

    def _known_number(self, token: str) -> int | None:
        epoch, _, digits = token.partition(".")
        if epoch != self._epoch or not (digits.isascii() and digits.isdecimal() and len(digits) < 20):
            return None
        return number if (number := int(digits)) <= self._number else None

    def _new_watcher(self, agent_id: str) -> asyncio.Event:
        wake = asyncio.Event()
        watchers = self._watchers.setdefault(agent_id, {})
        watchers[wake] = None
        if len(watchers) > MOST_WATCHES:
            oldest = next(iter(watchers))
            del watchers[oldest]
            oldest.set()
        return wake

    def _forget_watcher(self, agent_id: str, wake: asyncio.Event) -> None:
        watchers = self._watchers.get(agent_id, {})
        watchers.pop(wake, None)
        if not watchers:
            self._watchers.pop(agent_id, None)
