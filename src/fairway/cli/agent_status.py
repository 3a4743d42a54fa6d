"""`fairway agent status --data DIR`: how the agent on this machine stands, also when no server answers."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from fairway.cli.call import ending

if TYPE_CHECKING:
    from rich.console import RenderableType

    from fairway.agent.plugins.identity import Identity
    from fairway.agent.status import AgentState

Data = Annotated[Path, typer.Option(help="The directory of the agent, as it was started with.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def show_status(data: Data, as_json: AsJson = False) -> None:
    """Show the agent of this machine: plugins, memory, restarts, what is under way and what is wrong."""
    ending(lambda: _show(data, as_json))


def _show(data: Path, as_json: bool) -> None:
    from rich.console import Console

    from fairway.agent.status import read_state
    from fairway.cli.output import now

    state = read_state(data)
    if as_json:
        running = state.process is not None and state.process.is_alive
        typer.echo(msgspec.json.encode({"running": running, **msgspec.to_builtins(state)}))
    else:
        Console().print(status_card(state, now()))


def status_card(state: "AgentState", at: datetime) -> "RenderableType":
    """The agent, its processes, its work, and its troubles."""
    from rich.console import Group
    from rich.text import Text

    from fairway.cli.output import ago, fields, plain, table

    running = state.process is not None and state.process.is_alive
    processes = [
        (each.name, ", ".join(each.plugins), each.version, _memory(each.process), str(each.restarts), each.trouble)
        for each in state.plugins
    ]
    work = [(each.application, each.id, each.status, each.stage) for each in state.deployments]
    troubles = [(each.id, each.head[:7], each.trouble) for each in state.repositories]
    return Group(
        Text.assemble((plain(state.id), "bold"), "  ", "running" if running else "not running"),
        fields(
            [
                ("version", state.version),
                ("wanted version", state.wanted if state.upgrade_trouble else ""),
                ("not upgraded", state.upgrade_trouble),
                ("server", state.server),
                ("started", ago(state.started_at, at)),
                ("memory", _memory(state.process)),
                ("unsent reports", f"of {state.unsent} streams" if state.unsent else "none"),
            ]
        ),
        table(("PROCESS", "PLUGINS", "VERSION", "MEMORY", "RESTARTS", "TROUBLE"), processes, "no plugins"),
        table(("APPLICATION", "DEPLOYMENT", "STATUS", "STAGE"), work, "no deployment is under way"),
        table(("REPOSITORY", "HEAD", "TROUBLE"), troubles, "no repositories"),
    )


def _memory(process: "Identity | None") -> str:
    from fairway.agent.plugins.identity import memory_of

    if process is None or not process.is_alive:
        return ""
    return f"{memory_of(process.pid) / 1e6:.0f} MB"
