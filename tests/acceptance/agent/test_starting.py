"""`fairway agent` as a person starts it: what is missing or wrong is said in a sentence, and secrets stay with it."""

import base64
import subprocess
from pathlib import Path

import pytest

from tests.acceptance.agent.sites import How, a_site, command_line, descendants, until
from tests.acceptance.server.processes import FAIRWAY
from tests.integration.agent.foreign import a_foreign_plugin
from tests.integration.agent.running import an_application_file, script

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


def is_plugin(line: str) -> bool:
    return "fairway.sdk.host" in line or "--piped-plugin-service" in line


def test_what_an_agent_is_told_by_its_environment_reaches_neither_scripts_nor_plugins(tmp_path: Path) -> None:
    has, done = tmp_path / "has", tmp_path / "done"
    file = an_application_file(script(f"env > {has}; tr '\\0' '\\n' < /proc/$PPID/environ >> {has}; touch {done}"))
    entry = f"[{{name: foreign, url: '{a_foreign_plugin(tmp_path / 'made')}', config: {{diary: {tmp_path}/diary}}}}]"
    how = How(plugins=entry, environment={"TOLD": "passed on"}, file_in_environment=True)
    with a_site(tmp_path, {"web/app.pipecd.yaml": file}, how) as site:
        site.add_applications("web")
        until(done.exists)
        plugins = [each for each in descendants(site.agent_proper) if is_plugin(command_line(each))]
        found = [has.read_text(), *(Path(f"/proc/{each}/environ").read_text() for each in plugins)]

        assert len(plugins) >= 2, "those that Fairway brings along, and the foreign one"
        assert ["TOLD=passed on" in each for each in found] == [True] * len(found)
        assert [name for each in found for name in ("FAIRWAY_AGENT_CONFIG", "FAIRWAY_LAUNCHER") if name in each] == []
