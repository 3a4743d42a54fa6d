"""A process of the launcher that could not be started leaves no file open: the launcher tries again for ever."""

import errno
import os
import subprocess

import pytest

from fairway.agent.launcher.child import Child


def open_files() -> set[str]:
    """Of this process; others in it may close some at any time, such as gRPC after an earlier test."""
    return set(os.listdir("/proc/self/fd"))


def no_process() -> int:
    raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))


def test_a_machine_that_has_no_process_to_give_is_not_asked_for_a_file_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "fork", no_process)
    before = open_files()
    with pytest.raises(BlockingIOError):
        Child(["/bin/true"], lock=0)

    assert open_files() <= before


def test_a_process_that_cannot_be_watched_does_not_run_beside_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_handle(_pid: int) -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    before = open_files()
    with subprocess.Popen(["/bin/sleep", "1000"]) as agent:
        monkeypatch.setattr(os, "fork", lambda: agent.pid)
        monkeypatch.setattr(os, "pidfd_open", no_handle)
        with pytest.raises(OSError, match="Too many open files"):
            Child(["/bin/true"], lock=0)
        is_there = os.path.exists(f"/proc/{agent.pid}")
        agent.kill()

    assert not is_there
    assert open_files() <= before
