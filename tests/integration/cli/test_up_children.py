"""Processes that `fairway up` keeps running, and that end with it."""

import os
from pathlib import Path

import pytest

from fairway.cli.up.children import Child
from tests.patience import PATIENCE_SECONDS

#: Nobody has this number, so a process that is started believes that its parent is gone.
NOBODY = 0


def test_a_child_whose_parent_is_killed_while_it_starts_it_does_not_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getppid", lambda: NOBODY)
    child = Child("sleeper", ["sleep", "1000"], tmp_path / "log")

    with child._start() as process:
        try:
            ended = process.wait(timeout=PATIENCE_SECONDS)
        finally:
            process.kill()

    assert ended == 1
