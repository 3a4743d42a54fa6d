"""Agents as JSON: who they are and what they can do, never their keys, hashes of keys or files."""

from datetime import datetime

import msgspec
from litestar import get
from litestar.di import NamedDependency, Provide
from litestar.params import FromPath
from sqlalchemy import Connection

from fairway.git.remote import redacted
from fairway.model.agent import Agent, AgentPlugin, ConnectionStatus, PlatformProvider
from fairway.model.application import Repository
from fairway.server.http_api.desk import ApiRequest, desk_of
from fairway.server.http_api.errors import REFUSALS
from fairway.server.http_api.query import page
from fairway.server.store import agents
from fairway.server.store.page import PageRequest
from fairway.server.user_service.agents import connection_status
from fairway.server.user_service.desk import check_project


class ShownAgent(msgspec.Struct, frozen=True, kw_only=True):
    """One agent, as everybody with a key of its project may see it."""

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
    #: The version its launcher should run; empty means whichever it has.
    desired_version: str
    disabled: bool
    repositories: tuple[Repository, ...]
    #: v0 only.
    platform_providers: tuple[PlatformProvider, ...]
    #: v1 only.
    plugins: tuple[AgentPlugin, ...]
    created_at: datetime
    updated_at: datetime


class AgentPage(msgspec.Struct, frozen=True):
    """Some agents, by id."""

    items: tuple[ShownAgent, ...]
    #: For the next page; empty when this is the last.
    next_cursor: str


@get(
    "/agents",
    summary="The agents of the project.",
    tags=["agents"],
    responses=REFUSALS,
    dependencies={"asked": Provide(page)},
)
async def list_agents(request: ApiRequest, asked: NamedDependency[PageRequest]) -> AgentPage:
    """By id, so that an agent that is heard does not move."""
    project_id = request.auth.project_id

    def load(connection: Connection) -> tuple[list[tuple[Agent, datetime | None]], bool]:
        # A project has some hundred agents at most, so they are all read and cut here.
        following = [agent for agent in agents.list_agents(connection, project_id) if agent.id > asked.cursor]
        wanted = following[: asked.size]
        seen = [(agent, agents.last_seen(connection, agent.id)) for agent in wanted]
        return seen, len(following) > len(wanted)

    desk = desk_of(request)
    found, more = await desk.store.read(load)
    now = desk.clock.now()
    items = tuple(show_agent(agent, last_seen, now) for agent, last_seen in found)
    return AgentPage(items, items[-1].id if more else "")


@get("/agents/{agent_id:str}", summary="One agent.", tags=["agents"], responses=REFUSALS)
async def get_agent(request: ApiRequest, agent_id: FromPath[str]) -> ShownAgent:
    """The agent with this id."""

    def load(connection: Connection) -> tuple[Agent, datetime | None]:
        return agents.load_agent(connection, agent_id), agents.last_seen(connection, agent_id)

    desk = desk_of(request)
    agent, last_seen = await desk.store.read(load)
    check_project(request.auth, agent.project_id, f"agent {agent_id}")
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
        repositories=tuple(repositories),
        platform_providers=profile.platform_providers,
        plugins=profile.plugins,
        created_at=agent.created_at,
        updated_at=agent.updated_at,
    )


ROUTES = (
    list_agents,
    get_agent,
)
