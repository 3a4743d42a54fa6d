"""The HTTP API on a real port over a real store, and a client with a key for it."""

import itertools
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
from fairway.model.chain import DeploymentChain
from fairway.model.command import Command
from fairway.model.deployment import Deployment
from fairway.model.event import Event
from fairway.model.live_state import LiveState
from fairway.server.actions.desk import ActionDesk
from fairway.server.hints import HintBoard
from fairway.server.http_api.app import http_app
from fairway.server.http_api.desk import HttpDesk
from fairway.server.http_api.listener import listening
from fairway.server.http_api.metrics import Metrics
from fairway.server.keys import new_api_key
from fairway.server.logs import LogStore
from fairway.server.sign_in.desk import SignInDesk
from fairway.server.store import (
    agents,
    api_keys,
    applications,
    chains,
    commands,
    deployments,
    events,
    live_states,
    projects,
)
from fairway.server.store.store import Store
from fairway.server.user_auth import UserAuth
from tests.integration.server.store.nouns import a_project, an_api_key, keep
from tests.patience import PATIENCE_SECONDS
from tests.unit.model.builders import NOW

T = TypeVar("T")

INSERTS: dict[type, Callable[[Connection, Any], None]] = {
    Agent: agents.insert_agent,
    Application: applications.insert_application,
    Command: commands.insert_command,
    Deployment: deployments.insert_deployment,
    DeploymentChain: chains.insert_chain,
    Event: events.insert_event,
    LiveState: live_states.save_live_state,
    projects.Project: projects.insert_project,
}


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

    async def add(self, *nouns: object) -> None:
        """Put nouns into the store."""

        def insert(connection: Connection) -> None:
            for noun in nouns:
                INSERTS[type(noun)](connection, noun)

        await self.store.write(insert)

    async def get(self, path: str, **fields: Any) -> httpx.Response:
        """Ask with the key of the project `shop`."""
        return await self.ask("GET", path, **fields)

    async def ask(self, method: str, path: str, **fields: Any) -> httpx.Response:
        """The same in any way."""
        return await self.client.request(method, path, headers={"authorization": f"Bearer {self.key}"}, **fields)

    async def refusal(self, path: str, method: str = "GET", **fields: Any) -> tuple[int, str, str]:
        """The status, the word and the sentence with which a request is refused."""
        answer = await self.ask(method, path, **fields)
        error = answer.json()["error"]
        return answer.status_code, error["code"], error["message"]


def an_action_desk(store: Store, logs: LogStore, clock: FakeClock, users: UserAuth) -> ActionDesk:
    """What actions work with; the nouns they make are called new-1, new-2 …"""
    numbers = itertools.count(1)
    return ActionDesk(
        store=store,
        logs=logs,
        hints=HintBoard(),
        clock=clock,
        new_id=lambda: f"new-{next(numbers)}",
        forget_agent=lambda _: None,
        forget_key=users.forget,
    )


@asynccontextmanager
async def serving(folder: Path, role: APIKeyRole = APIKeyRole.READ_ONLY) -> AsyncIterator[Serving]:
    """A server of its own for one test, with a key of the project `shop`."""
    store = await Trouble.open(f"sqlite:///{folder / 'fairway.db'}")
    logs, clock = LogStore.open(folder / "logs"), FakeClock(NOW)
    made = new_api_key("key-1")
    key = an_api_key(key_hash=made.stored, role=role)
    await keep(store, projects.insert_project, a_project())
    await keep(store, api_keys.insert_api_key, key)
    sign_in, users = await SignInDesk.open(store, clock), UserAuth(store, clock)
    actions = an_action_desk(store, logs, clock, users)
    try:
        app = http_app(HttpDesk(actions=actions, auth=users, metrics=Metrics(), sign_in=sign_in))
        async with (
            listening(app, "127.0.0.1:0", 1) as port,
            httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=PATIENCE_SECONDS) as client,
        ):
            yield Serving(store, logs, clock, made.shown, made.stored, client)
    finally:
        await logs.close()
        await store.close()
