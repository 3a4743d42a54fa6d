"""How other commands find the server of `fairway up`, also where two of them are at work."""

import socket
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from fairway.cli.profiles import Profile, Profiles, change_profiles, load_profiles, profiles_path
from fairway.cli.up.site import save_profile
from tests.patience import PATIENCE_SECONDS

#: Nobody listens on these ports.
ONE, OTHER = (Profile(server=f"http://127.0.0.1:{port}", api_key=str(port)) for port in (1, 2))


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return profiles_path({"XDG_CONFIG_HOME": str(tmp_path)})


def test_a_second_up_leaves_the_first_its_name_while_that_is_at_work(path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        first = Profile(server=f"http://127.0.0.1:{listening.getsockname()[1]}", api_key="first")

        options = [save_profile(first), save_profile(ONE), save_profile(OTHER)]

    assert options == ["", " --profile up-2", " --profile up-2"]
    assert load_profiles(path).profiles == {"up": first, "up-2": OTHER}


def test_the_name_of_an_up_that_is_gone_is_taken(path: Path) -> None:
    options = [save_profile(ONE), save_profile(OTHER)]

    assert options == ["", ""]
    assert load_profiles(path).profiles == {"up": OTHER}


def test_of_two_that_change_the_profiles_at_once_both_are_kept(path: Path) -> None:
    other_begins = threading.Event()

    def with_other() -> None:
        other_begins.set()
        change_profiles(path, lambda saved: saved.with_profile("other", OTHER))

    with ThreadPoolExecutor() as pool:

        def with_one(saved: Profiles) -> Profiles:
            changing.append(pool.submit(with_other))
            other_begins.wait(PATIENCE_SECONDS)
            return saved.with_profile("one", ONE)

        changing: list[Future[None]] = []
        change_profiles(path, with_one)
        changing[0].result()

    assert load_profiles(path) == Profiles(current="other", profiles={"one": ONE, "other": OTHER})
