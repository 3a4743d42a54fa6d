"""What goes wrong on the process platform, and how it is told."""

import os
import signal
import socket
from pathlib import Path

from fairway.model.application import SyncState, SyncStatus
from fairway.model.live_state import Health, Resource
from fairway.plugins.process.plugin import Process
from fairway.plugins.process.records import SEEN, Seen, load
from fairway.sdk import StageStatus
from fairway.sdk.testing import PluginUnderTest, plugin_under_test
from tests.integration.agent.running import a_world, an_agent_at_work, until
from tests.integration.git.repositories import an_origin
from tests.integration.plugins.process.applications import PLUGINS, Shop, nothing_left
from tests.ports import a_free_port


def put(plugin: PluginUnderTest, shop: Shop, version: str) -> None:
    """Write the application where its stages find it."""
    for path, text in shop.files(version).items():
        (plugin.folder / Path(path).name).write_text(text)


def application(folder: Path) -> Path:
    return folder / "state" / "apps" / "application"


async def test_a_killed_process_that_cannot_come_back_is_seen_and_is_drift(tmp_path: Path) -> None:
    shop = Shop(a_free_port())
    with nothing_left(tmp_path):
        async with plugin_under_test(Process, tmp_path) as plugin:
            put(plugin, shop, "one")
            assert (await plugin.run("PROCESS_SYNC")).status is StageStatus.SUCCEEDED
            _, before = await plugin.live_state()
            (release,) = (application(tmp_path) / "releases").iterdir()
            (release / "version").write_text("broken")
            found = load(application(tmp_path), SEEN, Seen) or Seen()
            killed = found.instances[0].process
            assert killed is not None
            os.kill(killed.pid, signal.SIGKILL)

            async def drifted() -> tuple[tuple[Resource, ...], SyncState] | None:
                resources, state = await plugin.live_state()
                ill = any("this version is broken" in each.health_description for each in resources)
                return (resources, state) if state.status is SyncStatus.OUT_OF_SYNC and ill else None

            resources, after = await until(drifted)

    assert before.status is SyncStatus.SYNCED
    assert after.short_reason == "1 of 2 processes of the primary run"
    assert [each.health for each in resources if each.type == "Variant"] == [Health.UNHEALTHY]
    assert sorted(each.health.value for each in resources if each.type == "Process") == ["healthy", "unhealthy"]


async def test_a_killed_splitter_is_back_with_the_next_look_and_the_processes_are_the_same(tmp_path: Path) -> None:
    shop = Shop(a_free_port())
    with nothing_left(tmp_path):
        async with plugin_under_test(Process, tmp_path) as plugin:
            put(plugin, shop, "one")
            await plugin.run("PROCESS_SYNC")
            before = load(application(tmp_path), SEEN, Seen) or Seen()
            assert before.keeper is not None
            os.kill(before.keeper.pid, signal.SIGKILL)

            async def back() -> Seen | None:
                resources, _ = await plugin.live_state()
                found = load(application(tmp_path), SEEN, Seen) or Seen()
                return found if found.keeper != before.keeper and resources[0].health is Health.HEALTHY else None

            after = await until(back)
            answer = await shop.ask()

    assert {each.process for each in after.instances} == {each.process for each in before.instances}
    assert answer.startswith("one primary")


async def test_a_port_that_is_taken_fails_the_stage_with_that_reason(tmp_path: Path) -> None:
    shop = Shop(a_free_port(), patience=1)
    with nothing_left(tmp_path), socket.create_server(("127.0.0.1", shop.port)):
        async with plugin_under_test(Process, tmp_path) as plugin:
            put(plugin, shop, "one")
            ended = await plugin.run("PROCESS_SYNC")
            undone = await plugin.run("PROCESS_ROLLBACK")
            left = load(application(tmp_path), SEEN, Seen) or Seen()

    expected = f"It cannot be made as wanted: nobody can listen on 127.0.0.1 port {shop.port} (address already in use)"
    assert (ended.status, ended.message.lower()) == (StageStatus.FAILED, expected.lower())
    assert (undone.status, left.instances) == (StageStatus.SUCCEEDED, ())


async def test_settings_that_cannot_be_used_are_named_by_file_and_line(tmp_path: Path) -> None:
    file = """\
apiVersion: pipecd.dev/v1beta1
kind: Application
spec:
  name: web
  plugins:
    process:
      command: [python3, server.py]
      replicas: many
      port: 80800
"""
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world, PLUGINS):

            async def told() -> SyncState | None:
                state = (await world.application()).sync_state
                return state if state and state.status is SyncStatus.INVALID_CONFIG else None

            state = await until(told)

    assert "app.pipecd.yaml:8" in state.reason
    assert "app.pipecd.yaml:9" in state.reason
