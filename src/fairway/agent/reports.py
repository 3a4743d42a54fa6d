"""What an agent tells the server, each as a value: which call, with what.

Made here from our nouns and sent by the `outbox`, now or when the server is back. A report says how something *is*, so
that sending it twice does no harm.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

import msgspec
from google.protobuf.message import Message

from fairway.model.application import DeploymentReference, SyncState
from fairway.model.chain import ApplicationMatcher
from fairway.model.command import CommandStatus
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.limits import REASON, SHOWN_TEXT, cut
from fairway.model.live_state import LiveState
from fairway.model.log_block import LogBlock
from fairway.model.plan import Plan
from fairway.model.stage import Stage
from fairway.rpc.agent_api import messages as m
from fairway.rpc.convert.application import to_wire_deployment_reference, to_wire_sync_state
from fairway.rpc.convert.chain import to_wire_matcher
from fairway.rpc.convert.command import COMMAND_STATUSES
from fairway.rpc.convert.deployment import DEPLOYMENT_STATUSES, to_wire_deployment, to_wire_planned
from fairway.rpc.convert.live_state import to_wire_live_state
from fairway.rpc.convert.log_block import to_wire_log_block
from fairway.rpc.convert.stage import STAGE_STATUSES
from fairway.rpc.convert.wire_time import to_wire_time


class Report(msgspec.Struct, frozen=True):
    """One call to the server."""

    #: Its name on the wire.
    method: str
    request: Message


def created(deployment: Deployment) -> Report:
    """A deployment was made."""
    return Report("CreateDeployment", m.CreateDeploymentRequest(deployment=to_wire_deployment(deployment)))


def chain_created(first: Deployment, followers: Iterable[ApplicationMatcher]) -> Report:
    """A deployment was made, and others follow it block by block."""
    request = m.CreateDeploymentChainRequest(
        first_deployment=to_wire_deployment(first), matchers=map(to_wire_matcher, followers)
    )
    return Report("CreateDeploymentChain", request)


def planned(deployment: Deployment, plan: Plan) -> Report:
    """It is settled what a deployment will do."""
    return Report("ReportDeploymentPlanned", to_wire_planned(deployment, plan))


def status_changed(deployment: Deployment) -> Report:
    """A deployment runs, or is being undone."""
    request = m.ReportDeploymentStatusChangedRequest(
        deployment_id=deployment.id,
        status=DEPLOYMENT_STATUSES.to_wire(deployment.status),
        status_reason=deployment.status_reason,
        deployment_chain_id=deployment.chain_id,
        deployment_chain_block_index=deployment.chain_block_index,
    )
    return Report("ReportDeploymentStatusChanged", request)


def completed(deployment: Deployment) -> Report:
    """A deployment has ended, and each of its stages with it."""
    request = m.ReportDeploymentCompletedRequest(
        deployment_id=deployment.id,
        status=DEPLOYMENT_STATUSES.to_wire(deployment.status),
        status_reason=deployment.status_reason,
        stage_statuses={stage.id: STAGE_STATUSES.to_wire(stage.status) for stage in deployment.stages},
        deployment_chain_id=deployment.chain_id,
        deployment_chain_block_index=deployment.chain_block_index,
        completed_at=to_wire_time(deployment.completed_at),
    )
    return Report("ReportDeploymentCompleted", request)


def stage_changed(deployment_id: str, stage: Stage) -> Report:
    """A stage started or ended."""
    request = m.ReportStageStatusChangedRequest(
        deployment_id=deployment_id,
        stage_id=stage.id,
        status=STAGE_STATUSES.to_wire(stage.status),
        status_reason=stage.status_reason,
        requires=stage.requires,
        visible=stage.visible,
        retried_count=stage.retried_count,
        # PipeCD's server wants a time here even for a stage that has only started.
        completed_at=to_wire_time(stage.completed_at or stage.updated_at),
    )
    return Report("ReportStageStatusChanged", request)


def stage_noted(deployment_id: str, stage_id: str, metadata: Mapping[str, str]) -> Report:
    """Notes of a stage."""
    request = m.SaveStageMetadataRequest(deployment_id=deployment_id, stage_id=stage_id, metadata=dict(metadata))
    return Report("SaveStageMetadata", request)


def plugin_noted(deployment_id: str, plugin: str, metadata: Mapping[str, str]) -> Report:
    """Notes of a plugin on a deployment."""
    request = m.SaveDeploymentPluginMetadataRequest(
        deployment_id=deployment_id, plugin_name=plugin, metadata=dict(metadata)
    )
    return Report("SaveDeploymentPluginMetadata", request)


def shared_noted(deployment_id: str, metadata: Mapping[str, str]) -> Report:
    """Notes on a deployment that every plugin may read."""
    request = m.SaveDeploymentSharedMetadataRequest(deployment_id=deployment_id, metadata=dict(metadata))
    return Report("SaveDeploymentSharedMetadata", request)


class LogPlace(msgspec.Struct, frozen=True):
    """Whose log it is."""

    deployment_id: str
    stage_id: str
    retried_count: int = 0


def logged(place: LogPlace, blocks: Iterable[LogBlock], completed: bool) -> Report:
    """More of a stage's log, and whether it was the last."""
    request = m.ReportStageLogsFromLastCheckpointRequest(
        deployment_id=place.deployment_id,
        stage_id=place.stage_id,
        retried_count=place.retried_count,
        blocks=map(to_wire_log_block, blocks),
        completed=completed,
    )
    return Report("ReportStageLogsFromLastCheckpoint", request)


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a command."""

    status: CommandStatus
    #: Such as the id of the deployment that was started, or why it was not.
    metadata: Mapping[str, str] = {}
    output: bytes = b""


def answered(command_id: str, answer: Answer, at: datetime) -> Report:
    """The answer to a command."""
    request = m.ReportCommandHandledRequest(
        command_id=command_id,
        status=COMMAND_STATUSES.to_wire(answer.status),
        metadata=dict(answer.metadata),
        handled_at=to_wire_time(at),
        output=answer.output,
    )
    return Report("ReportCommandHandled", request)


def deploying(application_id: str, deploying: bool) -> Report:
    """Whether a deployment of an application is under way."""
    request = m.ReportApplicationDeployingStatusRequest(application_id=application_id, deploying=deploying)
    return Report("ReportApplicationDeployingStatus", request)


def newest_deployment(application_id: str, status: DeploymentStatus, newest: DeploymentReference) -> Report:
    """The newest deployment of an application: that was triggered (pending), or that succeeded."""
    request = m.ReportApplicationMostRecentDeploymentRequest(
        application_id=application_id,
        status=DEPLOYMENT_STATUSES.to_wire(status),
        deployment=to_wire_deployment_reference(newest),
    )
    return Report("ReportApplicationMostRecentDeployment", request)


def sync_state(application_id: str, state: SyncState) -> Report:
    """Whether an application is as Git says; long reasons are cut."""
    brief = msgspec.structs.replace(
        state, short_reason=cut(state.short_reason, REASON), reason=cut(state.reason, SHOWN_TEXT)
    )
    request = m.ReportApplicationSyncStateRequest(application_id=application_id, state=to_wire_sync_state(brief))
    return Report("ReportApplicationSyncState", request)


def live_state(state: LiveState) -> Report:
    """What runs of an application."""
    request = m.ReportApplicationLiveStateRequest(snapshot=to_wire_live_state(state))
    return Report("ReportApplicationLiveState", request)
