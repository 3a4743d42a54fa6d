"""Logs that stay small."""

import os
from pathlib import Path

from fairway.cli.up.log_files import make_small


def test_a_log_that_has_grown_is_moved_aside_and_its_writer_goes_on(tmp_path: Path) -> None:
    log = tmp_path / "agent.log"
    writer = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for said in (b"first " * 10, b"second " * 10, b"third"):
        os.write(writer, said)
        make_small(log, largest=20)
    os.close(writer)

    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == {
        "agent.log": b"third",
        "agent.log.1": b"second " * 10,
    }


def test_a_small_log_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "agent.log").write_text("small")

    make_small(tmp_path / "agent.log", largest=5)

    assert [each.name for each in tmp_path.iterdir()] == ["agent.log"]
