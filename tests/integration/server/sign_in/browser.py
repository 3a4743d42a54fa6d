"""A server on a real port with cheap passwords, and a browser that keeps its cookies where a test can see them."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from html.parser import HTMLParser
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any, TypeVar

import argon2
import httpx
import msgspec
from sqlalchemy import Connection

from fairway.clock import FakeClock
from fairway.model.audit import AuditRecord
from fairway.model.user import User
from fairway.server.http_api.app import http_app
from fairway.server.http_api.desk import HttpDesk
from fairway.server.http_api.listener import listening
from fairway.server.http_api.metrics import Metrics
from fairway.server.logs import LogStore
from fairway.server.proxies import TrustedProxies, behind
from fairway.server.sign_in.desk import SignInDesk
from fairway.server.sign_in.passwords import Passwords
from fairway.server.store.documents import decode
from fairway.server.store.projects import insert_project
from fairway.server.store.store import Store
from fairway.server.store.tables import AUDIT
from fairway.server.store.users import insert_user, load_user
from fairway.server.user_auth import UserAuth
from tests.integration.server.http_api.serving import an_action_desk
from tests.integration.server.sign_in.people import a_user
from tests.integration.server.store.nouns import a_project
from tests.patience import PATIENCE_SECONDS
from tests.unit.model.builders import NOW

T = TypeVar("T")

PASSWORD = "correct horse battery"
CHEAP = argon2.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


class Form(HTMLParser):
    """The form of a page: where it goes, and what it sends unless somebody types."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.action = ""
        self.fields: dict[str, str] = {}
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.action = named["action"]
        if tag == "input":
            self.fields[named["name"]] = named.get("value", "")


class Browser:
    """Keeps cookies as a browser does, and follows nothing by itself."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client
        self.cookies: dict[str, str] = {}
        #: What the last answer set, with all that goes with it.
        self.set: SimpleCookie = SimpleCookie()

    async def send(self, method: str, path: str, **fields: Any) -> httpx.Response:
        """Send a request with the cookies, and keep those that come back."""
        headers = {"cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        headers |= fields.pop("headers", {})
        answer = await self._client.request(method, path, headers=headers, **fields)
        self.set = SimpleCookie()
        for line in answer.headers.get_list("set-cookie"):
            self.set.load(line)
        for name, morsel in self.set.items():
            if morsel["max-age"] == "0":
                self.cookies.pop(name, None)
            else:
                self.cookies[name] = morsel.value
        return answer

    async def get(self, path: str, **fields: Any) -> httpx.Response:
        return await self.send("GET", path, **fields)

    async def fill_in(self, path: str, headers: dict[str, str] | None = None, **typed: str) -> httpx.Response:
        """Load a page, type into its form and send it."""
        form = Form((await self.get(path)).text)
        return await self.send("POST", form.action, data={**form.fields, **typed}, headers=headers or {})

    async def sign_in(self, name: str, password: str = PASSWORD) -> httpx.Response:
        return await self.fill_in("/sign-in", username=name, password=password)

    async def change(self, method: str, path: str, **fields: Any) -> httpx.Response:
        """A change with the session's token, as our pages send it."""
        token = (await self.get("/api/v1/session")).json()["csrf_token"]
        return await self.send(method, path, headers={"x-csrf-token": token}, **fields)


class Place(msgspec.Struct, frozen=True):
    """A server under test, from the inside and from the outside."""

    store: Store
    clock: FakeClock
    desk: SignInDesk
    client: httpx.AsyncClient

    def browser(self) -> Browser:
        return Browser(self.client)

    async def add_user(self, name: str = "jo", password: str = PASSWORD, **fields: Any) -> User:
        hashed = await self.desk.passwords.hashed(password) if password else ""
        user = a_user(name, **{"password_hash": hashed, "roles": ("Viewer",), **fields})
        await self.store.write(lambda connection: insert_user(connection, user))
        return user

    async def user(self, name: str = "jo") -> User:
        return await self.store.read(lambda connection: load_user(connection, name))

    async def signed_in(self, name: str = "jo", **fields: Any) -> Browser:
        """A browser in which a new person has signed in."""
        await self.add_user(name, **fields)
        browser = self.browser()
        await browser.sign_in(name)
        return browser

    async def recorded(self) -> list[AuditRecord]:
        """Everything that was recorded, in order."""

        def load(connection: Connection) -> list[AuditRecord]:
            found = connection.execute(AUDIT.select().order_by(AUDIT.c.created_at, AUDIT.c.id)).mappings()
            return [decode(row["document"], AuditRecord) for row in found]

        return await self.store.read(load)

    async def actions(self) -> list[tuple[str, str, str]]:
        """Who did what to whom."""
        return sorted((each.actor, each.action, each.subject_id) for each in await self.recorded())


@asynccontextmanager
async def a_place(
    folder: Path,
    web_url: str = "",
    prepare: Callable[[SignInDesk], SignInDesk] = lambda desk: desk,
    proxies: TrustedProxies = TrustedProxies(),
) -> AsyncIterator[Place]:
    """A server of its own for one test, with a project `shop` and nobody in it."""
    store, clock = await Store.open(f"sqlite:///{folder / 'fairway.db'}"), FakeClock(NOW)
    logs, users = LogStore.open(folder / "logs"), UserAuth(store, clock)
    await store.write(lambda connection: insert_project(connection, a_project()))
    opened = await SignInDesk.open(store, clock, web_url)
    desk = prepare(msgspec.structs.replace(opened, passwords=Passwords(CHEAP)))
    actions = an_action_desk(store, logs, clock, users)
    app = http_app(HttpDesk(actions=actions, auth=users, metrics=Metrics(), sign_in=desk))
    try:
        async with (
            listening(behind(proxies, app), "127.0.0.1:0", 1) as port,
            httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=PATIENCE_SECONDS) as client,
        ):
            yield Place(store, clock, desk, client)
    finally:
        await logs.close()
        await store.close()
