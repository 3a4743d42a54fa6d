"""What everybody on a machine can read about the plugins of an agent."""

import sys
from pathlib import Path

import msgspec

from fairway.agent.plugins.identity import Identity, Running
from fairway.agent.status import read_state
from tests.integration.agent.running import a_world, an_agent_at_work, an_application_file
from tests.integration.git.repositories import an_origin

SECRET = "hunter2-and-more"
ASKING = "tests.integration.agent.plugins.asking:Asking"


def listed(folder: Path) -> str:
    """Plugins of every sort that is ours, each with a secret in its configuration."""
    program = folder / "program"
    code = "from tests.integration.agent.plugins.asking import Asking as A; from fairway.sdk.start import main; main(A)"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{code}" "$@"\n')
    entries = [
        {"name": "process"},
        {"name": "wait", "isolation": "process"},
        {"name": "in-python", "url": f"python:{ASKING}"},
        {"name": "program", "url": str(program), "handover": "pipe"},
    ]
    plugins = msgspec.json.encode([{**each, "config": {"password": SECRET}} for each in entries]).decode()
    # Built-in plugins have no such field.
    return f"{plugins}\n  allowUnknownFields: true"


def readable(process: Identity) -> list[bytes]:
    """The process's command line, and its environment, which others of the same user can read."""
    return [Path(f"/proc/{process.pid}/{file}").read_bytes() for file in ("cmdline", "environ")]


async def test_configuration_and_tokens_of_our_plugins_are_on_no_process_list(tmp_path: Path) -> None:
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": an_application_file("{name: WAIT, with: {duration: 10ms}}")})
    async with a_world(tmp_path, origin) as world, an_agent_at_work(world, listed(tmp_path)):
        running = msgspec.json.decode((world.data / "plugins" / "running.json").read_bytes(), type=Running)
        shown = {name: readable(each) for name, each in running.processes.items()}

    assert set(shown) == {"host", "wait", "in-python", "program"}
    assert not [name for name, texts in shown.items() if any(SECRET.encode() in text for text in texts)]
    assert shown["program"][0].endswith(b"\0start\0--handover\0pipe\0")


async def test_who_shares_a_process_and_who_does_not(tmp_path: Path) -> None:
    origin = an_origin(tmp_path, {"README": ""})
    async with a_world(tmp_path, origin) as world, an_agent_at_work(world, listed(tmp_path)):
        pass
    processes = {each.name: each.plugins for each in read_state(world.data).plugins}

    assert processes == {
        "host": ("process", "customsync", "scriptrun", "waitapproval"),
        "wait": ("wait",),
        "in-python": ("in-python",),
        "program": ("program",),
    }
