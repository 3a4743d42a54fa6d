"""One agent at a time works with one data directory."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fairway.agent.own_data import DataInUse, own_data

_HOLD = "import sys; from pathlib import Path; from fairway.agent.own_data import own_data\n"
_HOLD += "with own_data(Path(sys.argv[1])):\n    print('mine', flush=True); sys.stdin.read()"


def test_a_second_agent_is_refused_at_once_and_told_who_the_first_is(tmp_path: Path) -> None:
    with own_data(tmp_path), pytest.raises(DataInUse) as refused, own_data(tmp_path):
        pass

    assert str(refused.value) == (
        f"another agent (pid {os.getpid()}) works with the data in {tmp_path}; stop it first, or choose another --data"
    )


def test_the_data_of_an_agent_that_was_killed_is_free_at_once(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", _HOLD, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "mine\n"
        with pytest.raises(DataInUse, match=f"pid {process.pid}"), own_data(tmp_path):
            pass
        process.kill()
        process.wait()

    with own_data(tmp_path):
        assert (tmp_path / "at-work.lock").read_text() == f"{os.getpid()}\n"


def test_a_disk_that_takes_nothing_keeps_no_agent_from_its_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_file: int, _data: bytes, _place: int) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    # Of the kernel's, which says so.
    monkeypatch.setattr(os, "pwrite", full)

    with own_data(tmp_path), pytest.raises(DataInUse, match="pid unknown"), own_data(tmp_path):
        pass


def test_nobody_else_looks_into_what_may_be_private_in_a_directory_that_is_open(tmp_path: Path) -> None:
    (tmp_path / "mirrors").mkdir(mode=0o755)

    with own_data(tmp_path):
        modes = {each.name: each.stat().st_mode & 0o777 for each in tmp_path.iterdir() if each.is_dir()}

    assert modes == {"mirrors": 0o700, "work": 0o700, "tools": 0o700}
