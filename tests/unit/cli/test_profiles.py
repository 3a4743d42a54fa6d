"""Which server a command talks to, and the file that holds the keys."""

import stat
from pathlib import Path

import pytest

from fairway.cli.profiles import (
    API_KEY,
    PROFILE,
    PROJECT,
    SERVER,
    Profile,
    ProfileError,
    Profiles,
    choose,
    load_profiles,
    profiles_path,
    save_profiles,
)

LOCAL = Profile(server="http://127.0.0.1:9082", api_key="local-key", project="shop")
WORK = Profile(server="https://fairway.example.com", api_key="work-key", ca_file="/etc/ca.pem")
SAVED = Profiles(current="local", profiles={"local": LOCAL, "work": WORK})


@pytest.mark.parametrize(
    ("environment", "name", "project", "chosen"),
    [
        pytest.param({}, "", "", LOCAL, id="the current one"),
        pytest.param({PROFILE: "work"}, "", "", WORK, id="the one of the environment"),
        pytest.param({PROFILE: "local"}, "work", "", WORK, id="the named one before the environment's"),
        pytest.param(
            {}, "", "bank", Profile(server=LOCAL.server, api_key="local-key", project="bank"), id="another project"
        ),
        pytest.param(
            {PROJECT: "bank"},
            "",
            "",
            Profile(server=LOCAL.server, api_key="local-key", project="bank"),
            id="the project of the environment",
        ),
        pytest.param(
            {SERVER: "http://other:1", API_KEY: "other"},
            "",
            "",
            Profile(server="http://other:1", api_key="other"),
            id="server and key of the environment",
        ),
        pytest.param({SERVER: WORK.server + "/"}, "", "", WORK, id="a server that a profile knows"),
        pytest.param(
            {SERVER: "http://other:1", API_KEY: "other"}, "work", "", WORK, id="the named one, and its own key"
        ),
    ],
)
def test_a_server_is_chosen(environment: dict[str, str], name: str, project: str, chosen: Profile) -> None:
    assert choose(SAVED, environment, name, project) == chosen


def test_a_key_is_not_sent_to_a_server_it_was_not_given_for() -> None:
    with pytest.raises(ProfileError, match="no API key for http://other:1"):
        choose(SAVED, {SERVER: "http://other:1"})


def test_without_any_server_one_is_told_how_to_begin() -> None:
    with pytest.raises(ProfileError, match="fairway profile add NAME --server URL"):
        choose(Profiles(), {})


def test_an_unknown_profile_lists_the_known_ones() -> None:
    with pytest.raises(ProfileError, match="no profile 'home'; there is local, work"):
        choose(SAVED, {}, "home")


def test_the_current_profile_once_removed_leaves_none_current() -> None:
    assert SAVED.without_profile("local") == Profiles(current="", profiles={"work": WORK})


def test_what_is_saved_is_loaded_and_nobody_else_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "new" / "config.yaml"

    save_profiles(path, SAVED)

    assert load_profiles(path) == SAVED
    assert (stat.S_IMODE(path.stat().st_mode), stat.S_IMODE(path.parent.stat().st_mode)) == (0o600, 0o700)
    assert list(path.parent.iterdir()) == [path]


def test_a_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    save_profiles(path, SAVED)
    path.chmod(0o640)

    with pytest.raises(ProfileError, match="chmod 600"):
        load_profiles(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("profiles: {a: {api_key: secret-1}}", "missing required field `server`", id="no server"),
        pytest.param("profiles: {a: {server: x, key: secret-1}}", "unknown field `key`", id="an unknown field"),
        pytest.param("profiles: [secret-1", "line 1 is not YAML", id="no YAML"),
        pytest.param("- secret-1", "Expected `object`", id="a list"),
    ],
)
def test_a_file_that_is_no_file_of_profiles_is_refused_without_quoting_it(
    text: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "config.yaml"
    path.touch(0o600)
    path.write_text(text)

    with pytest.raises(ProfileError) as refusal:
        load_profiles(path)

    assert message in str(refusal.value)
    assert "secret-1" not in str(refusal.value)


def test_a_profile_does_not_show_its_key() -> None:
    assert "key" not in repr(SAVED)


@pytest.mark.parametrize(
    ("environment", "path"),
    [
        pytest.param({"HOME": "/home/ada"}, "/home/ada/.config/fairway/config.yaml", id="at home"),
        pytest.param({"HOME": "/h", "XDG_CONFIG_HOME": "/x"}, "/x/fairway/config.yaml", id="where XDG says"),
        pytest.param({"HOME": "/h", "XDG_CONFIG_HOME": "x"}, "/h/.config/fairway/config.yaml", id="not a relative XDG"),
    ],
)
def test_the_file_is_where_the_environment_says(environment: dict[str, str], path: str) -> None:
    assert profiles_path(environment) == Path(path)


@pytest.mark.parametrize(
    ("server", "words"),
    [
        pytest.param("127.0.0.1:9082", "FAIRWAY_SERVER is '127.0.0.1:9082'; expected http://HOST:PORT", id="no scheme"),
        pytest.param("http://host:port", "FAIRWAY_SERVER is no address", id="no number"),
        pytest.param("https://ada:hush@host", "FAIRWAY_SERVER holds a name or a password", id="a password"),
    ],
)
def test_the_environments_server_must_be_an_address_and_no_password_is_repeated(server: str, words: str) -> None:
    with pytest.raises(ProfileError, match=words) as refused:
        choose(SAVED, {SERVER: server, API_KEY: "k"})

    assert "hush" not in str(refused.value)
