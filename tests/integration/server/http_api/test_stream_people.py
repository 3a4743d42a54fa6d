"""Who may see what on a stream, while that changes; and a session that ends at one replica is none at the other."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest
import sqlalchemy as sa

from fairway.model.role import Permission, Role
from fairway.server.http_api import stream as stream_module
from fairway.server.sign_in.sessions import TRUSTED_FOR
from fairway.server.store import applications
from fairway.server.store.roles import save_role
from fairway.server.store.sessions import delete_sessions_of
from fairway.server.store.tables import SESSIONS
from fairway.server.store.users import delete_user, update_user
from tests.integration.server.http_api.streaming import EventStream, LiveServer, ServerEvent, a_live_server
from tests.integration.server.http_api.test_stream import a_shop_deployment
from tests.integration.server.postgres import a_database, a_postgres_server
from tests.integration.server.store.nouns import a_project
from tests.patience import PATIENCE_SECONDS
from tests.unit.model.builders import an_application

WEB = {"team": "web"}
OF_WEB = Role(name="Web", permissions=(Permission(labels=WEB),))


@pytest.fixture(scope="module")
def postgres_server() -> Iterator[str]:
    with a_postgres_server() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgres"])
async def server(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[LiveServer]:
    url = f"sqlite:///{tmp_path}/fairway.db"
    if request.param == "postgres":
        url = a_database(request.getfixturevalue("postgres_server"))
    async with a_live_server(url, tmp_path) as server:
        await server.add(a_project())
        await server.store.write(lambda connection: save_role(connection, OF_WEB))
        yield server


def take_the_role(connection: sa.Connection) -> None:
    update_user(connection, "jo", lambda found: msgspec.structs.replace(found, roles=()))


def disable(connection: sa.Connection) -> None:
    update_user(connection, "jo", lambda found: msgspec.structs.replace(found, disabled=True))


def empty_the_role(connection: sa.Connection) -> None:
    save_role(connection, Role(name="Web", permissions=()))


def end_the_session(connection: sa.Connection) -> None:
    delete_sessions_of(connection, "jo")


async def past_what_was_seen_before(stream: EventStream) -> ServerEvent:
    """The first event about something else than the application as its owner could see it.

    That it was made may be told once more: a replica reads what is stored before it hears of it.
    """
    event = await stream.next()
    while event.name == "application":
        assert event.data["labels"] == WEB
        event = await stream.next()
    return event


@pytest.mark.parametrize(
    ("happens", "said"),
    [
        pytest.param(take_the_role, "jo may not read", id="the role is taken"),
        pytest.param(empty_the_role, "jo may not read", id="the role allows less"),
        pytest.param(disable, "sign in", id="the person is disabled"),
        pytest.param(lambda connection: delete_user(connection, "jo"), "sign in", id="the person is deleted"),
        pytest.param(end_the_session, "sign in", id="the session is ended"),
    ],
)
async def test_a_stream_ends_when_its_owner_may_no_longer_see_it(
    server: LiveServer, happens: Callable[[sa.Connection], None], said: str
) -> None:
    cookie = await server.a_session("jo", "Web")
    async with server.stream(cookie, "deployments") as stream:
        await server.store.write(happens)

        farewell = await stream.next()

        assert (farewell.name, said in farewell.data["reason"]) == ("goodbye", True)
        with pytest.raises(StopAsyncIteration):
            await stream.next()


async def test_a_session_whose_end_nobody_told_of_ends_its_streams_within_a_heartbeat(
    server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_module, "HEARTBEAT_SECONDS", 0.05)
    cookie = await server.a_session("jo", "Web")
    async with server.stream(cookie, "deployments") as stream:
        await server.store.write(lambda connection: connection.execute(sa.delete(SESSIONS)))
        server.clock.advance(TRUSTED_FOR + timedelta(seconds=1))

        async with asyncio.timeout(PATIENCE_SECONDS):
            assert (await stream.next()).name == "goodbye"


async def test_who_sees_by_labels_is_told_of_nothing_else(server: LiveServer) -> None:
    cookie = await server.a_session("jo", "Web")
    async with server.stream(cookie, "applications", "deployments") as stream:
        await server.add(
            an_application("hidden", project_id="shop", labels={"team": "pay"}),
            a_shop_deployment("hidden too"),
            an_application("seen", project_id="shop", labels=WEB),
            a_shop_deployment("seen too", labels=WEB),
        )

        assert set(await stream.ids(2)) == {("application", "seen"), ("deployment", "seen too")}


@pytest.mark.parametrize("topic", ["applications", "commands"])
async def test_who_sees_by_labels_loads_again_when_those_of_something_move(server: LiveServer, topic: str) -> None:
    limited, viewer = await server.a_session("jo", "Web"), await server.a_session("vi", "Viewer")
    await server.add(an_application("moves", project_id="shop", labels=WEB))
    async with server.stream(limited, topic) as stream, server.stream(viewer, "applications") as other:
        await relabel(server, "moves", team="pay")
        await relabel(server, "moves", team="pay", tier="1")

        assert (await past_what_was_seen_before(stream)).name == "reset"
        assert {(await other.next()).name} == {"application"}


async def test_one_thing_whose_labels_move_out_of_sight_ends_its_stream(server: LiveServer) -> None:
    cookie = await server.a_session("jo", "Web")
    await server.add(an_application("moves", project_id="shop", labels=WEB))
    async with server.stream(cookie, "application:moves") as stream:
        await relabel(server, "moves", team="pay")

        farewell = await past_what_was_seen_before(stream)

    assert (farewell.name, "may not read applications" in farewell.data["reason"]) == ("goodbye", True)


async def test_a_session_that_is_ended_at_one_replica_is_refused_at_the_other(
    postgres_server: str, tmp_path: Path
) -> None:
    url = a_database(postgres_server)
    async with a_live_server(url, tmp_path) as one, a_live_server(url, tmp_path) as other:
        await one.add(a_project())
        cookie = {"cookie": await one.a_session("jo", "Viewer")}
        before = await other.client.get("/api/v1/session", headers=cookie)

        await one.store.write(end_the_session)
        # Both clocks stand still, so that nothing is forgotten for its age.
        async with asyncio.timeout(PATIENCE_SECONDS):
            while (after := await other.client.get("/api/v1/session", headers=cookie)).status_code == 200:
                continue

    assert (before.status_code, after.status_code) == (200, 401)


async def relabel(server: LiveServer, id: str, **labels: str) -> None:
    await server.store.write(
        lambda connection: applications.update_application(
            connection, id, lambda found: msgspec.structs.replace(found, labels=labels)
        )
    )
