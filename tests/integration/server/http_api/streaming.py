"""A replica with its HTTP door on a real port, and clients of its stream that read as a browser does."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import msgspec
from sqlalchemy import Connection

from fairway.clock import FakeClock
from fairway.model.api_key import APIKey, APIKeyRole
from fairway.server.feed import REMEMBERED_CHANGES, Feed
from fairway.server.hints import HintBoard
from fairway.server.http_api.app import http_app
from fairway.server.http_api.desk import HttpDesk
from fairway.server.http_api.listener import listening
from fairway.server.http_api.metrics import Metrics
from fairway.server.keys import new_api_key
from fairway.server.logs import LogStore
from fairway.server.replicas import Live, Memories, connected
from fairway.server.sign_in.cookies import SESSION
from fairway.server.sign_in.desk import SignInDesk
from fairway.server.store import api_keys
from fairway.server.store.changes import ChangeKind
from fairway.server.store.sessions import insert_session
from fairway.server.store.store import Store
from fairway.server.store.users import insert_user
from fairway.server.user_auth import UserAuth
from tests.integration.server.http_api.serving import INSERTS, an_action_desk
from tests.integration.server.sign_in.people import a_user
from tests.integration.server.store.nouns import an_api_key
from tests.patience import PATIENCE_SECONDS
from tests.unit.model.builders import NOW


class ServerEvent(NamedTuple):
    """One event, as a browser hands it over."""

    name: str
    data: Any


class EventStream:
    """A client that remembers the last id, as a browser does."""

    def __init__(self, response: httpx.Response, last_id: str = "") -> None:
        self.last_id = last_id
        self._said_id = last_id
        self.retry = ""
        self._lines = response.aiter_lines()

    async def next(self) -> ServerEvent:
        """The next event; StopAsyncIteration at the end of the stream."""
        name, data = "", ""
        while True:
            line = await asyncio.wait_for(anext(self._lines), PATIENCE_SECONDS)
            field, _, value = line.partition(": ")
            match field:
                case "event":
                    name = value
                case "data":
                    data = value
                case "id":
                    self._said_id = value
                case "retry":
                    self.retry = value
                case "":
                    self.last_id = self._said_id
            if not line and data:
                return ServerEvent(name, json.loads(data))

    async def take(self, count: int) -> list[ServerEvent]:
        """The next few."""
        return [await self.next() for _ in range(count)]

    async def ids(self, count: int) -> list[tuple[str, str]]:
        """The next few by name and id of what they are about."""
        return [(event.name, event.data["id"]) for event in await self.take(count)]


class LiveServer(msgspec.Struct, frozen=True):
    """A replica, from the inside and from the outside."""

    store: Store
    logs: LogStore
    feed: Feed
    hints: HintBoard
    clock: FakeClock
    sign_in: SignInDesk
    client: httpx.AsyncClient

    async def add(self, *nouns: object) -> None:
        """Put nouns into the store."""
        await self.store.write(lambda connection: [INSERTS[type(noun)](connection, noun) for noun in nouns])

    async def a_key(self, id: str = "key-1", role: APIKeyRole = APIKeyRole.READ_ONLY) -> str:
        """A key of the project `shop`, as it is shown."""
        made = new_api_key(id)
        key: APIKey = an_api_key(id, key_hash=made.stored, role=role)
        await self.store.write(lambda connection: api_keys.insert_api_key(connection, key))
        return made.shown

    async def a_session(self, user_id: str = "jo", *roles: str) -> str:
        """The cookie header of a new person, who has just signed in."""
        new = self.sign_in.sessions.new(user_id, timedelta(hours=1), "127.0.0.1")

        def add(connection: Connection) -> None:
            insert_user(connection, a_user(user_id, roles=roles))
            insert_session(connection, new.session)

        await self.store.write(add)
        return f"{SESSION}={new.cookie}"

    @asynccontextmanager
    async def stream(self, key: str, *topics: str, last_id: str = "") -> AsyncIterator[EventStream]:
        """A stream of the topics for a key or a cookie; where it was, when it has been here before."""
        shown = {"cookie": key} if key.startswith(SESSION) else {"authorization": f"Bearer {key}"}
        headers = shown | ({"last-event-id": last_id} if last_id else {})
        asked = self.client.stream("GET", "/api/v1/stream", params={"topic": list(topics)}, headers=headers)
        async with asked as response:
            assert response.status_code == 200, await response.aread()
            assert response.headers["content-type"].startswith("text/event-stream")
            stream = EventStream(response, last_id)
            while (await stream.next()).name != "ready":
                continue
            yield stream


@asynccontextmanager
async def a_live_server(url: str, folder: Path, remembered: int = REMEMBERED_CHANGES) -> AsyncIterator[LiveServer]:
    """A replica on a database that others may use as well."""
    async with AsyncExitStack() as stack:
        store, logs, clock = await Store.open(url), LogStore.open(folder / "logs"), FakeClock(NOW)
        stack.push_async_callback(store.close)
        stack.push_async_callback(logs.close)
        users, feed = UserAuth(store, clock), Feed(remembered)
        actions = an_action_desk(store, logs, clock, users)
        sign_in = await SignInDesk.open(store, clock)
        people = sign_in.sessions
        forget = {
            ChangeKind.API_KEYS: users.forget,
            ChangeKind.USERS: people.forget_user,
            ChangeKind.ROLES: lambda _: people.forget_everybody(),
        }
        memories = Memories(forget=forget, forget_all=users.forget_all)
        live = Live(store=store, logs=logs, hints=actions.hints, feed=feed, memories=memories)
        await stack.enter_async_context(connected(live))
        app = http_app(HttpDesk(actions=actions, auth=users, metrics=Metrics(), sign_in=sign_in, feed=feed))
        port = await stack.enter_async_context(listening(app, "127.0.0.1:0", 5))
        stack.callback(feed.close)
        client = httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=PATIENCE_SECONDS)
        yield LiveServer(store, logs, feed, actions.hints, clock, sign_in, await stack.enter_async_context(client))
