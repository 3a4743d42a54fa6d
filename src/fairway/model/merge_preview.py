"""What merging a branch would deploy, in words: as people and programs read it, whichever agent said it."""

import msgspec

from fairway.model.trigger import SyncStrategy


class TargetChange(msgspec.Struct, frozen=True, kw_only=True):
    """What one plugin would change in one deploy target."""

    plugin: str
    deploy_target: str = ""
    summary: str = ""
    #: The change itself, such as a diff.
    details: str = ""
    #: How to colour the details.
    language: str = "diff"


class ApplicationChange(msgspec.Struct, frozen=True, kw_only=True):
    """What would be deployed of one application."""

    application_id: str
    application_name: str
    directory: str
    labels: dict[str, str] = {}
    #: Its web page; empty where there is none.
    url: str = ""
    sync_strategy: SyncStrategy = SyncStrategy.AUTO
    #: The plan and its stages.
    summary: str = ""
    #: Whether the platform would stay as it is.
    no_change: bool = False
    targets: tuple[TargetChange, ...] = ()
    #: Why there is no preview, or not all of it; empty when there is.
    error: str = ""


class MergePreview(msgspec.Struct, frozen=True, kw_only=True):
    """One agent's answer, or that it is still to come."""

    #: The command that asks the agent.
    id: str
    agent_id: str
    agent_name: str
    #: Whether there is anything more to wait for.
    ready: bool = False
    applications: tuple[ApplicationChange, ...] = ()
    #: Why there is no answer; empty when there is one.
    error: str = ""
