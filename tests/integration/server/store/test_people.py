"""People, their roles, sessions, links and settings come back as they were stored, and go when their time has come."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import Connection

from fairway.model.role import Action, Permission, Resource, Role
from fairway.server.store import roles, sessions, sign_in_links, users
from fairway.server.store.errors import AlreadyExists, NotFound
from fairway.server.store.sessions import Session
from fairway.server.store.settings import (
    PeopleSettings,
    load_people_settings,
    load_signing_key,
    make_signing_key,
    save_people_settings,
)
from fairway.server.store.sign_in_links import SignInLink
from fairway.server.store.store import Store
from tests.integration.server.sign_in.people import a_user
from tests.unit.model.builders import NOW

HOUR = timedelta(hours=1)


def a_session(id: str, user_id: str = "jo", lasts: timedelta = HOUR) -> Session:
    return Session(id=id, user_id=user_id, created_at=NOW, ends_at=NOW + lasts, expires_at=NOW + lasts, address="::1")


def a_link(id: str, user_id: str = "jo", lasts: timedelta = HOUR) -> SignInLink:
    return SignInLink(id=id, user_id=user_id, created_at=NOW, expires_at=NOW + lasts)


async def test_a_person_comes_back_as_stored(store: Store) -> None:
    jo = a_user("jo", roles=("Editor",), groups=("cart/dev",), password_hash="$argon2id$…", last_sign_in_at=NOW)

    await store.write(lambda connection: users.insert_user(connection, jo))

    assert await store.read(lambda connection: users.load_user(connection, "jo")) == jo
    assert await store.read(lambda connection: users.find_user(connection, "Jo")) is None


async def test_a_name_is_given_once(store: Store) -> None:
    await store.write(lambda connection: users.insert_user(connection, a_user("jo")))

    with pytest.raises(AlreadyExists):
        await store.write(lambda connection: users.insert_user(connection, a_user("jo", display_name="another")))


async def test_people_are_listed_by_name_and_in_pages(store: Store) -> None:
    def insert(connection: Connection) -> None:
        for name in ("jo", "al", "mo"):
            users.insert_user(connection, a_user(name))

    await store.write(insert)

    listed = await store.read(users.list_users)
    following = await store.read(lambda connection: users.page_of_users(connection, "al", 1))

    assert [user.id for user in listed] == ["al", "jo", "mo"]
    assert [user.id for user in following] == ["jo"]


async def test_a_deleted_person_is_gone(store: Store) -> None:
    await store.write(lambda connection: users.insert_user(connection, a_user("jo")))

    await store.write(lambda connection: users.delete_user(connection, "jo"))

    assert not await store.read(users.any_user)
    with pytest.raises(NotFound, match="there is no user 'jo'"):
        await store.write(lambda connection: users.delete_user(connection, "jo"))


async def test_a_role_comes_back_as_stored_and_is_replaced(store: Store) -> None:
    looker = Role(name="looker", permissions=(Permission(resources=(Resource.EVENT,), labels={"team": "c*"}),))
    actor = Role(name="looker", permissions=(Permission(actions=(Action.SYNC,)),))

    await store.write(lambda connection: roles.save_role(connection, looker))
    first = await store.read(lambda connection: roles.load_role(connection, "looker"))
    await store.write(lambda connection: roles.save_role(connection, actor))

    assert first == looker
    assert await store.read(roles.list_roles) == (actor,)


async def test_a_deleted_role_is_gone(store: Store) -> None:
    await store.write(lambda connection: roles.save_role(connection, Role(name="looker", permissions=())))

    await store.write(lambda connection: roles.delete_role(connection, "looker"))

    assert await store.read(lambda connection: roles.find_role(connection, "looker")) is None
    with pytest.raises(NotFound):
        await store.write(lambda connection: roles.delete_role(connection, "looker"))


async def test_all_sessions_of_one_person_end_and_nobody_elses(store: Store) -> None:
    def insert(connection: Connection) -> None:
        for session in (a_session("s-1"), a_session("s-2"), a_session("s-3", user_id="al")):
            sessions.insert_session(connection, session)

    await store.write(insert)

    ended = await store.write(lambda connection: sessions.delete_sessions_of(connection, "jo"))

    assert ended == 2
    assert await store.read(lambda connection: sessions.find_session(connection, "s-1")) is None
    assert await store.read(lambda connection: sessions.find_session(connection, "s-3")) == a_session("s-3", "al")


async def test_sessions_and_links_that_have_ended_are_forgotten_a_batch_at_a_time(store: Store) -> None:
    def insert(connection: Connection) -> None:
        for number, lasts in enumerate((HOUR, HOUR, 3 * HOUR)):
            sessions.insert_session(connection, a_session(f"s-{number}", lasts=lasts))
            sign_in_links.insert_link(connection, a_link(f"l-{number}", lasts=lasts))

    def forget(connection: Connection) -> tuple[int, int]:
        now = NOW + HOUR
        return (
            sessions.delete_expired_sessions(connection, now, 1),
            sign_in_links.delete_expired_links(connection, now, 1),
        )

    await store.write(insert)

    gone = [await store.write(forget) for _ in range(3)]

    assert gone == [(1, 1), (1, 1), (0, 0)]
    assert await store.read(lambda connection: sessions.find_session(connection, "s-2")) is not None


async def test_of_many_who_use_a_link_at_once_one_does(store: Store) -> None:
    await store.write(lambda connection: sign_in_links.insert_link(connection, a_link("l-1")))

    used = await asyncio.gather(
        *(store.write(lambda connection: sign_in_links.delete_link(connection, "l-1")) for _ in range(8))
    )

    assert sorted(used) == [False] * 7 + [True]


async def test_settings_are_the_defaults_until_somebody_decides(store: Store) -> None:
    decided = PeopleSettings(group_roles={"cart/dev": ("Editor", "looker")}, allow_stray_as_viewer=True)

    before = await store.read(load_people_settings)
    await store.write(lambda connection: save_people_settings(connection, decided))

    assert before == PeopleSettings()
    assert await store.read(load_people_settings) == decided


async def test_replicas_that_need_the_signing_key_at_once_get_the_same(store: Store) -> None:
    missing = await store.read(load_signing_key)
    keys = await asyncio.gather(*(store.write(make_signing_key) for _ in range(8)))

    assert missing is None
    assert {len(key) for key in keys} == {32}
    assert set(keys) == {await store.read(load_signing_key)}
