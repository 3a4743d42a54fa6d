"""What merging a branch would deploy: one agent's answer, for each application that the merge touches."""

from datetime import datetime

import msgspec

from fairway.model.application import ApplicationKind
from fairway.model.trigger import SyncStrategy


class PluginPlanPreview(msgspec.Struct, frozen=True, kw_only=True):
    """What one plugin would change in one of its targets."""

    plugin_name: str
    deploy_target: str = ""
    summary: bytes = b""
    details: bytes = b""
    #: How to colour the details.
    diff_language: str = "diff"


class ApplicationPlanPreview(msgspec.Struct, frozen=True, kw_only=True):
    """What would be deployed of one application."""

    application_id: str
    application_name: str
    application_directory: str
    agent_id: str
    project_id: str
    head_branch: str
    head_commit: str
    created_at: datetime
    application_url: str = ""
    #: v0 only.
    kind: ApplicationKind | None = None
    labels: dict[str, str] = {}
    sync_strategy: SyncStrategy = SyncStrategy.AUTO
    #: v0 only; v1 has one for each plugin.
    summary: bytes = b""
    #: v0 only; v1 has them for each plugin.
    details: bytes = b""
    no_change: bool = False
    #: v1 only.
    plugins: tuple[PluginPlanPreview, ...] = ()
    plugin_names: tuple[str, ...] = ()
    #: Why there is no preview; empty when there is one.
    error: str = ""


class PlanPreview(msgspec.Struct, frozen=True, kw_only=True):
    """One agent's answer to one `BuildPlanPreview`."""

    command_id: str
    agent_id: str
    agent_name: str = ""
    agent_url: str = ""
    applications: tuple[ApplicationPlanPreview, ...] = ()
    #: Why there is no answer; empty when there is one.
    error: str = ""
