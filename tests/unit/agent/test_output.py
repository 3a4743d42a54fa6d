"""What a process of plugins writes: told line by line, so that what is to be masked is never seen in two halves."""

import asyncio
from typing import cast

import pytest

from fairway.agent.plugins.output import Output


class Written:
    """What is read of a process that has written this, piece by piece."""

    def __init__(self, *pieces: bytes) -> None:
        self._pieces = list(pieces)

    async def read(self, _most: int) -> bytes:
        return self._pieces.pop(0) if self._pieces else b""


@pytest.mark.parametrize(
    ("pieces", "told", "last_words"),
    [
        pytest.param([b"a sec", b"ret\nand ", b"more\n"], [b"a ***\n", b"and more\n"], "and more", id="in two pieces"),
        pytest.param([b"one\na sec", b"ret"], [b"one\n", b"a ***"], "a ***", id="at the end, without a line break"),
        pytest.param([b"x" * 65536, b"y"], [b"x" * 65536, b"y"], "x" * 300, id="a line that is too long to wait for"),
    ],
)
async def test_lines_are_told_whole_and_masked(pieces: list[bytes], told: list[bytes], last_words: str) -> None:
    heard: list[bytes] = []
    reader = cast(asyncio.StreamReader, Written(*pieces))

    output = Output(reader, heard.append, lambda lines: lines.replace(b"secret", b"***"))
    await output.close()

    assert (heard, output.last_words) == (told, last_words)
