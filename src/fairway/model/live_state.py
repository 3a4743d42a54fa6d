"""What runs: the resources of one application as its platform shows them, in one shape for all platforms.

v0 agents report resources by platform, v1 agents in a general form. Here both are `Resource`:
`LiveState.kind` says which platform's form a v0 report had, and is `None` for v1. A field
that a form lacks keeps its default.
"""

import enum
from datetime import datetime

import msgspec

from fairway.model.application import ApplicationKind


class Health(enum.Enum):
    """How well a resource, or all of them together, are."""

    #: The platform does not say.
    UNKNOWN = "unknown"
    #: As it should be.
    HEALTHY = "healthy"
    #: Not as it should be, or on its way there (v0 does not tell the two apart).
    OTHER = "other"
    #: Not as it should be (v1).
    UNHEALTHY = "unhealthy"


class LiveStateVersion(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """When a snapshot was taken, and how many changes are in it since; the larger is the newer."""

    at: datetime
    index: int = 0


class Resource(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that the platform runs."""

    id: str
    name: str
    #: What it is in the platform's words: a Kubernetes kind, a v1 `resource_type`.
    type: str = ""
    parent_ids: tuple[str, ...] = ()
    #: v0 only.
    owner_ids: tuple[str, ...] = ()
    #: v0 Kubernetes and Cloud Run only.
    api_version: str = ""
    #: v0 Kubernetes and Cloud Run only.
    namespace: str = ""
    #: v1 only.
    metadata: dict[str, str] = {}
    health: Health = Health.UNKNOWN
    health_description: str = ""
    #: v1 only.
    deploy_target: str = ""
    #: v1 only.
    plugin_name: str = ""
    created_at: datetime | None = None
    updated_at: datetime | None = None


class LiveState(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that one application runs, at one moment."""

    application_id: str
    agent_id: str
    project_id: str
    version: LiveStateVersion
    #: v0: the platform whose form the report had. `None` for v1.
    kind: ApplicationKind | None = None
    #: Of the application as a whole.
    health: Health = Health.UNKNOWN
    #: v1 only: what the plugins say of the whole, where it differs from what the agent makes of it.
    plugin_health: Health = Health.UNKNOWN
    resources: tuple[Resource, ...] = ()


class ResourceChange(enum.Enum):
    """What happened to a resource since the snapshot."""

    #: It is new, or differs.
    ADDED_OR_UPDATED = "added_or_updated"
    #: It is gone.
    DELETED = "deleted"


class ResourceEvent(msgspec.Struct, frozen=True, kw_only=True):
    """One change since a snapshot, as v0 agents report them for Kubernetes."""

    id: str
    application_id: str
    change: ResourceChange
    resource: Resource
    snapshot_version: LiveStateVersion
    created_at: datetime
