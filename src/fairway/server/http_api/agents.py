"""Agents: who they are and what they can do, and what may be done to them.

A key is shown once, in the answer to what made it; hashes of keys and an agent's own file are never shown.
"""

from datetime import datetime
from typing import Annotated

import msgspec
from litestar import delete, get, patch, post
from litestar.di import NamedDependency, Provide
from litestar.params import FromPath, JSONBody
from msgspec import UNSET, Meta, UnsetType

from fairway.git.remote import redacted
from fairway.model.agent import Agent, AgentPlugin, ConnectionStatus, EncryptionKind, PlatformProvider
from fairway.model.application import Repository, UnusableFile
from fairway.server.actions import agents as actions
from fairway.server.actions.agents import AgentChange, connection_status
from fairway.server.http_api.body import Body
from fairway.server.http_api.commands import ShownCommand, show_command
from fairway.server.http_api.desk import ApiRequest, HttpDesk, desk_of
from fairway.server.http_api.errors import CHANGE_REFUSALS, REFUSALS
from fairway.server.http_api.query import page
from fairway.server.http_api.routes import action
from fairway.server.store import agents
from fairway.server.store.page import PageRequest

Name = Annotated[str, Meta(min_length=1, max_length=200)]


class ShownAgent(msgspec.Struct, frozen=True, kw_only=True):
    """One agent, as everybody who may see it sees it."""

    id: str
    name: str
    desc: str
    project_id: str
    status: ConnectionStatus
    #: When it was last heard; null before the first time.
    last_seen_at: datetime | None
    #: When it last introduced itself; null before the first time.
    started_at: datetime | None
    version: str
    #: The version its launcher should run, as VERSION@sha256:HEX or VERSION; empty means whichever it has.
    desired_version: str
    disabled: bool
    #: How many keys it may show: two while one replaces the other.
    key_count: int
    repositories: tuple[Repository, ...]
    #: v0 only.
    platform_providers: tuple[PlatformProvider, ...]
    #: v1 only.
    plugins: tuple[AgentPlugin, ...]
    #: The application files of its repositories that cannot be deployed, with the reason.
    unusable_files: tuple[UnusableFile, ...]
    created_at: datetime
    updated_at: datetime


class AgentPage(msgspec.Struct, frozen=True):
    """Some agents, by id."""

    items: tuple[ShownAgent, ...]
    #: For the next page; empty when this is the last.
    next_cursor: str


class AgentAndKey(msgspec.Struct, frozen=True):
    """A new agent and its key, which is shown this once."""

    agent: ShownAgent
    key: str


class NewKey(msgspec.Struct, frozen=True):
    """A new key of an agent, which is shown this once."""

    key: str


class PublicKey(msgspec.Struct, frozen=True):
    """What is needed to seal a secret for an agent."""

    kind: EncryptionKind
    #: PEM; empty unless the kind is key_pair.
    public_key: str


class AgentToAdd(Body, frozen=True, kw_only=True):
    """What is said of a new agent."""

    name: Name
    desc: str = ""


class AgentPatch(Body, frozen=True, kw_only=True):
    """What is to be otherwise; what is left out stays."""

    name: Name | UnsetType = UNSET
    desc: str | UnsetType = UNSET
    #: As VERSION@sha256:HEX, or VERSION for agents that know the checksum; empty means whichever its launcher has.
    desired_version: str | UnsetType = UNSET


@get(
    "/agents",
    summary="The agents of the project.",
    tags=["agents"],
    responses=REFUSALS,
    dependencies={"asked": Provide(page)},
)
async def list_agents(request: ApiRequest, asked: NamedDependency[PageRequest]) -> AgentPage:
    """By id, so that an agent that is heard does not move."""
    desk = desk_of(request)
    found, now = await actions.page_agents(desk.actions, request.auth, asked), desk.clock.now()
    return AgentPage(tuple(show_agent(each.agent, each.last_seen_at, now) for each in found.items), found.cursor)


@get("/agents/{agent_id:str}", summary="One agent.", tags=["agents"], responses=REFUSALS)
async def get_agent(request: ApiRequest, agent_id: FromPath[str]) -> ShownAgent:
    """The agent with this id."""
    desk = desk_of(request)
    found = await actions.get_agent(desk.actions, request.auth, agent_id)
    return show_agent(found.agent, found.last_seen_at, desk.clock.now())


