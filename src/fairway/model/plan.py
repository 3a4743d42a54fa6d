"""What a deployment is going to do: versions, strategy and ordered stages, before anything is done.

A plan is made by `delivery.plan`, reported once, and from then on part of its deployment.
"""

import msgspec

from fairway.model.artifact import ArtifactVersion
from fairway.model.stage import Stage
from fairway.model.trigger import SyncStrategy


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """Versions, strategy and ordered stages of one deployment."""

    #: v0 agents leave AUTO here even though their stages are settled.
    sync_strategy: SyncStrategy
    #: What will happen, in words.
    summary: str
    #: Why the deployment counts as planned, for its status.
    reason: str = ""
    stages: tuple[Stage, ...]
    versions: tuple[ArtifactVersion, ...] = ()
    #: The commit that runs now and that a rollback returns to; empty on a first deployment.
    running_commit_hash: str = ""
    running_config_filename: str = ""
