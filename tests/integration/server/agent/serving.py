"""A real server for agents on a free loopback port, with a real store and real logs in a directory of the test."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
from grpc import aio
from sqlalchemy import Connection

from fairway.clock import FakeClock
from fairway.model.agent import Agent, AgentKey
from fairway.rpc.agent_api import (
    AgentStub,
    register_agent_service,
    register_application_service,
    register_report_service,
)
from fairway.rpc.channel import CHANNEL_OPTIONS, SERVER_OPTIONS
from fairway.server.agent_auth import AgentAuth
from fairway.server.agent_service.desk import AgentDesk
from fairway.server.agent_service.finding import ApplicationService
from fairway.server.agent_service.log_quota import LogQuota
from fairway.server.agent_service.quotas import Quotas
from fairway.server.agent_service.servicer import AgentService
from fairway.server.agent_service.together import ReportService
from fairway.server.keys import new_agent_key
from fairway.server.logs import LogStore
from fairway.server.store import agents, applications, deployments
from fairway.server.store.store import Store
from tests.integration.server.recorded_hints import RecordedHints
from tests.unit.model.builders import NOW, a_deployment, an_application

#: Kept for the whole run: making keys is not what these tests are about.
KEY = new_agent_key()


class Serving(msgspec.Struct):
    """A running server, and what stands behind it."""

    store: Store
    logs: LogStore
    hints: RecordedHints
    clock: FakeClock
    auth: AgentAuth
    channel: aio.Channel

    def agent(self, id: str = "agent-1", key: str = KEY.shown, project: str = "shop") -> "CallingAgent":
        return CallingAgent(AgentStub(self.channel), f"PIPED-TOKEN {project},{id},{key}")

    async def add_agent(self, id: str = "agent-1", project: str = "shop", **fields: Any) -> None:
        agent = an_agent(id, project_id=project, **fields)
        await self.store.write(lambda connection: agents.insert_agent(connection, agent))

    async def add_application(self, id: str = "a-1", **fields: Any) -> None:
        application = an_application(id, **fields)
        await self.store.write(lambda connection: applications.insert_application(connection, application))

    async def add_deployment(self, **fields: Any) -> None:
        deployment = a_deployment(**fields)
        await self.store.write(lambda connection: deployments.insert_deployment(connection, deployment))

    async def load(self, load: Callable[[Connection, str], Any], id: str) -> Any:
        return await self.store.read(lambda connection: load(connection, id))


class CallingAgent:
    """Calls as one agent: `await agent.call("ListApplications", request)`."""

    def __init__(self, stub: AgentStub, authorization: str) -> None:
        self._stub = stub
        self.metadata = (("authorization", authorization),)

    async def call(self, method: str, request: Any) -> Any:
        return await getattr(self._stub, method)(request, metadata=self.metadata)

    async def refused(self, method: str, request: Any) -> str:
        """The name of the status with which the call ends."""
        try:
            await self.call(method, request)
        except aio.AioRpcError as error:
            return error.code().name
        return "OK"


def an_agent(id: str = "agent-1", **fields: Any) -> Agent:
    known: dict[str, Any] = {"id": id, "name": id, "project_id": "shop", "created_at": NOW, "updated_at": NOW}
    keys = (AgentKey(hash=KEY.stored, creator="ada", created_at=NOW),)
    return Agent(**{**known, "keys": keys, **fields})


@asynccontextmanager
async def serving(folder: Path, database: str = "", quotas: Quotas | None = None) -> AsyncIterator[Serving]:
    """Serve from the folder, or from a database of its own; serving from it again finds what was stored."""
    clock = FakeClock(NOW)
    store = await Store.open(database or f"sqlite:///{folder / 'fairway.db'}")
    logs = LogStore.open(folder / "logs")
    hints, auth, ids = RecordedHints(), AgentAuth(store, clock), count(1)
    desk = AgentDesk(
        store=store,
        logs=logs,
        hints=hints,
        clock=clock,
        new_id=lambda: f"new-{next(ids)}",
        web_url="https://fairway.example.com",
        log_quota=LogQuota(quotas or Quotas()),
    )
    server = aio.server(options=SERVER_OPTIONS)
    register_agent_service(AgentService(desk, auth), server)
    register_report_service(ReportService(desk, auth), server)
    register_application_service(ApplicationService(desk, auth), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with aio.insecure_channel(f"127.0.0.1:{port}", options=CHANNEL_OPTIONS) as channel:
            yield Serving(store, logs, hints, clock, auth, channel)
    finally:
        await server.stop(None)
        await logs.close()
        await store.close()