@get("/agents/{agent_id:str}/public-key", summary="How to seal a secret.", tags=["agents"], responses=REFUSALS)
async def get_public_key(request: ApiRequest, agent_id: FromPath[str]) -> PublicKey:
    """The key with which only this agent can read what is sealed. The secret itself never comes here."""
    found = await actions.get_agent(desk_of(request).actions, request.auth, agent_id)
    encryption = found.agent.profile.secret_encryption
    return PublicKey(encryption.kind, encryption.public_key)


@post("/agents", summary="Register an agent.", tags=["agents"], responses=CHANGE_REFUSALS)
async def add_agent(request: ApiRequest, data: JSONBody[AgentToAdd]) -> AgentAndKey:
    """The new agent and its key. The key is shown this once."""
    desk = desk_of(request)
    made = await actions.register_agent(desk.actions, request.auth, data.name, data.desc)
    return AgentAndKey(show_agent(made.agent, None, desk.clock.now()), made.key)


@patch("/agents/{agent_id:str}", summary="Change an agent.", tags=["agents"], responses=CHANGE_REFUSALS)
async def update_agent(
    request: ApiRequest, agent_id: FromPath[str], data: JSONBody[AgentPatch] = AgentPatch()
) -> ShownAgent:
    """The agent as it is now."""
    desk = desk_of(request)
    change = AgentChange(**msgspec.structs.asdict(data))
    return await _shown(desk, await actions.update_agent(desk.actions, request.auth, agent_id, change))


@action("/agents/{agent_id:str}/enable", "Let an agent in again.")
async def enable_agent(request: ApiRequest, agent_id: FromPath[str]) -> ShownAgent:
    """The agent as it is now."""
    desk = desk_of(request)
    return await _shown(desk, await actions.enable_agent(desk.actions, request.auth, agent_id))


@action("/agents/{agent_id:str}/disable", "Refuse an agent's calls from now on.")
async def disable_agent(request: ApiRequest, agent_id: FromPath[str]) -> ShownAgent:
    """The agent as it is now."""
    desk = desk_of(request)
    return await _shown(desk, await actions.disable_agent(desk.actions, request.auth, agent_id))


@post("/agents/{agent_id:str}/keys", summary="Give an agent a second key.", tags=["agents"], responses=CHANGE_REFUSALS)
async def add_key(request: ApiRequest, agent_id: FromPath[str]) -> NewKey:
    """The new key, shown this once; the one before is valid until it is deleted."""
    made = await actions.add_agent_key(desk_of(request).actions, request.auth, agent_id)
    return NewKey(made.key)


@delete(
    "/agents/{agent_id:str}/keys/oldest",
    summary="Refuse the older of an agent's two keys.",
    tags=["agents"],
    responses=CHANGE_REFUSALS,
)
async def drop_oldest_key(request: ApiRequest, agent_id: FromPath[str]) -> None:
    """From now on. An agent's only key stays."""
    await actions.drop_oldest_agent_key(desk_of(request).actions, request.auth, agent_id)


@action("/agents/{agent_id:str}/restart", "End an agent's process, so that it starts anew.", 202)
async def restart_agent(request: ApiRequest, agent_id: FromPath[str]) -> ShownCommand:
    """The command for the agent, which can be followed."""
    desk = desk_of(request)
    return await show_command(desk, await actions.restart_agent(desk.actions, request.auth, agent_id))


async def _shown(desk: HttpDesk, agent: Agent) -> ShownAgent:
    last_seen = await desk.store.read(lambda connection: agents.last_seen(connection, agent.id))
    return show_agent(agent, last_seen, desk.clock.now())


def show_agent(agent: Agent, last_seen: datetime | None, now: datetime) -> ShownAgent:
    """What may be seen of an agent."""
    profile = agent.profile
    repositories = (msgspec.structs.replace(each, remote=redacted(each.remote)) for each in profile.repositories)
    return ShownAgent(
        id=agent.id,
        name=agent.name,
        desc=agent.desc,
        project_id=agent.project_id,
        status=connection_status(last_seen, now),
        last_seen_at=last_seen,
        started_at=agent.started_at,
        version=profile.version,
        desired_version=agent.desired_version,
        disabled=agent.disabled,
        key_count=len(agent.keys),
        repositories=tuple(repositories),
        platform_providers=profile.platform_providers,
        plugins=profile.plugins,
        unusable_files=agent.unusable_files,
        created_at=agent.created_at,
        updated_at=agent.updated_at,
    )


ROUTES = (
    list_agents,
    get_agent,
    get_public_key,
    add_agent,
    update_agent,
    enable_agent,
    disable_agent,
    add_key,
    drop_oldest_key,
    restart_agent,
)
