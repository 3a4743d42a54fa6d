"""What one replica tells the others, as texts of bounded size. Pure.

What waits to be told is kept once however often it happened, so that a channel which is slow, or broken for a while,
is given little. A text names its sender, who hears itself too and has nothing to learn from it.
"""

import asyncio
from uuid import uuid4

import msgspec

from fairway.server.hints import HintTopic
from fairway.server.logs import LogGrowth, StageLogKey

#: PostgreSQL takes less than 8,000 bytes.
LONGEST = 7_900


class Message(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one replica tells the others at once."""

    sender: str
    #: Something was stored: the table of changes is worth a look.
    stored: bool = False
    #: Agents that should ask again, and for what.
    hints: tuple[tuple[str, HintTopic], ...] = ()
    #: Logs that grew.
    grown: tuple[LogGrowth, ...] = ()


class Outbox:
    """What others have not been told yet. It belongs to one event loop."""

    def __init__(self) -> None:
        self.sender = uuid4().hex
        self.waiting = asyncio.Event()
        self._stored = False
        self._hints: dict[tuple[str, HintTopic], None] = {}
        self._grown: dict[StageLogKey, int] = {}

    def add_stored(self) -> None:
        """Something was stored."""
        self._stored = True
        self.waiting.set()

    def add_hint(self, agent_id: str, topic: HintTopic) -> None:
        """An agent should ask again."""
        self._hints[agent_id, topic] = None
        self.waiting.set()

    def add_growth(self, growth: LogGrowth) -> None:
        """A log grew."""
        self._grown[growth.key] = min(growth.first_index, self._grown.get(growth.key, growth.first_index))
        self.waiting.set()

    def take(self) -> Message:
        """All that waits."""
        grown = tuple(LogGrowth(key, first) for key, first in self._grown.items())
        message = Message(self.sender, self._stored, tuple(self._hints), grown)
        self._stored, self._hints, self._grown = False, {}, {}
        self.waiting.clear()
        return message

    def put_back(self, message: Message) -> None:
        """It could not be told now."""
        self._stored = self._stored or message.stored
        self._hints = dict.fromkeys(message.hints) | self._hints
        for growth in message.grown:
            self.add_growth(growth)
        self.waiting.set()


def packed(message: Message) -> list[str]:
    """The texts of a message: one, or as many as it takes to keep each of them short."""
    text = msgspec.json.encode(message)
    if len(text) <= LONGEST:
        return [text.decode()]
    half_hints, half_grown = len(message.hints) // 2, len(message.grown) // 2
    if not (half_hints or half_grown or (message.hints and message.grown)):
        # One id that is longer than any real one: whoever it is about is found by the next look.
        return packed(Message(message.sender, True))
    if message.hints and message.grown:
        first = Message(message.sender, message.stored, message.hints)
        return [*packed(first), *packed(Message(message.sender, grown=message.grown))]
    first = Message(message.sender, message.stored, message.hints[:half_hints], message.grown[:half_grown])
    return [
        *packed(first),
        *packed(Message(message.sender, False, message.hints[half_hints:], message.grown[half_grown:])),
    ]


def opened(text: str) -> Message | None:
    """The message of a text; `None` for what a replica of another version, or somebody else, may have sent."""
    try:
        return msgspec.json.decode(text, type=Message)
    except msgspec.DecodeError:
        return None
