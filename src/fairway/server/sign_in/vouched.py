"""Somebody for whom a provider vouches comes in: known by a name of their own, with the groups they have now.

Their name ends with the provider's, so it is never a local person's. Within a provider a name can pass to somebody
else; then the subject differs, and the newcomer is refused instead of being taken for the one who had it before.
"""

import msgspec
from sqlalchemy import Connection

from fairway.model.user import User
from fairway.server.sign_in.arrivals import Arrival, begin_session, record_arrival
from fairway.server.sign_in.desk import SignInDesk
from fairway.server.sign_in.grants import role_names
from fairway.server.sign_in.journeys import Vouched
from fairway.server.sign_in.names import vouched_name
from fairway.server.sign_in.sessions import NewSession
from fairway.server.status_codes import Forbidden
from fairway.server.store.settings import load_people_settings
from fairway.server.store.users import find_user, insert_user, update_user

_MOST_GROUPS = 2000
_LONGEST_TEXT = 300


async def welcome(desk: SignInDesk, vouched: Vouched, arrival: Arrival) -> NewSession:
    """A session for whoever a provider vouches for; Forbidden when they have no role here, or are not who they were."""
    return await desk.store.write(lambda connection: _welcome(connection, desk, vouched, arrival))


def _welcome(connection: Connection, desk: SignInDesk, vouched: Vouched, arrival: Arrival) -> NewSession:
    id = _name(vouched)
    found = find_user(connection, id)
    if found is not None and found.subject != vouched.subject:
        raise Forbidden(
            f"{id} was somebody else's name at {vouched.provider} before; an administrator has to delete the user {id} "
            "before it can be yours"
        )
    if found is not None and found.disabled:
        raise Forbidden(f"{id} is disabled here; ask an administrator")
    user = _described(found or _newcomer(id, vouched, arrival), vouched, arrival)
    if not role_names(user, load_people_settings(connection)):
        groups = ", ".join(user.groups[:20]) or "none"
        raise Forbidden(
            f"{vouched.provider} knows you as {id}, but none of your groups has a role here (groups: {groups}); "
            "ask an administrator to give one of them, or you, a role"
        )
    if found is None:
        insert_user(connection, user)
        record_arrival(connection, id, arrival, "user.create", {"provider": user.provider, "groups": user.groups})
    else:
        update_user(connection, id, lambda current: _described(current, vouched, arrival))
    return begin_session(connection, desk.sessions, user, arrival)


def _name(vouched: Vouched) -> str:
    names = (vouched_name(name, vouched.provider) for name in vouched.names)
    found = next((name for name in names if name is not None), None)
    if found is None:
        raise Forbidden(f"{vouched.provider} says no name for you that can be used here; ask an administrator")
    return found


def _newcomer(id: str, vouched: Vouched, arrival: Arrival) -> User:
    return User(id=id, created_at=arrival.at, updated_at=arrival.at, provider=vouched.provider, subject=vouched.subject)


def _described(user: User, vouched: Vouched, arrival: Arrival) -> User:
    display_name = vouched.display_name if vouched.display_name.isprintable() else ""
    groups = tuple(group for group in vouched.groups if len(group) <= _LONGEST_TEXT)[:_MOST_GROUPS]
    if (display_name[:_LONGEST_TEXT], groups) == (user.display_name, user.groups):
        return user
    return msgspec.structs.replace(
        user, display_name=display_name[:_LONGEST_TEXT], groups=groups, updated_at=arrival.at
    )
