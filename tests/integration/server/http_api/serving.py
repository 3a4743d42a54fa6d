"""The HTTP API on a real port over a real store, and a client with a key for it."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx
import msgspec
from sqlalchemy import Connection

from fairway.clock import FakeClock
from fairway.model.agent import Agent
from fairway.model.api_key import APIKeyRole
from fairway.model.application import Application
from fairway.model.command import Command
from fairway.model.deployment import Deployment
from fairway.server.http_api.app import http_app
from fairway.server.http_api.desk import HttpDesk
from fairway.server.http_api.listener import listening
from fairway.server.http_api.metrics import Metrics
from fairway.server.keys import new_api_key
from fairway.server.logs import LogStore
from fairway.server.sign_in.desk import SignInDesk
from fairway.server.store import agents, api_keys, applications, commands, deployments
from fairway.server.store.store import Store
from fairway.server.user_auth import UserAuth
from tests.integration.server.store.nouns import an_api_key
from tests.unit.model.builders import NOW

T = TypeVar("T")


class Trouble(Store):
    """A store whose reads fail with the error that is set, and work while there is none."""

    error: Exception | None = None

    async def read(self, work: Callable[[Connection], T]) -> T:
        if self.error is not None:
            raise self.error
        return await super().read(work)


class Serving(msgspec.Struct, frozen=True):
    """A server under test, from the inside and from the outside."""

    store: Trouble
    logs: LogStore
    clock: FakeClock
    #: As it is shown, and what the store keeps of it.
    key: str
    key_hash: str
    client: httpx.AsyncClient

    async def add(self, *nouns: Agent | Application | Deployment | Command) -> None:
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
                    case Command():
                        commands.insert_command(connection, noun)

        await self.store.write(insert)

    async def get(self, path: str, **fields: Any) -> httpx.Response:
        """Ask with the key of the project `shop`."""
        return await self.client.get(path, headers={"authorization": f"Bearer {self.key}"}, **fields)

    async def refusal(self, path: str) -> tuple[int, str, str]:
        """The status, the word and the sentence with which a request is refused."""
        answer = await self.get(path)
        error = answer.json()["error"]
        return answer.status_code, error["code"], error["message"]


@asynccontextmanager
async def serving(folder: Path) -> AsyncIterator[Serving]:
    """A server of its own for one test, with a key that may read the project `shop`."""
    store = await Trouble.open(f"sqlite:///{folder / 'fairway.db'}")
    logs, clock = LogStore.open(folder / "logs"), FakeClock(NOW)
    made = new_api_key("key-1")
    key = an_api_key(key_hash=made.stored, role=APIKeyRole.READ_ONLY)
    await store.write(lambda connection: api_keys.insert_api_key(connection, key))
    sign_in = await SignInDesk.open(store, clock)
    desk = HttpDesk(
        store=store, logs=logs, clock=clock, auth=UserAuth(store, clock), metrics=Metrics(), sign_in=sign_in
    )
    app = http_app(desk)
    try:
        async with (
            listening(app, "127.0.0.1:0", 1) as port,
            httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client,
        ):
            yield Serving(store, logs, clock, made.shown, made.stored, client)
    finally:
        await logs.close()
        await store.close()
