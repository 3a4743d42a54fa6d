"""Registering agents, naming them, letting them in or not, replacing their keys and restarting them.

A key leaves the server once, with the answer to what made it; no noun that is given back here carries a hash. An agent
has two keys only while one replaces the other.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

import msgspec
from msgspec import UNSET, UnsetType
from sqlalchemy import Connection

from fairway.model.agent import Agent, AgentKey, ConnectionStatus
from fairway.model.command import Command
from fairway.model.role import Action, Resource
from fairway.server import commands as new_commands
from fairway.server.actions.audit import differences, record
from fairway.server.actions.desk import ActionDesk
from fairway.server.actions.names import checked_name
from fairway.server.callers import Caller
from fairway.server.hints import HintTopic
from fairway.server.keys import new_agent_key
from fairway.server.permissions import permit
from fairway.server.status_codes import NotNow
from fairway.server.store import agents, commands
from fairway.server.store.page import Page, PageRequest

#: How many keys an agent may have at a time.
MOST_KEYS = 2
#: An agent reports each minute; one that was not heard for longer than this is offline.
ONLINE_FOR = timedelta(minutes=2)


class SeenAgent(msgspec.Struct, frozen=True):
    """An agent with its status as of now."""

    agent: Agent
    #: None before the first time.
    last_seen_at: datetime | None


class AgentWithKey(msgspec.Struct, frozen=True):
    """An agent and the key that was just made for it; the key is nowhere else."""

    agent: Agent
    key: str

    def __repr__(self) -> str:
        return f"AgentWithKey({self.agent!r}, key=…)"


class AgentChange(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be otherwise; the rest stays."""

    name: str | UnsetType = UNSET
    desc: str | UnsetType = UNSET
    #: Empty means whichever its launcher has.
    desired_version: str | UnsetType = UNSET


def connection_status(last_seen: datetime | None, now: datetime) -> ConnectionStatus:
    """Whether an agent that was last heard at `last_seen` counts as connected."""
    if last_seen is None:
        return ConnectionStatus.UNKNOWN
    return ConnectionStatus.ONLINE if now - last_seen <= ONLINE_FOR else ConnectionStatus.OFFLINE


async def get_agent(desk: ActionDesk, caller: Caller, agent_id: str) -> SeenAgent:
    """One agent."""

    def load(connection: Connection) -> SeenAgent:
        agent = agents.load_agent(connection, agent_id)
        permit(caller, Resource.AGENT, Action.READ, agent.project_id)
        return _seen(agent, agents.last_seen(connection, agent_id), desk.clock.now())

    return await desk.store.read(load)


async def list_agents(desk: ActionDesk, caller: Caller) -> tuple[SeenAgent, ...]:
    """All agents of the project, by id."""
    permit(caller, Resource.AGENT, Action.READ, caller.project_id)
    found = await desk.store.read(lambda connection: agents.list_seen_agents(connection, caller.project_id))
    return tuple(_seen(agent, last_seen, desk.clock.now()) for agent, last_seen in found)


async def page_agents(desk: ActionDesk, caller: Caller, page: PageRequest) -> Page[SeenAgent]:
    """One page of the agents of the project, by id: an agent that is heard does not move."""
    permit(caller, Resource.AGENT, Action.READ, caller.project_id)
    found = await desk.store.read(
        lambda connection: agents.list_seen_agents(connection, caller.project_id, page.cursor, page.size + 1)
    )
    seen = tuple(_seen(agent, last_seen, desk.clock.now()) for agent, last_seen in found[: page.size])
    return Page(seen, seen[-1].agent.id if len(found) > page.size else "")


async def register_agent(desk: ActionDesk, caller: Caller, name: str, desc: str = "") -> AgentWithKey:
    """Register an agent."""
    now, key = desk.clock.now(), new_agent_key()
    agent = Agent(
        id=desk.new_id(),
        name=checked_name(name),
        desc=desc,
        project_id=caller.project_id,
        keys=(AgentKey(hash=key.stored, creator=caller.name, created_at=now),),
        created_at=now,
        updated_at=now,
    )

    def register(connection: Connection) -> None:
        permit(caller, Resource.AGENT, Action.CREATE, caller.project_id)
        agents.insert_agent(connection, agent)
        _record(connection, caller, now, "create", (None, agent))

    await desk.store.write(register)
    return AgentWithKey(_without_hashes(agent), key.shown)


async def update_agent(desk: ActionDesk, caller: Caller, agent_id: str, change: AgentChange) -> Agent:
    """Give an agent another name, description or version to run."""
    fields = {name: value for name, value in msgspec.structs.asdict(change).items() if value is not UNSET}
    if change.name is not UNSET:
        fields["name"] = checked_name(change.name)
    agent = await _change(desk, caller, agent_id, "update", lambda found: msgspec.structs.replace(found, **fields))
    if change.desired_version is not UNSET:
        desk.hints.publish(agent_id, HintTopic.COMMANDS)
    return agent


