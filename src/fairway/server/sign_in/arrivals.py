"""Somebody has shown who they are: a session begins, and that they came is written down.

Every way in ends here, so that they all leave the same record, and so that each begins a session under a new name:
whatever a browser held before is worth nothing afterwards.
"""

from datetime import datetime, timedelta

import msgspec
from sqlalchemy import Connection

from fairway.model.user import User
from fairway.server.actions.audit import record
from fairway.server.callers import Caller, CallerKind
from fairway.server.sign_in.sessions import NewSession, Sessions
from fairway.server.store.sessions import insert_session
from fairway.server.store.settings import load_people_settings
from fairway.server.store.users import update_user


class Arrival(msgspec.Struct, frozen=True, kw_only=True):
    """How somebody comes in."""

    at: datetime
    #: The network address they come from.
    address: str
    #: Hours that the session lasts; 0 for what the settings say.
    hours: int = 0


def begin_session(connection: Connection, sessions: Sessions, user: User, arrival: Arrival) -> NewSession:
    """A session for this person, stored and recorded."""
    hours = arrival.hours or load_people_settings(connection).session_hours
    new = sessions.new(user.id, timedelta(hours=hours), arrival.address)
    update_user(connection, user.id, lambda found: msgspec.structs.replace(found, last_sign_in_at=arrival.at))
    insert_session(connection, new.session)
    said = {"provider": user.provider, "ends_at": new.session.ends_at}
    record_arrival(connection, user.id, arrival, "session.create", said)
    return new


def record_arrival(
    connection: Connection, user_id: str, arrival: Arrival, action: str, after: dict[str, object]
) -> None:
    """Write down what somebody did who is not signed in yet."""
    caller = Caller(kind=CallerKind.USER, name=user_id, project_id="", address=arrival.address)
    record(connection, caller, arrival.at, action=action, subject_id=user_id, after=after, whole_server=True)
