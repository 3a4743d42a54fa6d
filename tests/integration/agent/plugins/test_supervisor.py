"""Plugins that hang, do not start, or come twice."""

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from fairway.agent.plugins.callers import Tokens
from fairway.agent.plugins.client import PluginClient, PluginGone, PluginRefused
from fairway.agent.plugins.door import Door
from fairway.agent.plugins.identity import Identity, Running
from fairway.agent.plugins.keeper import Patience
from fairway.agent.plugins.supervisor import PluginPlaces, Supervisor
from fairway.config.agent import PluginConfig
from fairway.git.retry import Retry
from tests.integration.agent.foreign import a_foreign_plugin
from tests.integration.agent.running import until
from tests.patience import PATIENCE_SECONDS
from tests.ports import a_free_port

QUICK = Patience(
    ready=PATIENCE_SECONDS,
    together=PATIENCE_SECONDS,
    ping=0.05,
    answer=PATIENCE_SECONDS,
    misses=2,
    back=PATIENCE_SECONDS,
    restart=Retry(first_delay=0.05, longest_delay=0.1),
)


def a_plugin(folder: Path, name: str = "foreign", sha256: str = "") -> PluginConfig:
    config, url = {"diary": str(folder / "diary")}, str(a_foreign_plugin(folder / "made"))
    return PluginConfig(name=name, url=url, port=a_free_port(), config=config, sha256=sha256)


@asynccontextmanager
async def opened(folder: Path, *plugins: PluginConfig, patience: Patience = QUICK) -> AsyncIterator[Supervisor]:
    async with AsyncExitStack() as stack:
        doors = {each.name: await stack.enter_async_context(Door.open(each.name, folder / "door")) for each in plugins}
        places = PluginPlaces(
            sockets=folder,
            state=folder / "plugins",
            agent=f"unix:{folder}/agent.sock",
            tokens=Tokens(),
            doors=doors,
        )
        yield await stack.enter_async_context(Supervisor.open(plugins, places, patience))


async def test_a_plugin_that_hangs_is_started_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(tmp_path, a_plugin(tmp_path)) as plugins:
        keeper, client = plugins.keepers[1], plugins.client("foreign")
        hung, ask = keeper.identity, client.defined_stages
        assert hung is not None

        # Only this one is given little time: on a busy machine the next one may need more.
        async def stopped(seconds: float) -> tuple[str, ...]:
            os.kill(hung.pid, signal.SIGSTOP)
            return await ask(seconds=min(seconds, 0.2))

        monkeypatch.setattr(client, "defined_stages", stopped)

        async def replaced() -> Identity | None:
            return keeper.identity if keeper.identity != hung and not keeper.trouble else None

        await until(replaced)
        stages = await (await plugins.back("foreign")).defined_stages()

    assert stages == ("FOREIGN_RUN", "FOREIGN_ROLLBACK")
    assert keeper.restarts == 1
    assert not hung.is_alive


async def test_one_plugin_that_does_not_start_does_not_keep_the_others_from_work(tmp_path: Path) -> None:
    broken = a_plugin(tmp_path, sha256="0" * 64)
    async with opened(tmp_path, broken) as plugins:
        stages = await plugins.client("wait").defined_stages()
        trouble = plugins.keepers[1].trouble

    assert stages == ("WAIT",)
    assert "but the agent's file says 000" in trouble


async def test_a_plugin_that_this_agent_cannot_have_is_named_and_the_others_work(tmp_path: Path) -> None:
    async with opened(tmp_path, PluginConfig(name="terraform", url="builtin:terraform")) as plugins:
        stages = await plugins.client("wait").defined_stages()
        missing = plugins.missing()
        with pytest.raises(PluginRefused) as refused:
            plugins.client("terraform")

    why = (
        "plugin terraform: Fairway has no built-in plugin 'terraform', it has customsync, kubernetes, "
        "kubernetes_multicluster, process, scriptrun, wait, waitapproval"
    )
    assert stages == ("WAIT",)
    assert missing == f"plugin terraform cannot be started: {why}"
    assert str(refused.value) == f"this agent cannot start plugin 'terraform': {why}"


