"""People: added, changed, sent a link, signed out, taken away; never so that nobody is left who can do it.

Somebody's roles are theirs in every project, so whoever gives or takes them, or could come in as that person by a link,
must be allowed all that those roles allow: the administrator of one project cannot become that of all.
"""

from collections.abc import Iterable

import msgspec
from sqlalchemy import Connection

from fairway.config.problems import did_you_mean
from fairway.model.role import ADMIN, BUILT_IN_ROLES, Action, Resource, Role
from fairway.model.user import LOCAL, User
from fairway.server.actions.audit import differences, record
from fairway.server.actions.desk import ActionDesk
from fairway.server.callers import Caller
from fairway.server.permissions import permit, permit_giving_to_people
from fairway.server.sign_in.grants import roles_of
from fairway.server.sign_in.links import NewLink, new_link
from fairway.server.sign_in.names import refuse_bad_local_name
from fairway.server.status_codes import InvalidRequest, NotNow
from fairway.server.store import users
from fairway.server.store.roles import find_role, list_roles
from fairway.server.store.sessions import delete_sessions_of
from fairway.server.store.settings import load_people_settings
from fairway.server.store.sign_in_links import delete_links_of, insert_link

_LONGEST_DISPLAY_NAME = 200


class UserToAdd(msgspec.Struct, frozen=True, kw_only=True):
    """A person who is to be added."""

    id: str
    display_name: str = ""
    roles: tuple[str, ...] = ()


