"""Which applications need not be asked about, and until when."""

from typing import Any

import msgspec
import pytest
from grpc import aio
from hypothesis import given
from hypothesis import strategies as st

from fairway.agent.applications import KnownApplication
from fairway.agent.live_rests import Rests
from fairway.agent.plugins.client import PluginClient, PluginGone
from fairway.model.application import GitPath, Repository
from tests.unit.model.builders import an_application


class Plugins:
    """The plugins that run now."""

    def __init__(self) -> None:
        self.running = {name: a_client(name) for name in ("one", "other")}

    def client(self, name: str) -> PluginClient:
        if name not in self.running:
            raise PluginGone(f"{name} is gone")
        return self.running[name]


def a_client(name: str) -> PluginClient:
    return PluginClient(name, aio.insecure_channel("localhost:1"))


def known(name: str = "web", commit: str = "c1", **fields: Any) -> KnownApplication:
    place = GitPath(repository=Repository(id="r-1"), path=name, config_filename="app.pipecd.yaml")
    application = an_application(f"a-{name}", name=name, **{"git_path": place, **fields})
    return KnownApplication(application=application, commit=commit, file=f"{name}/app.pipecd.yaml", config=None)


def _nobody(name: str) -> PluginClient:
    raise PluginGone(f"{name} is not needed")


async def test_an_application_rests_whatever_else_the_server_learns_of_it() -> None:
    plugins = Plugins()
    rests = Rests(plugins.client)
    rests.begin(known(), list(plugins.running.values()))

    assert rests.holds(known(description="another"))
    assert not rests.holds(known("other"))


@pytest.mark.parametrize(
    "now",
    [
        pytest.param(known(commit="c2"), id="another commit"),
        pytest.param(known(deploy_targets_by_plugin={"one": ("there",)}), id="another deploy target"),
        pytest.param(known(platform_provider="there"), id="another provider"),
        pytest.param(msgspec.structs.replace(known(), file="web/other.pipecd.yaml"), id="another file"),
    ],
)
async def test_a_promise_holds_for_what_was_asked(now: KnownApplication) -> None:
    plugins = Plugins()
    rests = Rests(plugins.client)
    rests.begin(known(), [plugins.client("one")])

    assert not rests.holds(now)


async def test_a_promise_holds_for_as_long_as_the_plugin_lives() -> None:
    plugins = Plugins()
    rests = Rests(plugins.client)
    for name in ("one", "other"):
        rests.begin(known(name), [plugins.client(name)])

    plugins.running["one"] = a_client("one")
    del plugins.running["other"]

    assert not rests.holds(known("one"))
    assert not rests.holds(known("other"))


def test_what_ends_or_is_not_this_agents_any_more_does_not_rest() -> None:
    rests = Rests(_nobody)
    for name in ("a", "b", "c"):
        rests.begin(known(name), [])

    rests.end("a-a")
    rests.keep({"a-a", "a-b"})

    assert [rests.holds(known(name)) for name in ("a", "b", "c")] == [False, True, False]


@given(count=st.integers(1, 60), rounds=st.integers(1, 12))
def test_everybody_has_a_turn_in_so_many_rounds_and_no_round_is_more_work_than_another(count: int, rounds: int) -> None:
    rests, everybody = Rests(_nobody, rounds), [known(str(number)) for number in range(count)]
    for each in everybody:
        rests.begin(each, [])

    turns: list[list[str]] = []
    for _ in range(rounds):
        rests.end_some()
        woken = [each for each in everybody if not rests.holds(each)]
        turns.append([each.application.name for each in woken])
        for each in woken:
            rests.begin(each, [])

    assert [name for turn in turns for name in turn] == [each.application.name for each in everybody]
    assert {len(turn) for turn in turns} <= {count // rounds, -(-count // rounds)}