async def test_a_plugin_that_hangs_at_its_start_holds_up_no_other(tmp_path: Path) -> None:
    hanging = PluginConfig(name="hanging", url=str(_an_executable(tmp_path, "exec sleep 600")))
    async with opened(tmp_path, hanging, patience=msgspec.structs.replace(QUICK, together=0.01)) as plugins:
        stages = await (await plugins.back("wait")).defined_stages()
        with pytest.raises(PluginGone) as gone:
            plugins.client("hanging")
        with pytest.raises(PluginGone, match="plugin hanging has not started yet"):
            plugins.missing()

    assert stages == ("WAIT",)
    assert str(gone.value) == "plugin hanging has not started yet"


async def test_the_stages_of_a_plugin_are_known_before_it_has_started_again(tmp_path: Path) -> None:
    async with opened(tmp_path, a_plugin(tmp_path)):
        pass
    slow = PluginConfig(name="foreign", url=str(_an_executable(tmp_path, "exec sleep 600")))
    async with opened(tmp_path, slow, patience=msgspec.structs.replace(QUICK, together=0.01)) as plugins:
        serving = plugins.plugins_of_stage["FOREIGN_RUN"]
        with pytest.raises(PluginGone):
            plugins.client("foreign")

    assert serving == ("foreign",)


def _an_executable(folder: Path, code: str) -> Path:
    path = folder / "executable"
    path.write_text(f"#!/bin/sh\n{code}\n")
    path.chmod(0o755)
    return path


async def test_what_is_said_of_a_plugin_that_does_not_start_names_the_command_that_tells_more(tmp_path: Path) -> None:
    async with opened(tmp_path, a_plugin(tmp_path, sha256="0" * 64)) as plugins:

        async def given_up() -> bool:
            return plugins.keepers[1].given_up

        await until(given_up)
        said = plugins.missing()

    assert said.endswith(f"; `fairway agent status --data {tmp_path}` shows its last words")


async def test_a_plugin_that_comes_up_later_is_there_then(tmp_path: Path) -> None:
    plugin = a_plugin(tmp_path)
    made = tmp_path / "made" / "foreign"
    made.rename(tmp_path / "away")
    async with opened(tmp_path, plugin) as plugins:
        assert "FOREIGN_RUN" not in plugins.plugins_of_stage
        (tmp_path / "away").rename(made)

        async def there() -> PluginClient | None:
            return plugins.client("foreign") if "FOREIGN_RUN" in plugins.plugins_of_stage else None

        assert (await until(there)).name == "foreign"


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="without util-linux the next agent ends it instead")
async def test_a_killed_agent_takes_its_foreign_plugins_with_it(tmp_path: Path) -> None:
    a_plugin(tmp_path)
    agent = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.integration.agent.plugins.test_supervisor", str(tmp_path), start_new_session=True
    )
    running = tmp_path / "plugins" / "running.json"

    async def started() -> Running | None:
        found = msgspec.json.decode(running.read_bytes(), type=Running) if running.exists() else None
        return found if found and len(found.processes) == 2 else None

    left = (await until(started)).processes
    agent.kill()
    await agent.wait()

    async def gone() -> bool:
        return not any(each.is_alive for each in left.values())

    assert await until(gone)


async def test_who_serves_a_stage_and_that_what_is_given_to_all_makes_way(tmp_path: Path) -> None:
    one, two = a_plugin(tmp_path, "one"), a_plugin(tmp_path, "two")
    own = PluginConfig(name="own-wait", url="builtin:wait")
    async with opened(tmp_path, one, two, own) as plugins:
        found = plugins.plugins_of_stage

    assert found["FOREIGN_RUN"] == ("one", "two")
    assert found["WAIT"] == ("own-wait",)
    assert found["WAIT_APPROVAL"] == ("waitapproval",)


async def _run_for_ever(folder: Path) -> None:
    async with opened(folder, a_plugin(folder)):
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_run_for_ever(Path(sys.argv[1])))
