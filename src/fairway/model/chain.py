"""Deployments of several applications, block by block: a block starts when the one before it succeeded.

Which applications make up a block is said by an `ApplicationMatcher`; whether a deployment of a block may be
planned yet is decided in `delivery.chain`.
"""

import enum
from datetime import datetime

import msgspec

from fairway.model.application import Application
from fairway.model.deployment import DeploymentStatus


class ChainStatus(enum.Enum):
    """Where a chain, or one block of it, stands."""

    #: Nothing in it has started.
    PENDING = "pending"
    #: A deployment in it has started and not all have ended.
    RUNNING = "running"
    #: All of its deployments succeeded.
    SUCCEEDED = "succeeded"
    #: One of its deployments failed; nothing after it starts.
    FAILED = "failed"
    #: One of its deployments was cancelled; nothing after it starts.
    CANCELLED = "cancelled"

    @property
    def is_terminal(self) -> bool:
        """Whether nothing can follow: succeeded, failed and cancelled."""
        return self in {ChainStatus.SUCCEEDED, ChainStatus.FAILED, ChainStatus.CANCELLED}


class ApplicationMatcher(msgspec.Struct, frozen=True, kw_only=True):
    """The applications of one block: those that fit everything that is given."""

    name: str = ""
    #: In any spelling of case; compared with the v0 kind and with the label `kind` that v1 has instead.
    kind: str = ""
    labels: dict[str, str] = {}

    def matches(self, application: Application) -> bool:
        """Whether the application is enabled and fits."""
        return (
            not application.disabled
            and application.deleted_at is None
            and self.name in {"", application.name}
            and (not self.kind or self.kind.lower() in _kinds(application))
            and self.labels.items() <= application.labels.items()
        )


class ChainDeployment(msgspec.Struct, frozen=True, kw_only=True):
    """How the deployment of one application in a chain stands."""

    deployment_id: str
    status: DeploymentStatus
    status_reason: str = ""


class ChainNode(msgspec.Struct, frozen=True, kw_only=True):
    """One application of a block."""

    application_id: str
    application_name: str = ""
    #: `None` until the application's agent has created it.
    deployment: ChainDeployment | None = None


class ChainBlock(msgspec.Struct, frozen=True, kw_only=True):
    """Applications that are deployed side by side."""

    nodes: tuple[ChainNode, ...]
    status: ChainStatus = ChainStatus.PENDING
    started_at: datetime | None = None
    completed_at: datetime | None = None


class DeploymentChain(msgspec.Struct, frozen=True, kw_only=True):
    """Blocks of deployments, in their order."""

    id: str
    project_id: str
    blocks: tuple[ChainBlock, ...]
    created_at: datetime
    updated_at: datetime
    status: ChainStatus = ChainStatus.PENDING
    completed_at: datetime | None = None


def _kinds(application: Application) -> set[str]:
    kinds = {application.labels.get("kind", "").lower()}
    return kinds | {application.kind.value} if application.kind else kinds
