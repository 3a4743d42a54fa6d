"""What holds for the whole server, a row for each sort: what administrators decide, and the key that signs sessions.

The key is made by whichever replica needs it first; all others find it here. Without it nobody's session is valid, with
it sessions could be forged only by somebody who also knows what a browser holds, because each session is looked up.
"""

import contextlib
import secrets

import msgspec
import sqlalchemy as sa

from fairway.server.store.errors import AlreadyExists, NotFound
from fairway.server.store.rows import Rows, upsert
from fairway.server.store.tables import SETTINGS

_PEOPLE = "people"
_SIGNING_KEY = "signing_key"
_KEY_BYTES = 32
_LOOK = "look"


class PeopleSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What administrators decide about people."""

    #: What somebody in a group of a sign-in provider may do: names of roles, by the name of the group.
    group_roles: dict[str, tuple[str, ...]] = {}
    #: Whether somebody whom a provider knows, but who is in none of these groups, may come in and look.
    allow_stray_as_viewer: bool = False
    #: After how many hours a session ends however much it is used.
    session_hours: int = 24 * 7


class _SigningKey(msgspec.Struct, frozen=True):
    key: bytes

    def __repr__(self) -> str:
        return "_SigningKey(…)"


_DECIDED = Rows(SETTINGS, PeopleSettings, "setting", lambda _: {"id": _PEOPLE})
_KEYS = Rows(SETTINGS, _SigningKey, "setting", lambda _: {"id": _SIGNING_KEY})


def load_people_settings(connection: sa.Connection) -> PeopleSettings:
    """What administrators decided; the defaults before they have."""
    try:
        return _DECIDED.load(connection, _PEOPLE)
    except NotFound:
        return PeopleSettings()


def save_people_settings(connection: sa.Connection, settings: PeopleSettings) -> None:
    """Store what administrators decided."""
    _DECIDED.save(connection, settings)


def load_signing_key(connection: sa.Connection) -> bytes | None:
    """The key that signs sessions; `None` before somebody needed it."""
    try:
        return _KEYS.load(connection, _SIGNING_KEY).key
    except NotFound:
        return None


def make_signing_key(connection: sa.Connection) -> bytes:
    """The key that signs sessions, made here unless another replica was quicker."""
    with contextlib.suppress(AlreadyExists):
        _KEYS.insert(connection, _SigningKey(secrets.token_bytes(_KEY_BYTES)))
    return _KEYS.load(connection, _SIGNING_KEY).key


def note_look(connection: sa.Connection) -> None:
    """Write something of no meaning, always to the same row: whether it can be written is what is asked."""
    row = {"id": _LOOK, "document": "{}"}
    connection.execute(upsert(connection, SETTINGS).values(row).on_conflict_do_update(index_elements=["id"], set_=row))
