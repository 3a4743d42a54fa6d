"""A key with which a program acts on a project. Only its hash is kept; the key itself is shown once."""

import enum
from datetime import datetime

import msgspec


class APIKeyRole(enum.Enum):
    """What the holder of a key may do."""

    #: Look.
    READ_ONLY = "read_only"
    #: Look, and act on applications, deployments, events and agents.
    READ_WRITE = "read_write"
    #: Everything, people and keys too.
    ADMIN = "admin"


class APIKey(msgspec.Struct, frozen=True, kw_only=True):
    """One key of one project."""

    id: str
    name: str
    key_hash: str
    project_id: str
    creator: str
    created_at: datetime
    updated_at: datetime
    role: APIKeyRole = APIKeyRole.READ_ONLY
    last_used_at: datetime | None = None
    disabled: bool = False
