"""What the launcher asks of the kernel: to be woken by signals, to bury orphans, to know who runs from where."""

import os
import signal
from contextlib import suppress
from pathlib import Path

from fairway.agent.launcher.child import HANDED_ON


def signals() -> int:
    """A descriptor that is readable when one of the signals came."""
    woken, wake = os.pipe()
    for each in (woken, wake):
        os.set_blocking(each, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    # The first process of a container has to wait for the children of others, too.
    for number in (*HANDED_ON, *((signal.SIGCHLD,) if os.getpid() == 1 else ())):
        signal.signal(number, lambda *_: None)
    return woken


def bury(ours: int) -> None:
    """Forget processes that others have left to us, if we are the first process. Our own child is not among them."""
    while os.getpid() == 1:
        try:
            found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return
        if found is None or found.si_pid == ours:
            return
        os.waitpid(found.si_pid, 0)


def taken(woken: int) -> bytes:
    """The numbers of the signals that came."""
    with suppress(BlockingIOError):
        return os.read(woken, 4096)
    return b""


def command_lines() -> bytes:
    """The command lines of all processes, one behind the other."""
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with suppress(OSError):
                found.append(Path(entry.path, "cmdline").read_bytes())
    return b"\0\0".join(found)
