"""APIService on a real server over a real store, and a client with a key for it."""

import itertools
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import msgspec
from grpc import aio
from sqlalchemy import Connection

from fairway.clock import FakeClock
from fairway.model.agent import Agent
from fairway.model.api_key import APIKey, APIKeyRole
from fairway.model.application import Application
from fairway.model.deployment import Deployment
from fairway.rpc import channel
from fairway.rpc.user_api import UserStub, register_user_service
from fairway.server.actions.desk import ActionDesk
from fairway.server.keys import new_api_key
from fairway.server.logs import LogStore
from fairway.server.store import agents, api_keys, applications, deployments, projects
from fairway.server.store.projects import Project
from fairway.server.store.store import Store
from fairway.server.user_auth import UserAuth
from fairway.server.user_service.servicer import UserService
from tests.integration.server.recorded_hints import RecordedHints
from tests.unit.server.user.builders import NOW


class _Shows(aio.UnaryUnaryClientInterceptor):
    """Adds the key to each call."""

    def __init__(self, key: str) -> None:
        self._metadata = aio.Metadata(("authorization", f"API-KEY {key}"))

    async def intercept_unary_unary(self, continuation: Any, client_call_details: Any, request: Any) -> Any:
        return await continuation(client_call_details._replace(metadata=self._metadata), request)


class Serving(msgspec.Struct, frozen=True):
    """A server under test, from the inside and from the outside."""

    desk: ActionDesk
    hints: RecordedHints
    clock: FakeClock
    #: Agents whose keys the server was told to forget.
    forgotten: list[str]
    address: str

    @property
    def store(self) -> Store:
        return self.desk.store

    @property
    def logs(self) -> LogStore:
        return self.desk.logs

    async def add(self, *nouns: Agent | Application | Deployment | APIKey) -> None:
        """Put nouns into the store."""

        def insert(connection: Connection) -> None:
            for noun in nouns:
                match noun:
                    case Agent():
                        agents.insert_agent(connection, noun)
                    case Application():
                        applications.insert_application(connection, noun)
                    case Deployment():
                        deployments.insert_deployment(connection, noun)
                    case APIKey():
                        api_keys.insert_api_key(connection, noun)

        await self.store.write(insert)

    async def new_key(
        self, role: APIKeyRole = APIKeyRole.READ_WRITE, project_id: str = "acme", key_id: str = "key-1"
    ) -> str:
        """Store an API key; the text to show."""
        key = new_api_key(key_id)
        await self.add(
            APIKey(
                id=key_id,
                name=key_id,
                key_hash=key.stored,
                project_id=project_id,
                creator="ada",
                role=role,
                created_at=NOW,
                updated_at=NOW,
            )
        )
        return key.shown

    @asynccontextmanager
    async def client(self, key: str) -> AsyncIterator[UserStub]:
        """A client that shows the key with each call."""
        async with aio.insecure_channel(
            self.address, options=channel.CHANNEL_OPTIONS, interceptors=[_Shows(key)]
        ) as to_server:
            yield UserStub(to_server)


@asynccontextmanager
async def serving(folder: Path, web_url: str = "", database: str = "") -> AsyncIterator[Serving]:
    """A server of its own for one test, on SQLite unless another database is named."""
    store = await Store.open(database or f"sqlite:///{folder / 'fairway.db'}")
    logs = LogStore.open(folder / "logs")
    hints, clock, forgotten = RecordedHints(), FakeClock(NOW), list[str]()
    project = Project(id="acme", created_at=NOW, updated_at=NOW)
    await store.write(lambda connection: projects.insert_project(connection, project))
    numbers = itertools.count(1)
    auth = UserAuth(store, clock)
    desk = ActionDesk(
        store=store,
        logs=logs,
        hints=hints,
        clock=clock,
        new_id=lambda: f"new-{next(numbers)}",
        forget_agent=forgotten.append,
        forget_key=auth.forget,
        web_url=web_url,
    )
    server = aio.server(options=channel.SERVER_OPTIONS)
    register_user_service(UserService(desk, auth), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield Serving(desk, hints, clock, forgotten, f"127.0.0.1:{port}")
    finally:
        await server.stop(grace=None)
        await logs.close()
        await store.close()


async def refusal(call: Awaitable[object]) -> tuple[grpc.StatusCode, str]:
    """The status and the words with which a call is refused."""
    try:
        await call
    except aio.AioRpcError as error:
        return error.code(), error.details() or ""
    return grpc.StatusCode.OK, ""


async def code_of(call: Awaitable[object]) -> grpc.StatusCode:
    """The status of a call."""
    code, _ = await refusal(call)
    return code
