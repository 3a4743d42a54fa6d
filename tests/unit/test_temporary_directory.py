"""Temporary directories, and those of processes that were killed."""

import errno
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from fairway import temporary_directory as module
from fairway.temporary_directory import temporary_directory

_OTHER = """
from fairway.temporary_directory import temporary_directory
with temporary_directory() as directory:
    (directory / "login").write_text("password")
    print(directory, flush=True)
    input()
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The system's place for such, for us alone; a process that sweeps only once is asked anew by each test."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield tmp_path
    module._sweep.cache_clear()


@pytest.fixture
def another(place: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that has one, too."""
    process = subprocess.Popen(
        [sys.executable, "-c", _OTHER],
        env={"TMPDIR": str(place)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        yield process
        process.kill()


def _says(process: subprocess.Popen[str]) -> Path:
    assert process.stdout is not None
    return Path(process.stdout.readline().strip())


def test_it_is_private_and_gone_after_the_block() -> None:
    with temporary_directory() as directory:
        assert directory.stat().st_mode & 0o777 == 0o700
        (directory / "file").touch()
    assert not directory.exists()


def test_what_a_killed_process_left_is_removed(another: subprocess.Popen[str], place: Path) -> None:
    theirs = _says(another)
    another.send_signal(signal.SIGKILL)
    another.wait()
    assert (theirs / "login").exists()

    with temporary_directory() as ours:
        assert list(place.iterdir()) == [ours]


def test_what_a_running_process_has_is_left(another: subprocess.Popen[str]) -> None:
    theirs = _says(another)
    with temporary_directory():
        assert (theirs / "login").exists()


def test_what_is_not_ours_is_left(place: Path) -> None:
    (place / "elsewhere").mkdir()
    (place / "elsewhere" / "file").touch()
    (place / f"{module._PREFIX}link").symlink_to(place / "elsewhere")
    (place / "fairway-other").mkdir()
    with temporary_directory():
        assert (place / "elsewhere" / "file").exists()
        assert (place / "fairway-other").exists()


def test_one_that_was_swept_before_it_was_held_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways in which somebody who sweeps may have been quicker: he is at it, or done."""
    with ExitStack() as stack:
        real, made = module._opened, []

        def opened(directory: Path) -> int:
            made.append(directory)
            descriptor = real(directory)
            if len(made) == 1:
                stack.callback(os.close, other := real(directory))
                module._lock(other)
            elif len(made) == 2:
                directory.rmdir()
            return descriptor

        monkeypatch.setattr(module, "_opened", opened)
        with temporary_directory() as directory:
            assert directory == made[2]
            assert directory.exists()


def test_a_file_system_without_locks_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(_opened: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    with temporary_directory() as first:
        monkeypatch.setattr(module, "_lock", no_locks)
        module._sweep.cache_clear()
        with temporary_directory() as second:
            assert first.exists()
            assert second.exists()
