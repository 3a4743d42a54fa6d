"""What a command does when nobody takes what it prints."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.cli.scripted import Answer, a_scripted_server, in_turn


@pytest.mark.parametrize(
    ("stdout", "code", "said"),
    [
        pytest.param("> /dev/full", 1, "what was asked for cannot be written (No space left on device)", id="full"),
        pytest.param(">&-", 0, "", id="closed"),
    ],
)
def test_an_output_that_takes_nothing_is_one_sentence_at_most(
    tmp_path: Path, stdout: str, code: int, said: str
) -> None:
    command = f'exec "{sys.executable}" -m fairway.cli agent list {stdout}'
    with a_scripted_server(in_turn(Answer(200, {"items": []}))) as server:
        known = {"XDG_CONFIG_HOME": str(tmp_path), "FAIRWAY_SERVER": server.url, "FAIRWAY_API_KEY": "k"}

        done = subprocess.run(
            ["/bin/sh", "-c", command], stderr=subprocess.PIPE, env={**os.environ, **known}, text=True, check=False
        )

    assert (done.returncode, done.stderr.strip().removeprefix("fairway: ")) == (code, said)
