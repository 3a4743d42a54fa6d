"""The agent's file of `fairway up`, which its user may change."""

from pathlib import Path

import pytest
import yaml

from fairway.cli.up.agent_file import AgentFile, WatchedRepository
from fairway.cli.up.places import Places
from fairway.config.problems import ConfigError
from fairway.config.read import read_agent

SERVER = "127.0.0.1:9080"
SHOP = WatchedRepository(id="shop", path=Path("/shop"), branch="main")
#: What somebody added by hand.
CLUSTER = """\
  - name: kubernetes
    url: builtin:kubernetes
    deployTargets: # where to
    - name: dev
"""
ELSEWHERE = """\
  - repoId: far
    remote: https://git.example.com/far.git
    branch: main
"""


@pytest.fixture
def places(tmp_path: Path) -> Places:
    places = Places(tmp_path)
    AgentFile(places).write("agent-1", SERVER, [SHOP])
    return places


def change(places: Places, found: str, wanted: str) -> str:
    text = places.agent_file.read_text()
    assert found in text
    places.agent_file.write_text(text.replace(found, wanted))
    return text.replace(found, wanted)


def test_the_first_file_is_one_that_an_agent_can_start_with(places: Places) -> None:
    config = read_agent(places.agent_file.read_bytes(), "agent.yaml")

    assert (config.agent_id, config.api_address, [plugin.name for plugin in config.plugins]) == (
        "agent-1",
        SERVER,
        ["process"],
    )
    assert (AgentFile(places).agent_id, AgentFile(places).repositories) == ("agent-1", [SHOP])


def test_a_file_that_is_up_to_date_is_not_touched(places: Places) -> None:
    text = change(places, "  repositories:\n", f"{CLUSTER}  repositories:\n")

    AgentFile(places).write("agent-1", SERVER, [SHOP])

    assert places.agent_file.read_text() == text


def test_what_somebody_added_is_there_after_the_agent_its_server_and_its_repositories_have_changed(
    places: Places,
) -> None:
    change(places, "  repositories:\n", f"{CLUSTER}  repositories:\n{ELSEWHERE}")
    change(places, "kind: Piped\nspec:\n", "kind: Piped\nspec:\n  syncInterval: 30s\n")
    other = WatchedRepository(id="other", path=Path("/other"), branch="trunk")

    AgentFile(places).write("agent-2", "127.0.0.1:10001", [other])

    spec = yaml.safe_load(places.agent_file.read_text())["spec"]
    assert (spec["pipedID"], spec["apiAddress"], spec["syncInterval"]) == ("agent-2", "127.0.0.1:10001", "30s")
    assert [plugin.get("deployTargets") for plugin in spec["plugins"]] == [None, [{"name": "dev"}]]
    assert [each["repoId"] for each in spec["repositories"]] == ["other", "far"]
    assert AgentFile(places).repositories == [other]


def test_a_file_that_nobody_can_read_is_told_with_its_line_and_stays(places: Places) -> None:
    text = change(places, "url: builtin:process", "url: [")

    with pytest.raises(ConfigError, match=rf"{places.agent_file}:\d+"):
        AgentFile(places)

    assert places.agent_file.read_text() == text
