"""What sentences about waiting need to know of agents, and of deployments that come first, read from the store."""

from collections.abc import Iterable
from datetime import datetime
from itertools import chain

import msgspec
from sqlalchemy import Connection

from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.server.http_api.desk import HttpDesk
from fairway.server.store import agents, deployments
from fairway.server.store.errors import NotFound
from fairway.server.waiting import KnownAgent, Onlooker


async def looks(desk: HttpDesk, agent_ids: Iterable[str]) -> Onlooker:
    """Somebody who knows these agents, and looks now."""
    ids, now = frozenset(agent_ids), desk.clock.now()
    return await desk.store.read(lambda connection: onlooker(connection, ids, now)) if ids else Onlooker({}, now)


async def looks_at(desk: HttpDesk, found: Iterable[Deployment]) -> Onlooker:
    """Somebody who knows what these deployments may wait for, and looks now."""
    open, now = [each for each in found if not each.status.is_terminal], desk.clock.now()
    return await desk.store.read(lambda connection: onlooker_of(connection, open, now)) if open else Onlooker({}, now)


def onlooker_of(connection: Connection, found: Iterable[Deployment], now: datetime) -> Onlooker:
    """The same, where a connection is at hand."""
    open = [each for each in found if not each.status.is_terminal]
    waiting: dict[str, set[str]] = {}
    for each in open:
        if each.status is DeploymentStatus.PENDING:
            waiting.setdefault(each.agent_id, set()).add(each.application_id)
    before = chain.from_iterable(
        deployments.list_open_of_applications(connection, agent_id, application_ids)
        for agent_id, application_ids in waiting.items()
    )
    known = onlooker(connection, {each.agent_id for each in open}, now)
    return msgspec.structs.replace(known, open=tuple(before))


def onlooker(connection: Connection, agent_ids: Iterable[str], now: datetime) -> Onlooker:
    """Somebody who knows these agents, where a connection is at hand."""
    known: dict[str, KnownAgent] = {}
    for id in agent_ids:
        try:
            agent = agents.load_agent(connection, id)
        except NotFound:
            continue
        known[id] = KnownAgent(name=agent.name, last_seen=agents.last_seen(connection, id), disabled=agent.disabled)
    return Onlooker(known, now)