async def enable_agent(desk: ActionDesk, caller: Caller, agent_id: str) -> Agent:
    """Let an agent in again."""
    return await _change(desk, caller, agent_id, "enable", lambda found: msgspec.structs.replace(found, disabled=False))


async def disable_agent(desk: ActionDesk, caller: Caller, agent_id: str) -> Agent:
    """Refuse an agent's calls from now on."""
    agent = await _change(
        desk, caller, agent_id, "disable", lambda found: msgspec.structs.replace(found, disabled=True)
    )
    desk.forget_agent(agent_id)
    return agent


async def add_agent_key(desk: ActionDesk, caller: Caller, agent_id: str) -> AgentWithKey:
    """A second key for an agent, to be put in place of the first."""
    key = new_agent_key()
    added = AgentKey(hash=key.stored, creator=caller.name, created_at=desk.clock.now())

    def add(found: Agent) -> Agent:
        if len(found.keys) >= MOST_KEYS:
            raise NotNow(f"agent {found.id} has {len(found.keys)} keys already; delete the oldest one first")
        return msgspec.structs.replace(found, keys=(*found.keys, added))

    agent = await _change(desk, caller, agent_id, "add_key", add)
    return AgentWithKey(agent, key.shown)


async def drop_oldest_agent_key(desk: ActionDesk, caller: Caller, agent_id: str) -> Agent:
    """Refuse the older of an agent's two keys from now on."""

    def drop(found: Agent) -> Agent:
        if len(found.keys) < MOST_KEYS:
            raise NotNow(f"agent {found.id} has no second key, and without one it could not call; add one first")
        oldest = min(found.keys, key=lambda key: key.created_at)
        return msgspec.structs.replace(found, keys=tuple(key for key in found.keys if key is not oldest))

    agent = await _change(desk, caller, agent_id, "drop_oldest_key", drop)
    desk.forget_agent(agent_id)
    return agent


async def restart_agent(desk: ActionDesk, caller: Caller, agent_id: str) -> Command:
    """Ask an agent to end its process, so that whatever started it starts it again."""
    asked = new_commands.Request(command_id=desk.new_id(), commander=caller.name, at=desk.clock.now())

    def ask(connection: Connection) -> Command:
        agent = agents.load_agent(connection, agent_id)
        permit(caller, Resource.AGENT, Action.RESTART, agent.project_id)
        command = new_commands.restart_agent(agent, asked)
        commands.insert_command(connection, command)
        told = {"command_id": command.id}
        record(
            connection,
            caller,
            asked.at,
            action="agent.restart",
            subject_id=agent.id,
            subject_name=agent.name,
            after=told,
        )
        return command

    command = await desk.store.write(ask)
    desk.hints.publish(agent_id, HintTopic.COMMANDS)
    return command


async def _change(
    desk: ActionDesk, caller: Caller, agent_id: str, verb: str, change: Callable[[Agent], Agent]
) -> Agent:
    now = desk.clock.now()

    def write(connection: Connection) -> Agent:
        seen: list[Agent] = []

        def changed(found: Agent) -> Agent:
            seen.append(found)
            permit(caller, Resource.AGENT, Action.UPDATE, found.project_id)
            wanted = change(found)
            return found if wanted == found else msgspec.structs.replace(wanted, updated_at=now)

        agent = agents.update_agent(connection, agent_id, changed)
        if agent is not seen[-1]:
            _record(connection, caller, now, verb, (seen[-1], agent))
        return agent

    return _without_hashes(await desk.store.write(write))


def _record(
    connection: Connection, caller: Caller, at: datetime, verb: str, change: tuple[Agent | None, Agent]
) -> None:
    old, new = change
    before, after = differences(old, new)
    # How many keys there are may be seen, the keys may not.
    if old is not None and old.keys != new.keys:
        before["key_count"], after["key_count"] = len(old.keys), len(new.keys)
    record(
        connection,
        caller,
        at,
        action=f"agent.{verb}",
        subject_id=new.id,
        subject_name=new.name,
        before=before,
        after=after,
    )


def _seen(agent: Agent, last_seen: datetime | None, now: datetime) -> SeenAgent:
    status = connection_status(last_seen, now)
    return SeenAgent(_without_hashes(msgspec.structs.replace(agent, status=status)), last_seen)


def _without_hashes(agent: Agent) -> Agent:
    return msgspec.structs.replace(agent, keys=tuple(msgspec.structs.replace(key, hash="") for key in agent.keys))
