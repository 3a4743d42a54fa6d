"""What the parameters of queries may be, for the document.

They are read by `query`, whose refusals say more than Litestar's; so Litestar sees only texts and numbers, and the
document gets the rest from here.
"""

import enum
from typing import Any

from fairway.model.application import ApplicationKind, SyncStatus
from fairway.model.command import CommandStatus
from fairway.model.deployment import DeploymentStatus
from fairway.model.event import EventStatus
from fairway.model.live_state import Health
from fairway.server.http_api.audit import ExportFormat
from fairway.server.http_api.query import DEFAULT_LIMIT, MOST_BLOCKS, MOST_FILTERS, MOST_ITEMS, Direction

Schema = dict[str, Any]

_LOG = "/api/v1/deployments/{deployment_id}/stages/{stage_id}/log"


def _one_of(kind: type[enum.Enum]) -> Schema:
    return {"type": "string", "enum": [member.value for member in kind]}


def _one_or_none_of(kind: type[enum.Enum]) -> Schema:
    return {"type": "string", "enum": ["", *(member.value for member in kind)], "default": ""}


def _several(item: Schema) -> Schema:
    return {"type": "array", "items": item, "maxItems": MOST_FILTERS}


def _sorted_by(*columns: str) -> Schema:
    return {"type": "string", "enum": list(columns), "default": columns[0]}


#: Wherever a parameter of this name is.
_EVERYWHERE: dict[str, Schema] = {
    "limit": {"type": "integer", "minimum": 1, "maximum": MOST_ITEMS, "default": DEFAULT_LIMIT},
    "from_index": {"type": "integer", "minimum": 0, "maximum": 2**63 - 1, "default": 0},
    "label": _several({"type": "string", "pattern": "^[^:]+:"}),
    "kind": _several(_one_of(ApplicationKind)),
    "format": {**_one_of(ExportFormat), "default": ExportFormat.JSONL.value},
    "since": {"type": "string", "format": "date-time"},
    "until": {"type": "string", "format": "date-time"},
    "order": _one_or_none_of(Direction),
}
#: On one path.
_SOMEWHERE: dict[tuple[str, str], Schema] = {
    (_LOG, "limit"): {"type": "integer", "minimum": 1, "maximum": MOST_BLOCKS, "default": MOST_BLOCKS},
    ("/api/v1/applications", "sync_status"): _several(_one_of(SyncStatus)),
    ("/api/v1/applications", "health"): _several(_one_of(Health)),
    ("/api/v1/applications", "sort"): _sorted_by("updated_at", "name"),
    ("/api/v1/deployments", "sort"): _sorted_by("updated_at", "created_at"),
    ("/api/v1/deployments", "status"): _several(_one_of(DeploymentStatus)),
    ("/api/v1/deployments", "application_id"): _several({"type": "string"}),
    ("/api/v1/commands", "status"): _one_or_none_of(CommandStatus),
    ("/api/v1/events", "status"): _one_or_none_of(EventStatus),
}


def described(path: str, parameter: dict[str, Any]) -> dict[str, Any]:
    """The parameter of a path with all that may be said of it."""
    name = parameter["name"]
    known = _SOMEWHERE.get((path, name)) or _EVERYWHERE.get(name)
    return parameter if known is None or parameter["in"] != "query" else {**parameter, "schema": known}
