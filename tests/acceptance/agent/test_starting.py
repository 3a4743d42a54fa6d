"""`fairway agent` as a person starts it: what is missing or wrong is said in a sentence."""

import base64
import subprocess
from pathlib import Path

import pytest

from tests.acceptance.server.processes import FAIRWAY

FILE = "apiVersion: pipecd.dev/v1beta1\nkind: Piped\nspec: {projectID: p, pipedID: a, apiAddress: 'localhost:1'}\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(("--insecure",), "--config-file is missing", id="no file"),
        pytest.param(("--config-file", "agent.yaml"), "--data is missing", id="no data"),
        pytest.param(("--config-file", "none.yaml", "--data", "d"), "none.yaml cannot be read", id="file not there"),
        pytest.param(("--config-data", "?", "--data", "d"), "--config-data is no base64", id="no base64"),
        pytest.param(
            ("--config-data", base64.b64encode(FILE.encode()).decode(), "--data", "d"),
            "pipedKey",
            id="a file without a key, as base64",
        ),
    ],
)
def test_an_agent_that_cannot_start_says_why(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    (tmp_path / "agent.yaml").write_text(FILE)

    done = subprocess.run([FAIRWAY, "agent", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.returncode != 0
    assert said in done.stderr
    assert "Traceback" not in done.stderr
