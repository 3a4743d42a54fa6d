"""What runs has changed, or has drifted from Git: told at once, and mended where the file asks for it."""

import functools
import os
import signal
from pathlib import Path

import msgspec
import pytest

from fairway.agent import at_work
from fairway.agent.live_state import LiveStates
from fairway.model.application import SyncStatus
from fairway.model.deployment import Deployment, DeploymentStatus
from tests.integration.agent.drifting import AS_GIT_SAYS, HOPELESS, INCURABLE, put
from tests.integration.agent.running import World, a_world, an_agent_at_work, until
from tests.integration.git.repositories import an_origin


def an_application(plugin: str = "drifting", **trigger: object) -> str:
    spec = {"name": "web", "plugins": {plugin: {}}, "trigger": trigger}
    file = {"apiVersion": "pipecd.dev/v1beta1", "kind": "Application", "spec": spec}
    return msgspec.json.encode(file).decode()


def plugins(file: Path) -> str:
    return msgspec.json.encode([a_plugin("drifting", file)]).decode()


def a_plugin(name: str, file: Path, **config: object) -> dict[str, object]:
    return {
        "name": name,
        "url": "python:tests.integration.agent.drifting:Drifting",
        "config": {"file": str(file), **config},
        "deployTargets": [{"name": "here"}],
        # A process of its own.
        "isolation": "process",
    }


async def until_it_is(world: World, status: SyncStatus) -> str:
    async def look() -> str | None:
        state = (await world.application()).sync_state
        return state.short_reason or "-" if state is not None and state.status is status else None

    return await until(look)


async def until_deployed(world: World, count: int) -> tuple[Deployment, ...]:
    async def look() -> tuple[Deployment, ...] | None:
        found = await world.deployments()
        ended = [each for each in found if each.status.is_terminal]
        return found if len(ended) >= count else None

    return await until(look)


async def test_the_server_knows_of_a_change_without_anybody_asking_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nobody asks by himself for the time of the test.
    monkeypatch.setattr(at_work, "LiveStates", functools.partial(LiveStates, ask_seconds=1_000_000.0))
    file = tmp_path / "runs"
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": an_application()})) as world:
        await world.add_application(deploy_targets_by_plugin={"drifting": ("here",)})
        async with an_agent_at_work(world, plugins(file)):
            await until_it_is(world, SyncStatus.SYNCED)
            put(file, "broken")
            first = await until_it_is(world, SyncStatus.OUT_OF_SYNC)
            put(file, AS_GIT_SAYS)
            await until_it_is(world, SyncStatus.SYNCED)

        assert first == "it is broken"
        assert len(await world.deployments()) == 1, "drift alone deploys nothing"


async def test_what_has_drifted_is_deployed_again_where_the_file_asks_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(at_work, "LiveStates", functools.partial(LiveStates, ask_seconds=0.1))
    file = tmp_path / "runs"
    asking = an_application(onOutOfSync={"disabled": False, "minWindow": "1s"})
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": asking})) as world:
        await world.add_application(deploy_targets_by_plugin={"drifting": ("here",)})
        async with an_agent_at_work(world, plugins(file)):
            await until_deployed(world, 1)
            put(file, "broken")
            deployments = await until_deployed(world, 2)
            await until_it_is(world, SyncStatus.SYNCED)

        newest = max(deployments, key=lambda each: each.created_at)
        assert newest.status is DeploymentStatus.SUCCEEDED
        assert newest.trigger.strategy_summary == "What runs differs from what Git says"
        assert file.read_text() == AS_GIT_SAYS


async def test_what_drifts_once_more_in_the_same_way_is_mended_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(at_work, "LiveStates", functools.partial(LiveStates, ask_seconds=0.1))
    file = tmp_path / "runs"
    asking = an_application(onOutOfSync={"disabled": False, "minWindow": "1s"})
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": asking})) as world:
        await world.add_application(deploy_targets_by_plugin={"drifting": ("here",)})
        async with an_agent_at_work(world, plugins(file)):
            for count in (1, 2, 3):
                await until_deployed(world, count)
                await until_it_is(world, SyncStatus.SYNCED)
                put(file, "broken")


