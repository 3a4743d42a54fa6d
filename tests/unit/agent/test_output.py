"""What a process of plugins writes: told line by line, so that what is to be masked is never seen in two halves."""

import asyncio
from typing import cast

import pytest

from fairway.agent.plugins.output import Output
from fairway.secrets.redact import Redactor
from fairway.secrets.secret import MASK, Secret

LONG = b"x" * 65536
SHOWN = f"a {MASK}".encode()


class Written:
    """What is read of a process that has written this, piece by piece."""

    def __init__(self, *pieces: bytes) -> None:
        self._pieces = list(pieces)

    async def read(self, _most: int) -> bytes:
        return self._pieces.pop(0) if self._pieces else b""


@pytest.mark.parametrize(
    ("pieces", "told", "last_words"),
    [
        pytest.param(
            [b"a hush-", b"hush\nand ", b"more\n"], [SHOWN + b"\n", b"and more\n"], "and more", id="in two pieces"
        ),
        pytest.param(
            [b"one\na hush-", b"hush"], [b"one\n", SHOWN], SHOWN.decode(), id="at the end, without a line break"
        ),
        pytest.param([b"x" * 65536, b"y"], [b"x" * 65536, b"y"], "x" * 300, id="a line that is too long to wait for"),
        pytest.param(
            [LONG + b"hush-", b"hush, and more\n\na hush-hush\n"],
            [LONG, MASK.encode() + b", and more\n\n" + SHOWN + b"\n"],
            SHOWN.decode(),
            id="across the cut of such a line",
        ),
        pytest.param([LONG + b"hush-", b"hush"], [LONG, MASK.encode()], "x" * 300, id="at its end"),
        pytest.param([LONG + b"hush-"], [LONG, b"hush-"], "x" * 300, id="what only began like one"),
    ],
)
async def test_lines_are_told_whole_and_masked(pieces: list[bytes], told: list[bytes], last_words: str) -> None:
    heard: list[bytes] = []
    reader = cast(asyncio.StreamReader, Written(*pieces))

    output = Output(reader, heard.append, Redactor([Secret("hush-hush")]).stream)
    await output.close()

    assert (heard, output.last_words) == (told, last_words)
