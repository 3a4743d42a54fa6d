"""Signing in with a name and a password, and setting a password by a link.

An unknown name, a wrong password, a person who is disabled or belongs to a provider: the answer is the same for all of
them, and so is the work. What was typed as a name is written down only when it is somebody's name, because people type
passwords into the wrong field.
"""

import msgspec
from sqlalchemy import Connection

from fairway.model.user import User
from fairway.server.sign_in.arrivals import Arrival, begin_session, record_arrival
from fairway.server.sign_in.attempts import network_of
from fairway.server.sign_in.desk import SignInDesk
from fairway.server.sign_in.links import link_id
from fairway.server.sign_in.names import is_local_name
from fairway.server.sign_in.passwords import Checked, refuse_weak
from fairway.server.sign_in.sessions import NewSession
from fairway.server.status_codes import BadCredentials
from fairway.server.store.sessions import delete_sessions_of
from fairway.server.store.sign_in_links import delete_link, delete_links_of, find_link
from fairway.server.store.users import find_user, update_user


class Typed(msgspec.Struct, frozen=True):
    """What somebody typed to sign in."""

    username: str
    password: str

    def __repr__(self) -> str:
        return "Typed(…)"


async def sign_in(desk: SignInDesk, typed: Typed, address: str) -> NewSession:
    """A session for whoever typed their name and password right; BadCredentials or TooManyRequests otherwise."""
    name = typed.username.strip().lower()[:100]
    place = network_of(address)
    attempts = (desk.by_address.begin(place), desk.by_user.begin(name))
    asked = name if is_local_name(name) else ""
    user = await desk.store.read(lambda connection: find_user(connection, asked))
    checked = await desk.passwords.check(user.password_hash if user else "", typed.password)
    arrival = Arrival(at=desk.clock.now(), address=address)
    if user is None or user.disabled or not checked.right:
        if desk.by_address.is_worth_a_record(attempts[0]) or desk.by_user.is_worth_a_record(attempts[1]):
            await _record_failures(desk, user, arrival, max(attempts))
        raise BadCredentials(
            "the name or the password is wrong; check both, or ask an administrator for a link to set a new password"
        )
    new = await desk.store.write(lambda connection: _begin(connection, desk, user, checked, arrival))
    desk.by_address.take_back(place)
    desk.by_user.forgive(name)
    return new


async def owner_of_link(desk: SignInDesk, token: str) -> User:
    """Whose password the link sets; BadCredentials when it has been used, is too old or is none."""
    return await desk.store.read(lambda connection: _owner(connection, desk, token))


async def set_password(desk: SignInDesk, token: str, password: str, address: str) -> NewSession:
    """Use the link: the person has this password from now on, and this session alone."""
    place = network_of(address)
    desk.by_address.begin(place)
    owner = await owner_of_link(desk, token)
    desk.by_address.take_back(place)
    refuse_weak(password, owner.id)
    hashed = await desk.passwords.hashed(password)
    arrival = Arrival(at=desk.clock.now(), address=address)

    def use(connection: Connection) -> NewSession:
        user = _owner(connection, desk, token)
        # Of two who use a link at once, the row of the person lets one go first.
        changed = update_user(
            connection,
            user.id,
            lambda found: msgspec.structs.replace(found, password_hash=hashed, updated_at=arrival.at),
        )
        if not delete_link(connection, link_id(token)):
            raise _used_up()
        # The other links of the person go too, and whoever else was signed in as them.
        delete_links_of(connection, user.id)
        delete_sessions_of(connection, user.id)
        record_arrival(connection, user.id, arrival, "user.set_password", {})
        return begin_session(connection, desk.sessions, changed, arrival)

    new = await desk.store.write(use)
    desk.by_user.forgive(owner.id)
    return new


def _owner(connection: Connection, desk: SignInDesk, token: str) -> User:
    link = find_link(connection, link_id(token))
    user = None if link is None else find_user(connection, link.user_id)
    if link is None or user is None or user.disabled or desk.clock.now() >= link.expires_at:
        raise _used_up()
    return user


def _begin(connection: Connection, desk: SignInDesk, user: User, checked: Checked, arrival: Arrival) -> NewSession:
    def as_found(found: User) -> User:
        # Disabled, or given another password, while this one was being checked.
        if found.disabled or found.password_hash != user.password_hash:
            raise BadCredentials("the account was changed a moment ago; sign in again")
        return msgspec.structs.replace(found, password_hash=checked.rehashed) if checked.rehashed else found

    return begin_session(connection, desk.sessions, update_user(connection, user.id, as_found), arrival)


async def _record_failures(desk: SignInDesk, user: User | None, arrival: Arrival, failures: int) -> None:
    name = user.id if user else ""
    await desk.store.write(
        lambda connection: record_arrival(connection, name, arrival, "session.refuse", {"failures": failures})
    )


def _used_up() -> BadCredentials:
    return BadCredentials(
        "this link has been used, is older than a day, was replaced by a newer one, or was never one; ask an "
        "administrator for another (for the first administrator, start the server again and use the link that it "
        "prints)"
    )
