"""The record that a change leaves: written in the transaction that makes the change, so neither is there alone.

A record shows the fields that changed, as they were and as they are. What only its owner may know (keys, passwords,
their hashes) is left out here, whoever hands it over.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import uuid4

import msgspec
from sqlalchemy import Connection

from fairway.model.audit import AuditRecord
from fairway.server.callers import Caller
from fairway.server.store.audit import insert_audit_record

#: Fields of our nouns that no record may show.
SECRET_FIELDS = frozenset({"hash", "key", "keys", "key_hash", "password", "password_hash", "secret", "token", "link"})
#: Fields that change with every change and say nothing about it.
_NOISE = frozenset({"created_at", "updated_at"})


def record(
    connection: Connection,
    caller: Caller,
    at: datetime,
    *,
    action: str,
    subject_id: str,
    subject_name: str = "",
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    whole_server: bool = False,
) -> None:
    """Write down one change; `whole_server` where it belongs to no project (users, roles, settings)."""
    made = AuditRecord(
        id=str(uuid4()),
        created_at=at,
        project_id="" if whole_server else caller.project_id,
        actor=caller.name,
        actor_kind=caller.kind.value,
        action=action,
        subject_id=subject_id,
        subject_name=subject_name,
        before=_showable(before or {}),
        after=_showable(after or {}),
        address=caller.address,
    )
    insert_audit_record(connection, made)


def differences(before: msgspec.Struct | None, after: msgspec.Struct | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """The fields in which two states of a noun differ, as `before` and `after` of a record; None is no noun at all."""
    old, new = _fields(before), _fields(after)
    changed = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    return {name: old[name] for name in changed if name in old}, {name: new[name] for name in changed if name in new}


def _fields(noun: msgspec.Struct | None) -> dict[str, Any]:
    """The fields of a noun that say something, as JSON has them."""
    fields: dict[str, Any] = {} if noun is None else msgspec.to_builtins(noun)
    return {name: value for name, value in fields.items() if name not in _NOISE and value not in (None, "", {}, [])}


def _showable(fields: Mapping[str, Any]) -> dict[str, Any]:
    shown: dict[str, Any] = msgspec.to_builtins(
        {name: value for name, value in fields.items() if name not in SECRET_FIELDS}
    )
    return shown
