"""`tools/retry` with a registry that only pretends, and pauses that take no time."""

import os
import subprocess
from pathlib import Path

import pytest

RETRY = Path(__file__).parents[3] / "tools" / "retry"


def retried(folder: Path, hiccups: int) -> tuple[int, int, int]:
    """How it ended, how often the registry was asked, and how many seconds would have passed."""
    programs = {
        "registry": f'#!/bin/sh\necho >>asked\n[ "$(wc -l <asked)" -gt {hiccups} ] || exit 7\n',
        "sleep": '#!/bin/sh\necho "$1" >>slept\n',
    }
    for name, code in programs.items():
        (folder / name).write_text(code)
        (folder / name).chmod(0o755)
    (folder / "slept").touch()
    path = f"{folder}:{os.environ['PATH']}"

    ended = subprocess.run([RETRY, "registry"], cwd=folder, env={**os.environ, "PATH": path}, check=False)

    slept = sum(int(line) for line in (folder / "slept").read_text().splitlines())
    return ended.returncode, len((folder / "asked").read_text().splitlines()), slept


@pytest.mark.parametrize(
    ("hiccups", "expected"),
    [
        pytest.param(0, (0, 1, 0), id="none"),
        pytest.param(3, (0, 4, 22), id="some"),
        pytest.param(99, (7, 7, 232), id="one that is away"),
    ],
)
def test_a_registry_is_asked_again_with_longer_and_longer_pauses(
    tmp_path: Path, hiccups: int, expected: tuple[int, int, int]
) -> None:
    assert retried(tmp_path, hiccups) == expected
