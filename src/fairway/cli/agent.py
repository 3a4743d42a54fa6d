"""`fairway agent …`: agents: run, register, look, change keys, switch off and on, restart, upgrade."""

import sys
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from fairway.cli.agent_status import show_status
from fairway.cli.call import Call, UsageError, decode, noun, with_server
from fairway.cli.find import find_id, list_of
from fairway.cli.options import Limit, Yes, confirm
from fairway.cli.remote import segments
from fairway.cli.run_agent import run
from fairway.cli.suggest import agents
from fairway.model.agent import AgentPlugin, PlatformProvider
from fairway.model.application import Repository, UnusableFile
from fairway.model.command import Command

if TYPE_CHECKING:
    from rich.console import RenderableType

commands = noun(
    "Agents: processes near the targets, which do the work.\n\nWith --config-file and --data it runs one, until Ctrl-C"
    " or SIGTERM; what is under way goes on, and is taken up by the next agent with the same --data."
)
commands.callback(invoke_without_command=True, no_args_is_help=True)(run)
commands.command("status")(show_status)

Id = Annotated[str, typer.Argument(help="Its id, the beginning of it, or its name.", autocompletion=agents)]


class ShownAgent(msgspec.Struct, frozen=True):
    """An agent, as the server shows it."""

    id: str
    name: str
    created_at: datetime
    desc: str = ""
    status: str = "unknown"
    last_seen_at: datetime | None = None
    started_at: datetime | None = None
    version: str = ""
    desired_version: str = ""
    disabled: bool = False
    repositories: tuple[Repository, ...] = ()
    platform_providers: tuple[PlatformProvider, ...] = ()
    plugins: tuple[AgentPlugin, ...] = ()
    unusable_files: tuple[UnusableFile, ...] = ()


class ShownLease(msgspec.Struct, frozen=True):
    """Who is at work as an agent, and who stands by, as the server shows it."""

    at_work: str = ""
    since: datetime | None = None
    standing_by: str = ""


class NewAgent(msgspec.Struct, frozen=True):
    """A registered agent, and its key."""

    agent: ShownAgent
    key: str


class NewKey(msgspec.Struct, frozen=True):
    """A second key."""

    key: str


@commands.command("list")
@with_server
def list_agents(call: Call, limit: Limit = 100) -> None:
    """List agents, and whether they have been heard lately."""
    call.answer_list(list_of(call, "agents", ShownAgent, {}, limit), agent_table)


@commands.command("get")
@with_server
def get_agent(call: Call, agent: Id) -> None:
    """Show one agent: how it stands, its repositories and where it deploys to."""
    agent_id = find_id(call, "agents", agent)
    body = call.remote.get(segments("agents", agent_id))
    lease = None if call.as_json else decode(call.remote.get(segments("agents", agent_id, "lease")), ShownLease)
    _show(call, body, lease)


@commands.command("add")
@with_server
def add_agent(
    call: Call,
    name: Annotated[str, typer.Argument(help="What people call it.")],
    desc: Annotated[str, typer.Option(help="A sentence about it.")] = "",
) -> None:
    """Register an agent. Its key is printed this once."""
    said = {"name": name, "desc": desc} if desc else {"name": name}
    body = call.remote.send("POST", segments("agents"), said)
    if call.as_json:
        call.print_json(body)
        return
    made = decode(body, NewAgent)
    print_key(made.key, f"agent {made.agent.name} has id {made.agent.id}; its key, shown this once:")


@commands.command("rotate-key")
@with_server
def rotate_key(call: Call, agent: Id) -> None:
    """Give an agent a second key, printed this once; both are valid until `drop-old-key`."""
    agent_id = find_id(call, "agents", agent)
    body = call.remote.send("POST", segments("agents", agent_id, "keys"))
    if call.as_json:
        call.print_json(body)
        return
    print_key(
        decode(body, NewKey).key,
        f"the new key of agent {agent_id}, shown this once; when the agent uses it: fairway agent drop-old-key {agent}",
    )


@commands.command("drop-old-key")
@with_server
def drop_old_key(call: Call, agent: Id) -> None:
    """End the older of an agent's two keys at once."""
    agent_id = find_id(call, "agents", agent)
    call.print_json(call.remote.send("DELETE", segments("agents", agent_id, "keys", "oldest")))
    call.say(f"the older key of agent {agent_id} is not valid any more")


@commands.command("disable")
@with_server
def disable_agent(call: Call, agent: Id, yes: Yes = False) -> None:
    """Refuse an agent from now on; what it deploys stands still."""
    agent_id = find_id(call, "agents", agent)
    confirm(f"Disable agent {agent} ({agent_id})? It is refused at once.", yes)
    _show(call, call.remote.send("POST", segments("agents", agent_id, "disable")))


@commands.command("enable")
@with_server
def enable_agent(call: Call, agent: Id) -> None:
    """Let an agent work again."""
    _show(call, call.remote.send("POST", segments("agents", find_id(call, "agents", agent), "enable")))


