"""The output of a script on its way to the log, in pieces that are the same whoever sends them.

A piece is numbered by its place in the output and remembered before it is sent (`Journal.telling`), so that a process
that takes over sends the very same piece again and the server sees that it has it. Pieces end with a line; only a line
that is longer than a piece is cut. What is left when the script has ended goes with the end of the log, which the stage
waits for in any case.
"""

import asyncio
from collections.abc import Coroutine
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeVar

from fairway.model.log_block import LogBlock, LogSeverity
from fairway.model.stage import Stage
from fairway.plugins.scriptrun.journal import Journal, Told
from fairway.sdk.stage_log import StageLog

T = TypeVar("T")

#: How much output is sent as one piece, and how long a line may grow before it is cut. A piece costs three processes a
#: call, and each of them some copies of it; a quarter of a megabyte took 1.6 times the CPU of a whole one for a loud
#: script. A server takes files of more than half a megabyte for large enough, and rewrites smaller ones.
PIECE_BYTES = 576 * 1024
#: How often the output is looked at: at first, and when nothing has come for a while.
_EAGER_SECONDS = 0.02
_CALM_SECONDS = 0.25
#: Block numbers of a script: the stage's start in microseconds, then bytes of output; each attempt has its own range.
_MICROSECONDS = 1_000_000
_ATTEMPT = 2**40


class Place(NamedTuple):
    """Where output is told."""

    stage: Stage
    log: StageLog
    #: Counted from 0.
    attempt: int


class Telling:
    """Sends the output of one attempt of a stage to its log."""

    def __init__(self, journal: Journal, place: Place, piece_bytes: int = PIECE_BYTES) -> None:
        self.journal = journal
        self._log = place.log
        self._piece_bytes = piece_bytes
        self._stage_made = int(place.stage.created_at.timestamp())
        #: The number of the block that begins with the first byte; a script that is taken up again has the same.
        self._first = self._stage_made * _MICROSECONDS + place.attempt * _ATTEMPT

    async def all(self, until: Coroutine[Any, Any, T]) -> T:
        """Send the output as it comes, until the script has ended and all but the last of it is safe."""
        ended = asyncio.create_task(until)
        pause = _EAGER_SECONDS
        try:
            while True:
                over = ended.done()
                if await self.more(at_the_end=over):
                    pause = _EAGER_SECONDS
                elif over:
                    return await ended
                else:
                    await asyncio.wait({ended}, timeout=pause)
                    pause = min(pause * 2, _CALM_SECONDS)
        finally:
            ended.cancel()

    def preface(self, sentence: str) -> None:
        """A line before the output."""
        self._log.add(self._block(-1, sentence, self._stage_made))

    def close(self, sentence: str, severity: LogSeverity) -> None:
        """A last line behind the output; the same, whoever finds the script ended."""
        # The last of the output may have been read in the second after that in which the script has ended.
        at = max(self.journal.ended_at, self.journal.told().at)
        self._log.add(self._block(_ATTEMPT - 1, sentence, at, severity))

    async def more(self, at_the_end: bool) -> bool:
        """Send one piece; whether there was one."""
        told = self.journal.told()
        # What an earlier process was sending is cut where that one cut it, and has its time.
        again = told.sending > told.safe
        piece = self.journal.output(told.safe, told.sending - told.safe if again else self._piece_bytes)
        if not again:
            piece = _whole_lines(piece, at_the_end or len(piece) >= self._piece_bytes)
        if not piece:
            return False
        at = told.at if again else int(self._log.clock.now().timestamp())
        end = told.safe + len(piece)
        self.journal.telling(Told(told.safe, end, at))
        block = self._block(told.safe, piece.decode("utf-8", "replace").removesuffix("\n"), at)
        del piece  # not held while the same is on its way
        if at_the_end and end == self.journal.written:
            self._log.add(block)
            return False
        await self._log.send(block)
        self.journal.telling(Told(end, end, at))
        return True

    def _block(self, number: int, text: str, at: int, severity: LogSeverity = LogSeverity.INFO) -> LogBlock:
        return LogBlock(
            index=self._first + number, log=text, created_at=datetime.fromtimestamp(at, UTC), severity=severity
        )


def _whole_lines(piece: bytes, with_rest: bool) -> bytes:
    """The piece up to its last line end; all of it when there is none and nothing is to be waited for."""
    end = piece.rfind(b"\n") + 1
    return _whole_characters(piece) if with_rest and not end else piece[:end]


def _whole_characters(piece: bytes) -> bytes:
    """The piece without the beginning of a character whose rest is to come."""
    for missing in range(1, min(4, len(piece))):
        lead = piece[-missing]
        if lead >= 0xC0:
            needed = 2 + (lead >= 0xE0) + (lead >= 0xF0)
            return piece[:-missing] if missing < needed else piece
    return piece