@pytest.mark.parametrize(
    ("what", "deployments"),
    [pytest.param(INCURABLE, 2, id="tried once"), pytest.param(HOPELESS, 1, id="not tried at all")],
)
async def test_what_no_deployment_mends_is_not_deployed_for_ever_and_the_application_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, deployments: int
) -> None:
    monkeypatch.setattr(at_work, "LiveStates", functools.partial(LiveStates, ask_seconds=0.1))
    file = tmp_path / "runs"
    asking = an_application(onOutOfSync={"disabled": False, "minWindow": "1s"})
    words = f"It differs from Git in a way that deploying again does not mend: it is {what}"
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": asking})) as world:
        await world.add_application(deploy_targets_by_plugin={"drifting": ("here",)})

        async def says_so() -> bool:
            return await until_it_is(world, SyncStatus.OUT_OF_SYNC) == words

        for agents in range(2):
            async with an_agent_at_work(world, plugins(file)):
                if not agents:
                    await until_deployed(world, 1)
                    put(file, what)
                await until(says_so)
                # After the agent was started anew, too.
                await until(functools.partial(_as_many, file, len(asked(file)) + 5))

        assert len(await world.deployments()) == deployments


async def _as_many(file: Path, looks: int) -> bool:
    return len(asked(file)) >= looks


def asked(file: Path) -> list[int]:
    """The processes that were asked, one after the other."""
    found = file.with_suffix(".asked")
    return [int(each) for each in found.read_text().split()] if found.exists() else []


async def test_an_application_whose_plugin_tells_of_changes_is_not_asked_about_until_that_plugin_is_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(at_work, "LiveStates", functools.partial(LiveStates, ask_seconds=0.05, rounds=1_000_000))
    telling, silent = tmp_path / "telling", tmp_path / "silent"
    files = {f"{each}/app.pipecd.yaml": an_application(each) for each in ("telling", "silent")}
    entries = [a_plugin("telling", telling, promises=True), a_plugin("silent", silent)]
    async with a_world(tmp_path, an_origin(tmp_path, files)) as world:
        for each in ("telling", "silent"):
            await world.add_application(each, deploy_targets_by_plugin={each: ("here",)})
        async with an_agent_at_work(world, msgspec.json.encode(entries).decode()):

            async def rests() -> bool:
                before, rounds = len(asked(telling)), len(asked(silent))

                async def gone_by() -> bool:
                    return len(asked(silent)) >= rounds + 3

                await until(gone_by)
                return 0 < before == len(asked(telling))

            await until(rests)
            first = asked(telling)[-1]
            os.kill(first, signal.SIGKILL)

            async def asked_again() -> bool:
                return asked(telling)[-1] != first

            await until(asked_again)
            await until(rests)


async def test_what_has_changed_does_not_wait_for_plugins_that_take_their_time(tmp_path: Path) -> None:
    quick, slow = tmp_path / "quick", tmp_path / "slow"
    slow.with_suffix(".hold").touch()
    # As many as are asked about at the same time, and one that is behind them.
    names = [*(f"a{number}" for number in range(4)), "web"]
    files = {f"{each}/app.pipecd.yaml": an_application("quick" if each == "web" else "slow") for each in names}
    entries = [a_plugin("quick", quick), a_plugin("slow", slow)]
    async with a_world(tmp_path, an_origin(tmp_path, files)) as world:
        for each in names:
            plugin = "quick" if each == "web" else "slow"
            await world.add_application(each, deploy_targets_by_plugin={plugin: ("here",)})
        async with an_agent_at_work(world, msgspec.json.encode(entries).decode()):
            await until_it_is(world, SyncStatus.SYNCED)
            slow.with_suffix(".hold").unlink()


async def test_when_a_file_can_be_used_again_the_server_is_told_once_more_what_it_knew(tmp_path: Path) -> None:
    origin, file = an_origin(tmp_path, {"web/app.pipecd.yaml": an_application()}), tmp_path / "runs"
    async with a_world(tmp_path, origin) as world:
        await world.add_application(deploy_targets_by_plugin={"drifting": ("here",)})
        async with an_agent_at_work(world, plugins(file)):
            await until_it_is(world, SyncStatus.SYNCED)
            origin.commit({"web/app.pipecd.yaml": "kind: Application"})
            await until_it_is(world, SyncStatus.INVALID_CONFIG)
            origin.commit({"web/app.pipecd.yaml": an_application()})
            await until_it_is(world, SyncStatus.SYNCED)
