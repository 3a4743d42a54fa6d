"""A session is believed while it lasts and the person may have it, and not a moment longer."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection

from fairway.clock import FakeClock
from fairway.model.role import EDITOR, VIEWER, Role
from fairway.model.user import User
from fairway.server.sign_in.sessions import IDLE, TRUSTED_FOR, NewSession, Sessions
from fairway.server.sign_in.signing import Purpose, Signer
from fairway.server.status_codes import BadCredentials
from fairway.server.store import sessions as stored
from fairway.server.store import users
from fairway.server.store.changes import Change, ChangeKind, Listener
from fairway.server.store.roles import save_role
from fairway.server.store.settings import PeopleSettings, save_people_settings
from fairway.server.store.store import Store
from tests.integration.server.sign_in.people import a_user
from tests.unit.model.builders import NOW

WEEK = timedelta(days=7)


class Place(msgspec.Struct, frozen=True):
    """Sessions over a store with one person in it."""

    store: Store
    clock: FakeClock
    sessions: Sessions
    new: NewSession

    async def change(self, **fields: object) -> None:
        def write(connection: Connection) -> User:
            return users.update_user(connection, "jo", lambda user: msgspec.structs.replace(user, **fields))

        await self.store.write(write)

    async def is_known(self) -> bool:
        return await _knows(self.sessions, self.new.cookie)


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    store, clock = await Store.open(f"sqlite:///{tmp_path}/fairway.db"), FakeClock(NOW)
    sessions = Sessions(store, clock, await Signer.open(store))
    new = sessions.new("jo", WEEK, "192.0.2.1")
    await store.write(lambda connection: users.insert_user(connection, a_user(roles=("Editor",))))
    await store.write(lambda connection: stored.insert_session(connection, new.session))
    yield Place(store, clock, sessions, new)
    await store.close()


async def test_the_holder_of_a_cookie_is_known_with_their_roles(place: Place) -> None:
    person = await place.sessions.identify(place.new.cookie)

    assert (person.user, person.roles, person.session) == (a_user(roles=("Editor",)), (EDITOR,), place.new.session)


async def test_the_store_does_not_hold_what_the_browser_holds(place: Place, tmp_path: Path) -> None:
    name = place.new.cookie.partition(".")[0].encode()

    kept = await asyncio.to_thread(lambda: b"".join(file.read_bytes() for file in tmp_path.iterdir()))

    assert place.new.session.id.encode() in kept
    assert name not in kept
    assert place.new.cookie not in repr(place.new)


async def test_every_session_has_a_name_of_its_own(place: Place) -> None:
    assert len({place.sessions.new("jo", WEEK, "").cookie for _ in range(100)}) == 100


async def test_an_unused_session_ends_after_a_day(place: Place) -> None:
    place.clock.advance(IDLE)

    assert not await place.is_known()


async def test_a_used_session_ends_at_the_moment_that_was_set(place: Place) -> None:
    known = []
    for _ in range(8 * 24):
        place.clock.advance(timedelta(hours=1))
        known.append(await place.is_known())

    assert known == [True] * (7 * 24 - 1) + [False] * (24 + 1)


async def test_a_session_ends_on_time_even_while_it_is_remembered(place: Place) -> None:
    place.clock.advance(IDLE - timedelta(seconds=1) - timedelta(minutes=5))
    short = place.sessions.new("jo", timedelta(seconds=2), "")
    await place.store.write(lambda connection: stored.insert_session(connection, short.session))
    await place.sessions.identify(short.cookie)

    place.clock.advance(timedelta(seconds=2))

    with pytest.raises(BadCredentials, match="sign in again"):
        await place.sessions.identify(short.cookie)


async def test_a_new_role_counts_at_once(place: Place) -> None:
    await place.sessions.identify(place.new.cookie)

    await place.change(roles=("Viewer",))

    assert (await place.sessions.identify(place.new.cookie)).roles == (VIEWER,)


async def test_a_change_on_another_replica_counts_within_seconds_and_at_once_when_told(place: Place) -> None:
    signer = await Signer.open(place.store)
    deaf, told = (Sessions(_Deaf(place.store), place.clock, signer) for _ in range(2))
    for replica in (deaf, told):
        await replica.identify(place.new.cookie)
    await place.change(disabled=True)

    told.heard([Change(ChangeKind.USERS, "jo", "")])
    known = [await _knows(replica, place.new.cookie) for replica in (deaf, told)]
    place.clock.advance(TRUSTED_FOR)

    assert (known, await _knows(deaf, place.new.cookie)) == ([True, False], False)


async def test_what_groups_and_roles_mean_counts_at_once(place: Place) -> None:
    looker = Role(name="looker", permissions=())
    await place.change(roles=("looker",))
    before = await place.sessions.identify(place.new.cookie)

    await place.store.write(lambda connection: save_role(connection, looker))
    made = await place.sessions.identify(place.new.cookie)
    await place.change(provider="dex", roles=(), groups=("dev",))
    await place.sessions.identify(place.new.cookie)
    mapped = PeopleSettings(group_roles={"dev": ("Viewer",)})
    await place.store.write(lambda connection: save_people_settings(connection, mapped))

    assert (before.roles, made.roles) == ((), (looker,))
    assert (await place.sessions.identify(place.new.cookie)).roles == (VIEWER,)


async def test_an_ended_session_is_ended_at_once(place: Place) -> None:
    await place.sessions.identify(place.new.cookie)

    await place.sessions.end(place.new.cookie)

    assert not await place.is_known()


async def test_a_disabled_or_deleted_person_is_not_known(place: Place) -> None:
    await place.change(disabled=True)
    disabled = await place.is_known()
    await place.store.write(lambda connection: users.delete_user(connection, "jo"))

    assert (disabled, await place.is_known()) == (False, False)


async def test_the_token_of_one_session_is_worth_nothing_in_another(place: Place) -> None:
    person = await place.sessions.identify(place.new.cookie)
    other = place.sessions.new("jo", WEEK, "")

    assert place.sessions.is_csrf_token(person, place.new.csrf_token)
    assert place.sessions.is_csrf_token(person, person.csrf_token)
    for wrong in (other.csrf_token, "", place.new.cookie, place.new.session.id):
        assert not place.sessions.is_csrf_token(person, wrong)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 86), st.characters())
@example(0, "\ud800")
def test_a_cookie_that_was_changed_never_reaches_the_store(place_in_cookie: int, character: str) -> None:
    sessions = Sessions(_NeverAsked(), FakeClock(NOW), Signer(b"k" * 32))
    cookie = sessions.new("jo", WEEK, "").cookie
    changed = cookie[:place_in_cookie] + character + cookie[place_in_cookie + 1 :]

    if changed != cookie:
        with pytest.raises(BadCredentials):
            sessions.identify(changed).send(None)


class _NeverAsked(Store):
    """A store whose every use but listening is an error of another kind."""

    def __init__(self) -> None:
        pass

    def listen(self, listener: Listener) -> None:
        pass


class _Deaf(Store):
    """The store of another replica, which is not told of what happens here."""

    def __init__(self, store: Store) -> None:
        super().__init__(store._database)

    def listen(self, listener: Listener) -> None:
        pass


async def _knows(sessions: Sessions, cookie: str) -> bool:
    try:
        return bool(await sessions.identify(cookie))
    except BadCredentials:
        return False


def test_a_cookie_signed_for_something_else_is_none() -> None:
    signer = Signer(b"k" * 32)

    with pytest.raises(BadCredentials):
        Sessions(_NeverAsked(), FakeClock(NOW), signer).identify(signer.signed(Purpose.FORM, "name")).send(None)
