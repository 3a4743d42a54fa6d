"""A plugin as a program: begun by `fairway plugin new`, started under our agent as any executable is."""

import socket
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from fairway.cli.new_plugin import write_plugin
from fairway.errors import UserError
from fairway.model.deployment import DeploymentStatus
from fairway.sdk.host import BadStart, HostOrder, PluginOrder, plugin_class, plugins_of
from fairway.sdk.plugin import Plugin, PluginSettings
from fairway.sdk.serve import CannotListen, Host, Served, serving
from fairway.sdk.start import settings_of, start_config
from tests.integration.agent.running import a_world, an_agent_at_work, an_application_file
from tests.integration.git.repositories import an_origin
from tests.patience import PATIENCE_SECONDS


def test_the_test_of_a_new_plugin_passes(tmp_path: Path) -> None:
    write_plugin("say-hello", tmp_path / "new")

    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-W", "error"],
        cwd=tmp_path / "new",
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.stdout.splitlines()[-1].startswith("3 passed"), ran.stdout


@pytest.mark.parametrize("handover", ["arguments", "pipe"])
async def test_a_new_plugin_runs_as_an_executable(tmp_path: Path, handover: str) -> None:
    write_plugin("greet", tmp_path / "new")
    program = tmp_path / "program"
    program.write_text(
        f'#!/bin/sh\nPYTHONPATH={tmp_path}/new/src exec {sys.executable} -c "import greet; greet.main()" "$@"\n'
    )
    listed = msgspec.json.encode([{"name": "greet", "url": str(program), "handover": handover}]).decode()
    file = an_application_file("{name: GREET, with: {whom: Ada}}")
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world, listed):
            deployment = await world.ended()

        assert deployment.status is DeploymentStatus.SUCCEEDED, deployment.status_reason
        assert await world.log(deployment, 0) == "hello Ada"


@pytest.mark.parametrize(
    ("arguments", "stdin", "expected"),
    [
        pytest.param(["--handover", "pipe"], None, "standard input is no pipe", id="no pipe"),
        pytest.param(["--handover", "pipe"], "hello", "does not say what to serve", id="no orders"),
        pytest.param([], None, "are needed, or --handover pipe", id="nothing said"),
    ],
)
def test_what_is_started_in_no_way_that_is_known_says_so(
    arguments: list[str], stdin: str | None, expected: str
) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "fairway.cli", "plugin", "wait", "start", *arguments],
        **({"stdin": subprocess.DEVNULL} if stdin is None else {"input": stdin}),
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_SECONDS,
    )

    assert ran.returncode != 0
    assert expected in ran.stderr


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("{", "--config cannot be used", id="no JSON"),
        pytest.param('{"name": "x"}', "missing required field `port`", id="no port"),
        pytest.param('{"name": "x", "port": 0}', "expected 1 to 65535", id="no real port"),
    ],
)
def test_a_configuration_that_cannot_be_used_says_why(text: str, expected: str) -> None:
    with pytest.raises(BadStart, match=expected):
        start_config(text)


async def test_a_plugin_whose_port_is_in_use_says_so(tmp_path: Path) -> None:
    plugin = plugin_class("fairway.plugins.wait:Wait")(PluginSettings(name="wait", state=tmp_path))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"

        with pytest.raises(CannotListen, match=rf"cannot listen on {address}: it is in use"):
            async with serving([Served(plugin, address)], Host(address=f"unix:{tmp_path}/agent", stops_stages=False)):
                raise AssertionError("it is served")


def test_what_go_leaves_null_is_empty() -> None:
    settings = settings_of(start_config('{"name": "x", "port": 1, "config": null, "deployTargets": null}'))

    assert (settings.name, settings.config, settings.targets) == ("x", {}, ())


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param("no.such.module:Class", id="no module"),
        pytest.param("fairway.sdk:NoClass", id="no class"),
        pytest.param("fairway.sdk:StageRun", id="no plugin"),
        pytest.param("", id="nothing"),
    ],
)
def test_what_is_no_plugin_is_refused(entry: str) -> None:
    with pytest.raises(UserError, match="is no plugin"):
        plugin_class(entry)


def test_what_plugins_of_one_process_have_in_common_is_there_once() -> None:
    orders = tuple(PluginOrder(entry="", name=each, address="", token="", state="") for each in ("one", "other"))

    one, other = (
        each.plugin.settings.shared for each in plugins_of(HostOrder(agent="", plugins=orders), lambda _: Plugin)
    )

    assert one.get(list) is other.get(list)