class UserChange(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be changed of a person; None leaves it as it is."""

    display_name: str | None = None
    roles: tuple[str, ...] | None = None
    disabled: bool | None = None


class AddedUser(msgspec.Struct, frozen=True):
    """A person who was just added, and the link to set a password with."""

    user: User
    link: NewLink


async def list_users(desk: ActionDesk, caller: Caller, after: str, limit: int) -> tuple[User, ...]:
    """Some people, by name."""
    permit(caller, Resource.USER, Action.READ, caller.project_id)
    return await desk.store.read(lambda connection: users.page_of_users(connection, after, limit))


async def get_user(desk: ActionDesk, caller: Caller, user_id: str) -> User:
    """One person."""
    permit(caller, Resource.USER, Action.READ, caller.project_id)
    return await desk.store.read(lambda connection: users.load_user(connection, user_id))


async def add_user(desk: ActionDesk, caller: Caller, asked: UserToAdd) -> AddedUser:
    """A new local person, who sets a password by the link."""
    permit(caller, Resource.USER, Action.CREATE, caller.project_id)
    refuse_bad_local_name(asked.id)
    now = desk.clock.now()
    user = User(
        id=asked.id,
        created_at=now,
        updated_at=now,
        display_name=_checked_display_name(asked.display_name),
        roles=tuple(dict.fromkeys(asked.roles)),
    )
    link = new_link(user.id, now)

    def add(connection: Connection) -> None:
        for role in known_roles(connection, user.roles):
            permit_giving_to_people(caller, role)
        users.insert_user(connection, user)
        insert_link(connection, link.link)
        _record(connection, desk, caller, "user.create", None, user)

    await desk.store.write(add)
    return AddedUser(user, link)


async def change_user(desk: ActionDesk, caller: Caller, user_id: str, asked: UserChange) -> User:
    """The person as they are now. Whoever is disabled is signed out everywhere, and their links are worth nothing."""
    permit(caller, Resource.USER, Action.UPDATE, caller.project_id)

    def change(connection: Connection) -> User:
        before = _reachable(connection, caller, user_id)
        after = _changed(before, asked, desk)
        if after is before:
            return before
        for role in known_roles(connection, set(after.roles) - set(before.roles)):
            permit_giving_to_people(caller, role)
        users.update_user(connection, user_id, lambda _: after)
        _refuse_no_administrator(connection, before)
        if after.disabled:
            delete_sessions_of(connection, user_id)
            delete_links_of(connection, user_id)
        _record(connection, desk, caller, "user.update", before, after)
        return after

    return await desk.store.write(change)


async def delete_user(desk: ActionDesk, caller: Caller, user_id: str) -> None:
    """Take a person away, with their sessions and links. What they did stays on record."""
    permit(caller, Resource.USER, Action.DELETE, caller.project_id)

    def delete(connection: Connection) -> None:
        before = _reachable(connection, caller, user_id)
        users.delete_user(connection, user_id)
        _refuse_no_administrator(connection, before)
        delete_sessions_of(connection, user_id)
        delete_links_of(connection, user_id)
        _record(connection, desk, caller, "user.delete", before, None)

    await desk.store.write(delete)


async def make_link(desk: ActionDesk, caller: Caller, user_id: str) -> NewLink:
    """A link with which a local person sets a new password; links made before are worth nothing any more."""
    permit(caller, Resource.USER, Action.UPDATE, caller.project_id)
    now = desk.clock.now()
    link = new_link(user_id, now)

    def make(connection: Connection) -> None:
        user = _reachable(connection, caller, user_id)
        if user.provider != LOCAL:
            raise NotNow(f"{user_id} signs in with {user.provider} and has no password here; set it there")
        if user.disabled:
            raise NotNow(f"{user_id} is disabled; enable them first")
        delete_links_of(connection, user_id)
        insert_link(connection, link.link)
        record(
            connection,
            caller,
            now,
            action="user.link",
            subject_id=user_id,
            after={"expires_at": link.link.expires_at},
            whole_server=True,
        )

    await desk.store.write(make)
    return link


async def sign_out_user(desk: ActionDesk, caller: Caller, user_id: str) -> None:
    """End all sessions of a person at once."""
    if caller.name != user_id:
        permit(caller, Resource.USER, Action.UPDATE, caller.project_id)

    def sign_out(connection: Connection) -> None:
        users.load_user(connection, user_id)
        ended = delete_sessions_of(connection, user_id)
        record(
            connection,
            caller,
            desk.clock.now(),
            action="user.sign_out",
            subject_id=user_id,
            after={"sessions_ended": ended},
            whole_server=True,
        )

    await desk.store.write(sign_out)


def known_roles(connection: Connection, names: Iterable[str]) -> tuple[Role, ...]:
    """The roles of these names; InvalidRequest for a name that no role has."""
    found = []
    for name in sorted(names):
        role = BUILT_IN_ROLES.get(name) or find_role(connection, name)
        if role is None:
            known = [*BUILT_IN_ROLES, *(role.name for role in list_roles(connection))]
            raise InvalidRequest(
                f"there is no role {name!r}; expected one of {', '.join(known)}{did_you_mean(name, known)}"
            )
        found.append(role)
    return tuple(found)


def _reachable(connection: Connection, caller: Caller, user_id: str) -> User:
    """The person, whom nobody else changes now; Forbidden when they may do something that the caller may not."""
    # All are locked, since the last administrator is a question about all of them.
    everybody = {user.id: user for user in users.lock_users(connection)}
    user = everybody.get(user_id) or users.load_user(connection, user_id)
    for role in roles_of(user, load_people_settings(connection), lambda name: find_role(connection, name)):
        permit_giving_to_people(caller, role)
    return user


def _changed(user: User, asked: UserChange, desk: ActionDesk) -> User:
    display_name = user.display_name if asked.display_name is None else _checked_display_name(asked.display_name)
    roles = user.roles if asked.roles is None else tuple(dict.fromkeys(asked.roles))
    disabled = user.disabled if asked.disabled is None else asked.disabled
    if (display_name, roles, disabled) == (user.display_name, user.roles, user.disabled):
        return user
    return msgspec.structs.replace(
        user, display_name=display_name, roles=roles, disabled=disabled, updated_at=desk.clock.now()
    )


def _refuse_no_administrator(connection: Connection, before: User) -> None:
    """Raise NotNow when the person was the last who was given the role Admin; the transaction is then undone."""
    if _administers(before) and not any(_administers(user) for user in users.list_users(connection)):
        raise NotNow(f"this is the last enabled person with the role {ADMIN.name}; give it to somebody else first")


def _administers(user: User) -> bool:
    return ADMIN.name in user.roles and not user.disabled


def _checked_display_name(name: str) -> str:
    if len(name) > _LONGEST_DISPLAY_NAME or not (name.isprintable() or not name):
        raise InvalidRequest(
            f"display_name is {name[:40]!r}, of {len(name)} characters; "
            f"expected at most {_LONGEST_DISPLAY_NAME}, all printable"
        )
    return name


def _record(
    connection: Connection, desk: ActionDesk, caller: Caller, action: str, before: User | None, after: User | None
) -> None:
    old, new = differences(before, after)
    user = after or before
    record(
        connection,
        caller,
        desk.clock.now(),
        action=action,
        subject_id=user.id if user else "",
        before=old,
        after=new,
        whole_server=True,
    )
