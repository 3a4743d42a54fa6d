"""A part of a log: one object, with blocks in the order of their indexes, one JSON document a line.

Its name is `<first index>-<last index>-<digest>.jsonl`, indexes in 19 digits, so that a listing has the parts in order,
says which of them a reader needs, and the same append sent twice makes one object. Parts may overlap, because an agent
sends its blocks again at a checkpoint and two replicas may take them; `Merge` makes one log of them. It gives the same
log whatever order the parts arrive in, so that replicas and rewriting cannot disagree.
"""

import hashlib
import re
from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence

import msgspec

from fairway.errors import UserError
from fairway.model.log_block import LogBlock
from fairway.server.logs.objects import LogStorageError

#: Indexes are signed 64-bit numbers on the wire.
LAST_INDEX = 2**63 - 1
#: A stage is not started more often than this; an agent that repeats one number for ever must not fill the memory.
MOST_WITH_ONE_INDEX = 64
_NAME = re.compile(r"([0-9]{19})-([0-9]{19})-([0-9a-f]{32})\.jsonl")
_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(LogBlock)


class LogBlockError(UserError):
    """A block that cannot be placed in a log."""


class Part(msgspec.Struct, frozen=True, order=True):
    """What the listing says about one part."""

    first: int
    last: int
    digest: str
    size: int

    @property
    def name(self) -> str:
        return f"{self.first:019}-{self.last:019}-{self.digest}.jsonl"


class Merge:
    """Blocks put in order, each once.

    The same block again, as agents send it at a checkpoint, is one block. Another block with a known index is another
    line: PipeCD's agents number from the clock when a stage starts, so one that printed fast and was started again uses
    numbers twice. Both stay, the older first.
    """

    def __init__(self) -> None:
        self._blocks: dict[int, list[LogBlock]] = {}
        #: The indexes of the blocks; in order up to what was added last, which makes sorting them cheap.
        self._indexes: list[int] = []
        self._characters = 0

    def add(self, blocks: Iterable[LogBlock]) -> None:
        for block in blocks:
            known = self._blocks.get(block.index)
            if known is None:
                self._indexes.append(block.index)
                self._blocks[block.index] = [block]
            elif block in known:
                continue
            else:
                insort(known, block, key=_age)
                if len(known) > MOST_WITH_ONE_INDEX:
                    self._characters -= len(known.pop().log)
            self._characters += len(block.log)

    def take_below(self, index: int) -> list[LogBlock]:
        """Remove and return, in order, the blocks that come before `index`."""
        self._indexes.sort()
        ready = bisect_left(self._indexes, index)
        taken = [block for each in self._indexes[:ready] for block in self._blocks.pop(each)]
        del self._indexes[:ready]
        self._characters -= sum(len(block.log) for block in taken)
        return taken

    def drop_beyond(self, characters: int) -> int:
        """Let go of the last blocks while there is more text than this, but never of the first index.

        Returns the index from which on blocks may be missing now; one after the last where none is.
        """
        dropped = LAST_INDEX + 1
        self._indexes.sort()
        while self._characters > characters and len(self._indexes) > 1:
            dropped = self._indexes.pop()
            self._characters -= sum(len(block.log) for block in self._blocks.pop(dropped))
        return dropped


def encode_part(blocks: Sequence[LogBlock]) -> tuple[Part, bytes]:
    """The object that holds these blocks, in any order and with repeats; there is at least one."""
    for block in blocks:
        if not 0 <= block.index <= LAST_INDEX:
            raise LogBlockError(f"a block of a log has the index {block.index}; expected 0 to {LAST_INDEX}")
    merge = Merge()
    merge.add(blocks)
    ordered = merge.take_below(LAST_INDEX + 1)
    content = _ENCODER.encode_lines(ordered)
    return Part(ordered[0].index, ordered[-1].index, _digest(content), len(content)), content


def decode_part(part: Part, content: bytes) -> list[LogBlock]:
    """The blocks of a part, checked against its name."""
    if _digest(content) != part.digest:
        raise LogStorageError(
            f"the log part {part.name} is damaged: its content is not what its name says; restore it from a backup, "
            f"or delete it to read the rest of the log"
        )
    return _DECODER.decode_lines(content)


def find_parts(listing: dict[str, int]) -> list[Part]:
    """The parts among the objects of a log, in order."""
    found = ((_NAME.fullmatch(name.rpartition("/")[2]), size) for name, size in listing.items())
    return sorted(Part(int(name[1]), int(name[2]), name[3], size) for name, size in found if name)


def _age(block: LogBlock) -> tuple[float, str, str]:
    return block.created_at.timestamp(), block.severity.value, block.log


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()
