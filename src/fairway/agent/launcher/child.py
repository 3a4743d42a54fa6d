"""One run of the agent proper: a process that ends with the launcher, and a pipe by which it says how it stands.

Made with fork and exec by hand, because the launcher stays in memory for ever and needs nothing else of `subprocess`.
"""

import contextlib
import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

#: Tells the agent the numbers of its end of the pipe and of the lock on its data.
ENVIRONMENT = "FAIRWAY_LAUNCHER"
_SET_PARENT_DEATH_SIGNAL = 1  # of prctl(2)
#: An agent that says more than that in one line says nothing that can be meant.
_LONGEST_LINE = 64 * 1024


class Child:
    """A process of ours. It is started by the launcher's only thread, which the kernel takes for its parent."""

    def __init__(self, command: Sequence[str], lock: int) -> None:
        self.pipe, theirs = os.pipe()
        os.set_blocking(self.pipe, False)
        us = os.getpid()
        # A signal that comes before the child listens as it should would be lost.
        signal.pthread_sigmask(signal.SIG_BLOCK, HANDED_ON)
        try:
            self.pid = os.fork()
            if self.pid == 0:
                _become(command, (theirs, lock), us)
        except OSError:
            os.close(self.pipe)
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, HANDED_ON)
            os.close(theirs)
        #: How it ended: its status, or the number of a signal, negative. None while it has not.
        self.status: int | None = None
        try:
            #: Readable as soon as the process has ended.
            self.handle = os.pidfd_open(self.pid)
        except OSError:
            # Nobody would know of it, and the next one would be started beside it.
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            os.close(self.pipe)
            raise
        #: It has closed its end of the pipe; only its own end is to be waited for then.
        self.silent = False
        self._heard = b""

    def heard(self) -> list[bytes]:
        """The lines that it has said since the last time."""
        with contextlib.suppress(BlockingIOError):
            while piece := os.read(self.pipe, 65536):
                self._heard += piece
            self.silent = True
        *lines, self._heard = self._heard.split(b"\n")
        self._heard = self._heard[:_LONGEST_LINE]
        return lines

    def signal(self, number: int) -> None:
        """Send it a signal."""
        # Once it was waited for, its number may be somebody else's.
        if self.status is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def look(self) -> None:
        """See whether it has ended. What it has said until then can still be heard."""
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)

    def close(self) -> None:
        """Forget it; it has ended."""
        os.close(self.handle)
        os.close(self.pipe)


def _become(command: Sequence[str], kept: tuple[int, int], launcher: int) -> NoReturn:
    """Be the agent, from the fork on."""
    try:
        # Loaded here and not in the launcher, which would keep it.
        import ctypes

        # As a power cut would: whoever kills the launcher means the agent.
        ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() != launcher:
            os._exit(1)
        signal.set_wakeup_fd(-1)
        for number in HANDED_ON:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, HANDED_ON)
        for each in kept:
            os.set_inheritable(each, True)
        os.environ[ENVIRONMENT] = ",".join(map(str, kept))
        os.execv(command[0], list(command))  # noqa: S606  # a list of arguments, without a shell
    except OSError as error:
        sys.stderr.write(f"fairway: {command[0]} cannot be started ({error.strerror})\n")
    finally:
        # Whatever went wrong, there must not be two launchers.
        os._exit(126)


#: Signals that are meant for the agent, whoever got them.
HANDED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
