"""A process of the launcher that could not be started leaves no file open: the launcher tries again for ever."""

import errno
import os

import pytest

from fairway.agent.launcher.child import Child


def no_process() -> int:
    raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))


def test_a_machine_that_has_no_process_to_give_is_not_asked_for_a_file_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "fork", no_process)
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(BlockingIOError):
        Child(["/bin/true"], lock=0)

    assert len(os.listdir("/proc/self/fd")) == before
