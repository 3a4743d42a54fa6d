"""One change that somebody made: who, what, from where, and how it was before and after."""

from datetime import datetime
from typing import Any

import msgspec


class AuditRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One change, kept as it was. Secrets, keys and their hashes are never part of one."""

    id: str
    created_at: datetime
    #: The project it was made in; empty where it holds for the whole server (users, roles, settings).
    project_id: str
    #: The person's name or the API key's id.
    actor: str
    #: `user` or `api_key`; `server` for what it did by itself.
    actor_kind: str
    #: Resource and action: `application.sync`, `agent.update`, `user.create`, `session.create` …
    action: str
    subject_id: str
    #: As people know it; empty where it has no name.
    subject_name: str = ""
    #: The fields that changed, as they were; empty for something new.
    before: dict[str, Any] = {}
    #: The same fields as they are now; empty for something that is gone.
    after: dict[str, Any] = {}
    address: str = ""
