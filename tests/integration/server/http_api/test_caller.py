"""Who makes a request and about which project: keys and cookies through the guard, on a real port."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from litestar import Litestar, Request, route
from litestar.datastructures import State
from sqlalchemy import Connection

from fairway.clock import FakeClock
from fairway.model.api_key import APIKeyRole
from fairway.server.callers import Caller
from fairway.server.http_api.caller import known_caller
from fairway.server.http_api.desk import HttpDesk
from fairway.server.http_api.errors import answer_error
from fairway.server.http_api.listener import listening
from fairway.server.http_api.metrics import Metrics
from fairway.server.keys import new_api_key
from fairway.server.logs import LogStore
from fairway.server.sign_in.cookies import SESSION
from fairway.server.sign_in.desk import SignInDesk
from fairway.server.sign_in.sessions import NewSession
from fairway.server.store.api_keys import insert_api_key
from fairway.server.store.projects import insert_project
from fairway.server.store.sessions import insert_session
from fairway.server.store.store import Store
from fairway.server.store.users import insert_user
from fairway.server.user_auth import UserAuth
from tests.integration.server.http_api.serving import an_action_desk
from tests.integration.server.sign_in.people import a_user
from tests.integration.server.store.nouns import a_project, an_api_key
from tests.patience import PATIENCE_SECONDS
from tests.unit.model.builders import NOW


@route("/", http_method=["GET", "POST"], status_code=200)
async def echo(request: Request[Any, Caller, State]) -> list[str]:
    """Who the guard says it is."""
    caller = request.auth
    return [caller.kind.value, caller.name, caller.project_id, *(role.name for role in caller.roles), caller.address]


class Door(msgspec.Struct, frozen=True):
    """The guard on a port, and what to show it."""

    store: Store
    client: httpx.AsyncClient
    key: str
    session: NewSession

    async def ask(self, query: str = "", method: str = "GET", **headers: str) -> tuple[int, Any]:
        """Ask with the cookie, unless an authorization is shown."""
        shown = {name.replace("_", "-"): value for name, value in headers.items()}
        if "authorization" not in shown:
            shown = {"cookie": f"{SESSION}={self.session.cookie}", **shown}
        answer = await self.client.request(method, f"/{query}", headers=shown)
        body = answer.json()
        return answer.status_code, body if answer.status_code == 200 else body["error"]["message"]

    async def add_projects(self, *ids: str) -> None:
        def insert(connection: Connection) -> None:
            for id in ids:
                insert_project(connection, a_project(id))

        await self.store.write(insert)


@pytest.fixture
async def door(tmp_path: Path) -> AsyncIterator[Door]:
    store, clock = await Store.open(f"sqlite:///{tmp_path}/fairway.db"), FakeClock(NOW)
    logs, sign_in, made = LogStore.open(tmp_path / "logs"), await SignInDesk.open(store, clock), new_api_key("key-1")
    new = sign_in.sessions.new("jo", timedelta(days=7), "")

    def insert(connection: Connection) -> None:
        insert_api_key(connection, an_api_key(key_hash=made.stored, role=APIKeyRole.READ_WRITE))
        insert_user(connection, a_user("jo", roles=("Editor",)))
        insert_session(connection, new.session)

    await store.write(insert)
    auth = UserAuth(store, clock)
    actions = an_action_desk(store, logs, clock, auth)
    desk = HttpDesk(actions=actions, auth=auth, metrics=Metrics(), sign_in=sign_in)
    app = Litestar(
        [echo], guards=[known_caller], state=State({"desk": desk}), exception_handlers={Exception: answer_error}
    )
    async with (
        listening(app, "127.0.0.1:0", 1) as port,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=PATIENCE_SECONDS) as client,
    ):
        yield Door(store, client, f"Bearer {made.shown}", new)
    await logs.close()
    await store.close()


async def test_a_key_is_a_program_of_its_project(door: Door) -> None:
    expected = ["api_key", "key-1", "shop", "ReadWrite", "127.0.0.1"]

    assert await door.ask(authorization=door.key) == (200, expected)
    assert await door.ask("?project=shop", method="POST", authorization=door.key) == (200, expected)


async def test_a_key_cannot_ask_about_another_project(door: Door) -> None:
    status, message = await door.ask("?project=shop&project=other", authorization=door.key)

    assert (status, "belongs to project 'shop'" in message) == (403, True)


async def test_a_cookie_is_a_person_in_the_only_project(door: Door) -> None:
    await door.add_projects("shop")

    assert await door.ask() == (200, ["user", "jo", "shop", "Editor", "127.0.0.1"])


async def test_among_several_projects_a_person_is_in_the_default_one_or_says_which(door: Door) -> None:
    await door.add_projects("shop", "default", "bank")

    default, bank = await door.ask(), await door.ask("?project=bank")

    assert (default[1][2], bank[1][2]) == ("default", "bank")


@pytest.mark.parametrize(
    ("query", "status", "said"),
    [
        pytest.param("", 400, "say which one with ?project=", id="none named"),
        pytest.param("?project=shop&project=bank", 400, "given 2 times", id="two named"),
        pytest.param("?project=other", 404, "there is no project 'other'", id="one that is not there"),
    ],
)
async def test_a_person_without_a_project_is_refused(door: Door, query: str, status: int, said: str) -> None:
    await door.add_projects("shop", "bank")

    answer = await door.ask(query)

    assert (answer[0], said in answer[1]) == (status, True)


async def test_a_change_by_cookie_needs_the_sessions_token(door: Door) -> None:
    await door.add_projects("shop")

    without = await door.ask(method="POST")
    wrong = await door.ask(method="POST", x_csrf_token=door.session.session.id)
    right = await door.ask(method="POST", x_csrf_token=door.session.csrf_token)

    assert (without[0], wrong[0], right[0]) == (403, 403, 200)
    assert "X-CSRF-Token" in without[1]


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({"origin": "https://evil.example"}, id="by origin"),
        pytest.param({"sec_fetch_site": "cross-site"}, id="by fetch metadata"),
    ],
)
async def test_a_change_from_another_sites_page_is_refused_whatever_it_shows(
    door: Door, headers: dict[str, str]
) -> None:
    await door.add_projects("shop")

    status, message = await door.ask(method="POST", x_csrf_token=door.session.csrf_token, **headers)

    assert (status, "another site" in message) == (403, True)


async def test_a_broken_key_is_not_made_good_by_a_cookie(door: Door) -> None:
    both = await door.ask(authorization="Bearer nobody.else", cookie=f"{SESSION}={door.session.cookie}")

    assert both[0] == 401


@pytest.mark.parametrize(
    "cookie",
    [
        pytest.param("", id="no cookie"),
        pytest.param(f"{SESSION}=", id="an empty one"),
        pytest.param(f"{SESSION}=a.b", id="one that was made up"),
        pytest.param(f"__Host-{SESSION}=a.b", id="one of a line with TLS"),
        pytest.param("fairway_session; =; ;;", id="rubbish"),
    ],
)
async def test_whoever_shows_nothing_of_worth_is_nobody(door: Door, cookie: str) -> None:
    status, message = await door.ask(cookie=cookie)

    assert (status, "/sign-in" in message) == (401, True)
