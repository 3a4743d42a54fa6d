"""`fairway agent status`: how the agent on this machine stands, also when no server answers."""

import os
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from fairway.cli.call import ending

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType
    from rich.text import Text

    from fairway.agent.plugins.identity import Identity
    from fairway.agent.status import AgentState, PluginState, RepositoryState

Data = Annotated[
    Path | None, typer.Option(help="The directory of the agent, as it was started with; without it, that of `up`.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def show_status(data: Data = None, as_json: AsJson = False) -> None:
    """Show the agent of this machine: plugins, memory, restarts, what is under way and what is wrong."""
    from fairway.cli.up.places import default_data

    ending(lambda: _show(data or default_data(os.environ), as_json))


def _show(data: Path, as_json: bool) -> None:
    from fairway.agent.status import read_state
    from fairway.cli.output import a_console, now, show

    state = read_state(_data_of_agent(data))
    if as_json:
        running = state.process is not None and state.process.is_alive
        typer.echo(msgspec.json.encode({"running": running, **msgspec.to_builtins(state)}))
    else:
        show(a_console(), status_card(state, now()))


def _data_of_agent(data: Path) -> Path:
    """The agent's directory; `fairway up` keeps it inside its own."""
    below = data / "agent"
    return below if (data / "up.lock").exists() and below.is_dir() else data


def status_card(state: "AgentState", at: datetime) -> "RenderableType":
    """The agent, its processes, its work, and its troubles."""
    from rich.console import Group
    from rich.text import Text

    from fairway.cli.output import ago, fields, plain, status, table

    running = state.process is not None and state.process.is_alive
    work = [(each.application, each.id, status(each.status), each.stage or each.trouble) for each in state.deployments]
    repositories = [(each.id, each.head[:7], _repository(each, running)) for each in state.repositories]
    blank = Text("")
    return Group(
        Text.assemble(
            (plain(state.id), "bold"),
            "  ",
            status("online", "running") if running else status("offline", "not running"),
        ),
        fields(
            [
                ("version", state.version),
                ("wanted version", state.wanted if state.upgrade_trouble else ""),
                ("not upgraded", state.upgrade_trouble),
                ("role", _role(state, running)),
                ("server", state.server),
                ("started", ago(state.started_at, at)),
                ("memory", _memory(state.process)),
                ("unsent reports", f"of {state.unsent} streams" if state.unsent else "none"),
                ("lost reports", state.lost),
            ]
        ),
        blank,
        table(("PLUGIN", "PID", "VERSION", "MEMORY", "RESTARTS", "STATE"), _plugins(state, running), "no plugins"),
        blank,
        table(("APPLICATION", "DEPLOYMENT", "STATUS", "STAGE"), work, "no deployment is under way"),
        blank,
        table(("REPOSITORY", "HEAD", "STATE"), repositories, "no repositories"),
        *_troubles(state),
    )


def _role(state: "AgentState", running: bool) -> str:
    lease = state.lease
    if not running:
        return f"was {lease.role}"
    return f"{lease.role}: {lease.reason}" if lease.reason else lease.role


def _repository(repository: "RepositoryState", running: bool) -> "Text":
    from fairway.cli.output import status

    if not running:
        return status("unknown", "did not answer" if repository.trouble else "was watched")
    return status("failed", "does not answer") if repository.trouble else status("online", "watched")


def _plugins(state: "AgentState", running: bool) -> "list[tuple[str | Text, ...]]":
    """A row for each plugin; what plugins share is told once."""
    from fairway.cli.output import status

    rows: list[tuple[str | Text, ...]] = []
    for each in state.plugins:
        alive = running and each.process is not None and each.process.is_alive and not each.trouble
        how = (
            status("online", "running")
            if alive
            else status("failed" if running else "offline", _why_not(each, running))
        )
        pid = str(each.process.pid) if each.process and alive else ""
        for number, plugin in enumerate(each.plugins):
            memory = "shared" if number and alive else _memory(each.process)
            rows.append((plugin, pid, each.version[:12], memory, str(each.restarts), how))
    return rows


def _why_not(plugin: "PluginState", running: bool) -> str:
    from fairway.agent.plugins.condition import STARTING

    if not running:
        return "ended with its agent"
    if plugin.trouble == STARTING:
        return "is starting"
    return "is started again" if plugin.restarts else "does not start"


def _troubles(state: "AgentState") -> "Iterator[RenderableType]":
    """What is wrong, in whole sentences."""
    from rich.text import Text

    from fairway.cli.output import fields, plain

    said: list[tuple[str, str | Text]] = []
    for plugin in state.plugins:
        if plugin.trouble:
            said.append((plugin.name, Text(plain(plugin.trouble), style="red")))
            said.append(("", f"last words: {plugin.last_words}" if plugin.last_words else ""))
    said += [(each.id, Text(plain(each.trouble), style="red")) for each in state.repositories if each.trouble]
    said += [
        ("unusable file", Text(f"{plain(each.repository_id)}: {plain(each.reason)}", style="red"))
        for each in state.unusable
    ]
    if said:
        yield Text("")
        yield fields(said)


def _memory(process: "Identity | None") -> str:
    from fairway.agent.plugins.identity import memory_of

    if process is None or not process.is_alive:
        return ""
    return f"{memory_of(process.pid) / 1e6:.0f} MB"
