"""A user's request that waits for an agent: what is asked, of whom, and what became of it.

Each sort of request is a type of its own, so that a cancel cannot be built without its deployment. Agents
fetch waiting commands, or are told of them, and answer each exactly once; answering again changes nothing.
"""

import enum
from datetime import datetime, timedelta

import msgspec

from fairway.model.trigger import SyncStrategy


class CommandStatus(enum.Enum):
    """What became of a command. All but waiting are terminal."""

    #: No agent has answered yet.
    WAITING = "waiting"
    #: The agent did it.
    SUCCEEDED = "succeeded"
    #: The agent refused or could not do it; the metadata say why.
    FAILED = "failed"
    #: No agent answered in time.
    TIMED_OUT = "timed_out"


class SyncApplication(msgspec.Struct, frozen=True, kw_only=True, tag="sync_application"):
    """Deploy the head of the branch now."""

    application_id: str
    sync_strategy: SyncStrategy = SyncStrategy.AUTO


class UpdateApplicationConfig(msgspec.Struct, frozen=True, kw_only=True, tag="update_application_config"):
    """Write an application's file. On the wire, but no agent acts on it."""

    application_id: str
    config_path: str
    config: str


class CancelDeployment(msgspec.Struct, frozen=True, kw_only=True, tag="cancel_deployment"):
    """Give a deployment up."""

    deployment_id: str
    #: Roll back even where the application turned it off.
    force_rollback: bool = False
    #: Do not roll back even where the application wants it.
    force_no_rollback: bool = False


class ApproveStage(msgspec.Struct, frozen=True, kw_only=True, tag="approve_stage"):
    """Say yes to a stage that waits for it."""

    deployment_id: str
    stage_id: str


class BuildPlanPreview(msgspec.Struct, frozen=True, kw_only=True, tag="build_plan_preview"):
    """Tell what merging one branch into another would deploy."""

    repository_id: str
    head_branch: str
    head_commit: str
    base_branch: str
    #: `None` leaves it to the agent.
    timeout: timedelta | None = None


class ChainSyncApplication(msgspec.Struct, frozen=True, kw_only=True, tag="chain_sync_application"):
    """Deploy the head of the branch as part of a chain."""

    application_id: str
    chain_id: str
    block_index: int
    sync_strategy: SyncStrategy = SyncStrategy.AUTO


class SkipStage(msgspec.Struct, frozen=True, kw_only=True, tag="skip_stage"):
    """Go on without the rest of a running stage."""

    deployment_id: str
    stage_id: str


class RestartAgent(msgspec.Struct, frozen=True, kw_only=True, tag="restart_agent"):
    """End the agent's process, so that whatever started it starts it again."""

    agent_id: str


Payload = (
    SyncApplication
    | UpdateApplicationConfig
    | CancelDeployment
    | ApproveStage
    | BuildPlanPreview
    | ChainSyncApplication
    | SkipStage
    | RestartAgent
)


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """One request to one agent."""

    id: str
    agent_id: str
    project_id: str
    payload: Payload
    created_at: datetime
    updated_at: datetime
    #: Who asked.
    commander: str = ""
    #: What the request is about, for finding it; empty where it does not apply.
    application_id: str = ""
    deployment_id: str = ""
    stage_id: str = ""
    status: CommandStatus = CommandStatus.WAITING
    #: The agent's answer, such as the id of the deployment that was started.
    metadata: dict[str, str] = {}
    handled_at: datetime | None = None
