"""The program of the render process: reads requests from its input, writes answers to its output.

The kernel ends it at the limit of CPU time; it ends itself when out of memory or idle.
"""

import os
import resource
import select
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress

import msgspec

from fairway.secrets.engine import render
from fairway.secrets.renderer import (
    IDLE_SECONDS,
    MEMORY_BYTES,
    OUT_OF_MEMORY,
    Rendered,
    Request,
    read_frame,
    write_frame,
)
from fairway.secrets.secret import SecretError
from fairway.secrets.template import MAX_TOTAL_CHARACTERS, Source, Text


def main() -> None:
    """Answer requests until the input ends, or none comes for a while."""
    _limit()
    while select.select([sys.stdin], [], [], IDLE_SECONDS)[0]:
        frame = read_frame(sys.stdin.buffer)
        if frame is None:
            return
        try:
            request = msgspec.msgpack.decode(frame, type=Request)
            signal.setitimer(signal.ITIMER_PROF, request.cpu_seconds)
            for answer in answers(request):
                write_frame(sys.stdout.buffer, answer)
        except MemoryError:
            os._exit(OUT_OF_MEMORY)
        signal.setitimer(signal.ITIMER_PROF, 0)
        del frame, request


def answers(request: Request) -> Iterator[Rendered]:
    """One for each text of the request; MemoryError when a template needs too much."""
    left = MAX_TOTAL_CHARACTERS
    for text in request.texts:
        try:
            pieces = tuple(_pieces(text, request, left))
        except SecretError as error:
            yield Rendered(problem=str(error))
            continue
        left -= sum(map(len, pieces))
        yield Rendered(pieces)


def _pieces(text: Text, request: Request, left: int) -> Iterator[str]:
    for start, end in text.pieces:
        piece = render(Source(text.name, text.text, start, end), request.data)
        left -= len(piece)
        if left < 0:
            raise SecretError(
                f"{text.name}: the templates of this application were stopped: "
                f"they produced more than {MAX_TOTAL_CHARACTERS} characters"
            )
        yield piece


def _limit() -> None:
    # Ctrl-C on a terminal is for the agent; the end of the input ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Some systems do not have this limit.
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


if __name__ == "__main__":
    main()
