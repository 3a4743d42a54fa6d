"""What sentences about waiting need to know of agents, read from the store."""

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import Connection

from fairway.server.http_api.desk import HttpDesk
from fairway.server.store import agents
from fairway.server.store.errors import NotFound
from fairway.server.waiting import KnownAgent, Onlooker


async def looks(desk: HttpDesk, agent_ids: Iterable[str]) -> Onlooker:
    """Somebody who knows these agents, and looks now."""
    ids, now = frozenset(agent_ids), desk.clock.now()
    return await desk.store.read(lambda connection: onlooker(connection, ids, now)) if ids else Onlooker({}, now)


def onlooker(connection: Connection, agent_ids: Iterable[str], now: datetime) -> Onlooker:
    """The same, where a connection is at hand."""
    known: dict[str, KnownAgent] = {}
    for id in agent_ids:
        try:
            agent = agents.load_agent(connection, id)
        except NotFound:
            continue
        known[id] = KnownAgent(name=agent.name, last_seen=agents.last_seen(connection, id), disabled=agent.disabled)
    return Onlooker(known, now)