@commands.command("release")
@with_server
def release_agent(call: Call, agent: Id, yes: Yes = False) -> None:
    """Let another agent with the same id take over at once, when you know that the one at work is gone."""
    agent_id = find_id(call, "agents", agent)
    held = decode(call.remote.get(segments("agents", agent_id, "lease")), ShownLease)
    at_work = held.at_work or "nobody"
    confirm(f"Is what was at work as agent {agent} ({at_work}) gone for certain? Otherwise both would act.", yes)
    body = call.remote.send("POST", segments("agents", agent_id, "release"))
    if call.as_json:
        call.print_json(body)
    else:
        call.say(f"whoever stands by as agent {agent_id} takes over now")


@commands.command("restart")
@with_server
def restart_agent(call: Call, agent: Id) -> None:
    """Ask an agent to start anew; a version that it has failed to run is tried again."""
    agent_id = find_id(call, "agents", agent)
    body = call.remote.send("POST", segments("agents", agent_id, "restart"))
    if call.as_json:
        call.print_json(body)
    else:
        call.say(f"asked agent {agent_id} to restart; command {decode(body, Command).id}")


@commands.command("upgrade")
@with_server
def upgrade_agent(
    call: Call,
    agent: Id,
    version: Annotated[str, typer.Argument(help="The version to run; an older one is as good as a newer one.")] = "",
    sha256: Annotated[str, typer.Option(help="The checksum of its wheel, when the agent's file has none.")] = "",
    any_version: Annotated[bool, typer.Option("--any", help="Let it run what it has; nothing is wanted.")] = False,
) -> None:
    """Say which version an agent should run. It fetches that, and goes back when it does not become healthy."""
    wish = wished_version(version, sha256, any_version)
    _show(
        call, call.remote.send("PATCH", segments("agents", find_id(call, "agents", agent)), {"desired_version": wish})
    )


def wished_version(version: str, sha256: str, any_version: bool) -> str:
    """How the server is told: one text, with the checksum where one was given."""
    if any_version == bool(version):
        raise UsageError("expected either a VERSION or --any")
    digits = sha256.lower().removeprefix("sha256:")
    if sha256 and (any_version or len(digits) != 64 or set(digits) - set("0123456789abcdef")):
        raise UsageError(f"--sha256 is {sha256!r}; expected the 64 hexadecimal digits that sha256sum prints")
    return f"{version}@sha256:{digits}" if sha256 else version


def agent_word(agent: ShownAgent) -> str:
    """How an agent stands, in the word that matters most."""
    return "disabled" if agent.disabled else agent.status


def agent_table(found: list[ShownAgent], now: datetime) -> "RenderableType":
    """Agents: whether they are there, and what they deploy to."""
    from fairway.cli.output import ago, short_ids, status, table

    ids = short_ids([each.id for each in found])
    rows = [
        (each.name, ids[each.id], status(agent_word(each)), ago(each.last_seen_at, now), _version(each), _places(each))
        for each in found
    ]
    headers = ("NAME", "ID", "STATUS", "SEEN", "VERSION", "DEPLOYS TO")
    return table(headers, rows, "no agents; `fairway agent add NAME` registers one")


def agent_card(agent: ShownAgent, now: datetime, lease: ShownLease | None = None) -> "RenderableType":
    """Everything about an agent that a person asks first."""
    from rich.console import Group
    from rich.text import Text

    from fairway.cli.output import ago, fields, plain, status

    repositories = (f"{each.id} ({each.remote}, {each.branch})" for each in agent.repositories)
    return Group(
        Text.assemble((plain(agent.name), "bold"), "  ", status(agent_word(agent))),
        fields(
            [
                ("id", agent.id),
                ("about", agent.desc),
                ("seen", ago(agent.last_seen_at, now)),
                ("started", ago(agent.started_at, now)),
                ("at work", lease.at_work if lease else ""),
                ("standing by", lease.standing_by if lease else ""),
                ("version", agent.version),
                ("wanted version", agent.desired_version),
                ("deploys to", _places(agent)),
                ("repositories", ", ".join(repositories)),
                ("registered", ago(agent.created_at, now)),
                *(("unusable file", f"{each.repository_id}: {each.reason}") for each in agent.unusable_files),
            ]
        ),
    )


def print_key(key: str, about: str) -> None:
    """The key alone on stdout, so that it can be piped into a file; what it is about on stderr."""
    typer.echo(about, err=True)
    sys.stderr.flush()
    typer.echo(key)


def _show(call: Call, body: bytes, lease: ShownLease | None = None) -> None:
    from fairway.cli.output import now

    call.answer(body, ShownAgent, lambda agent: agent_card(agent, now(), lease))


def _version(agent: ShownAgent) -> str:
    """Without what an agent says about a version that it does not run: a table has no room for that."""
    version, trouble, _ = agent.version.partition(" (")
    return f"{version} (!)" if trouble else version


def _places(agent: ShownAgent) -> str:
    of_plugins = (f"{each.name}: {', '.join(each.deploy_targets)}".removesuffix(": ") for each in agent.plugins)
    return ", ".join([each.name for each in agent.platform_providers] or of_plugins)
