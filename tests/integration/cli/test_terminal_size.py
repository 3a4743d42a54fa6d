"""A terminal whose window is changed while something is drawn on it."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from contextlib import suppress

from tests.patience import PATIENCE_SECONDS

PROGRAM = """
from fairway.cli.output import a_console
console = a_console()
print(console.width, flush=True)
input()
print(console.width, flush=True)
"""


def resize(terminal: int, columns: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))


def everything(terminal: int) -> bytes:
    """What is still to be read of a terminal whose other side has closed."""
    said = b""
    with suppress(OSError):  # Linux says so at its end
        while chunk := os.read(terminal, 1024):
            said += chunk
    return said


def test_what_is_drawn_is_as_wide_as_the_window_is_now() -> None:
    ours, theirs = pty.openpty()
    resize(ours, 120)
    known = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES"}}
    environment = {**known, "TERM": "xterm"}
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment,
    )
    os.close(theirs)

    before = os.read(ours, 1024)
    resize(ours, 80)
    os.write(ours, b"\n")
    after = everything(ours)

    os.close(ours)
    program.wait(PATIENCE_SECONDS)
    assert (before.split(), after.split()) == ([b"120"], [b"80"])
