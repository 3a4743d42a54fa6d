"""The agent's file of `fairway up`, which its user may change."""

from pathlib import Path

import pytest
import yaml

from fairway.cli.up.agent_file import AgentFile, WatchedRepository
from fairway.cli.up.places import Places
from fairway.config.agent_file import KeyPair, SecretManagement
from fairway.config.problems import ConfigError
from fairway.config.read import read_agent
from fairway.secrets.sealed import seal, unseal

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


def keys(places: Places) -> tuple[str, str]:
    return places.sealing_key.read_text(), places.public_sealing_key.read_text()


def test_the_first_file_names_a_key_pair_that_nobody_else_may_read(places: Places) -> None:
    management = read_agent(places.agent_file.read_bytes(), "agent.yaml").secret_management

    private, public = keys(places)
    pair = KeyPair(private_key_file=str(places.sealing_key), public_key_file=str(places.public_sealing_key))
    assert management == SecretManagement(type="KEY_PAIR", config=pair)
    assert unseal(seal("hush", public), private).reveal() == "hush"
    assert places.sealing_key.stat().st_mode & 0o777 == 0o600


def test_a_file_of_before_gets_the_key_pair_that_was_made_once(places: Places) -> None:
    before = keys(places)
    document = yaml.safe_load(places.agent_file.read_text())
    named = document["spec"].pop("secretManagement")
    places.agent_file.write_text(yaml.safe_dump(document))

    AgentFile(places).write("agent-1", SERVER, [SHOP])

    assert yaml.safe_load(places.agent_file.read_text())["spec"]["secretManagement"] == named
    assert keys(places) == before


def test_a_file_with_a_key_of_its_users_own_keeps_it(places: Places) -> None:
    own = {"type": "KEY_PAIR", "config": {"privateKeyFile": "/etc/my.key", "publicKeyFile": "/etc/my.pub"}}
    document = yaml.safe_load(places.agent_file.read_text())
    document["spec"]["secretManagement"] = own
    text = yaml.safe_dump(document)
    places.agent_file.write_text(text)

    AgentFile(places).write("agent-1", SERVER, [SHOP])

    assert places.agent_file.read_text() == text


def test_a_data_directory_that_was_moved_finds_its_key_pair(places: Places, tmp_path: Path) -> None:
    before = keys(places)
    moved = Places(places.data.rename(tmp_path.with_name("elsewhere")))

    AgentFile(moved).write("agent-1", SERVER, [SHOP])

    management = read_agent(moved.agent_file.read_bytes(), "agent.yaml").secret_management
    pair = KeyPair(private_key_file=str(moved.sealing_key), public_key_file=str(moved.public_sealing_key))
    assert management == SecretManagement(type="KEY_PAIR", config=pair)
    assert keys(moved) == before
