"""Deployments, and the plan that agents report for one: wire ⇄ model.

The wire's kind cannot be left out, so the generation shows elsewhere: a deployment of the newer one has
deploy targets or the newer form of metadata, and no kind here. An agent of ours deploys applications of
both through plugins, whose notes are in that form, so one of the older generation has it too, with a note
that says so; PipeCD's older agents do not look at it. PipeCD's server writes into that metadata without
looking whether it is set; it therefore always is, even when it is empty.
"""

from collections.abc import Mapping

from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.plan import Plan
from fairway.rpc.convert.application import (
    KINDS,
    from_wire_deploy_targets,
    from_wire_git_path,
    to_wire_deploy_targets,
    to_wire_git_path,
    to_wire_kind,
)
from fairway.rpc.convert.stage import from_wire_stage, to_wire_stage
from fairway.rpc.convert.trigger import (
    SYNC_STRATEGIES,
    from_wire_trigger,
    from_wire_versions,
    to_wire_trigger,
    to_wire_versions,
)
from fairway.rpc.convert.wire_enum import WireEnum
from fairway.rpc.convert.wire_time import from_wire_time, from_wire_time_or_none, to_wire_time
from fairway.rpc.gen.pipecd.model import deployment_pb2
from fairway.rpc.gen.pipecd.service import pipedservice_pb2

#: Among what all plugins may read: the kind of a deployment that has one.
_KIND = "fairway/kind"
DEPLOYMENT_STATUSES = WireEnum(
    "deployment status",
    {
        DeploymentStatus.PENDING: deployment_pb2.DEPLOYMENT_PENDING,
        DeploymentStatus.PLANNED: deployment_pb2.DEPLOYMENT_PLANNED,
        DeploymentStatus.RUNNING: deployment_pb2.DEPLOYMENT_RUNNING,
        DeploymentStatus.ROLLING_BACK: deployment_pb2.DEPLOYMENT_ROLLING_BACK,
        DeploymentStatus.SUCCEEDED: deployment_pb2.DEPLOYMENT_SUCCESS,
        DeploymentStatus.FAILED: deployment_pb2.DEPLOYMENT_FAILURE,
        DeploymentStatus.CANCELLED: deployment_pb2.DEPLOYMENT_CANCELLED,
    },
)


def to_wire_deployment(deployment: Deployment) -> deployment_pb2.Deployment:
    return deployment_pb2.Deployment(
        id=deployment.id,
        application_id=deployment.application_id,
        application_name=deployment.application_name,
        piped_id=deployment.agent_id,
        project_id=deployment.project_id,
        kind=to_wire_kind(deployment.kind),
        git_path=to_wire_git_path(deployment.git_path),
        platform_provider=deployment.platform_provider,
        deploy_targets_by_plugin=to_wire_deploy_targets(deployment.deploy_targets_by_plugin),
        labels=deployment.labels,
        trigger=to_wire_trigger(deployment.trigger),
        summary=deployment.summary,
        versions=to_wire_versions(deployment.versions),
        running_commit_hash=deployment.running_commit_hash,
        running_config_filename=deployment.running_config_filename,
        status=DEPLOYMENT_STATUSES.to_wire(deployment.status),
        status_reason=deployment.status_reason,
        stages=[to_wire_stage(stage) for stage in deployment.stages],
        metadata=deployment.metadata,
        metadata_v2=_to_wire_metadata(deployment),
        deployment_chain_id=deployment.chain_id,
        deployment_chain_block_index=deployment.chain_block_index,
        deployment_trace_commit_hash=deployment.trace_commit_hash,
        completed_at=to_wire_time(deployment.completed_at),
        created_at=to_wire_time(deployment.created_at),
        updated_at=to_wire_time(deployment.updated_at),
    )


def from_wire_deployment(wire: deployment_pb2.Deployment) -> Deployment:
    shared = dict(wire.metadata_v2.shared.keyValues)
    has_kind = shared.pop(_KIND, None) is not None or not wire.HasField("metadata_v2")
    newer = bool(wire.deploy_targets_by_plugin) or not has_kind
    return Deployment(
        id=wire.id,
        application_id=wire.application_id,
        application_name=wire.application_name,
        agent_id=wire.piped_id,
        project_id=wire.project_id,
        kind=None if newer else KINDS.from_wire(wire.kind),
        git_path=from_wire_git_path(wire.git_path),
        platform_provider=wire.platform_provider,
        deploy_targets_by_plugin=from_wire_deploy_targets(wire.deploy_targets_by_plugin),
        labels=dict(wire.labels),
        trigger=from_wire_trigger(wire.trigger),
        summary=wire.summary,
        versions=from_wire_versions(wire.versions),
        running_commit_hash=wire.running_commit_hash,
        running_config_filename=wire.running_config_filename,
        status=DEPLOYMENT_STATUSES.from_wire(wire.status),
        status_reason=wire.status_reason,
        stages=tuple(from_wire_stage(stage) for stage in wire.stages),
        metadata=dict(wire.metadata),
        shared_metadata=shared,
        plugin_metadata={name: dict(kept.keyValues) for name, kept in wire.metadata_v2.plugins.items()},
        chain_id=wire.deployment_chain_id,
        chain_block_index=wire.deployment_chain_block_index,
        trace_commit_hash=wire.deployment_trace_commit_hash,
        completed_at=from_wire_time_or_none(wire.completed_at),
        created_at=from_wire_time(wire.created_at),
        updated_at=from_wire_time(wire.updated_at),
    )


def to_wire_planned(deployment: Deployment, plan: Plan) -> pipedservice_pb2.ReportDeploymentPlannedRequest:
    """The report that this deployment now has this plan."""
    return pipedservice_pb2.ReportDeploymentPlannedRequest(
        deployment_id=deployment.id,
        summary=plan.summary,
        status_reason=plan.reason,
        running_commit_hash=plan.running_commit_hash,
        running_config_filename=plan.running_config_filename,
        sync_strategy=SYNC_STRATEGIES.to_wire(plan.sync_strategy),
        versions=to_wire_versions(plan.versions),
        stages=[to_wire_stage(stage) for stage in plan.stages],
        deployment_chain_id=deployment.chain_id,
        deployment_chain_block_index=deployment.chain_block_index,
    )


def from_wire_planned(wire: pipedservice_pb2.ReportDeploymentPlannedRequest) -> Plan:
    """The plan in such a report; which deployment it is for, the server reads from the request."""
    return Plan(
        summary=wire.summary,
        reason=wire.status_reason,
        running_commit_hash=wire.running_commit_hash,
        running_config_filename=wire.running_config_filename,
        sync_strategy=SYNC_STRATEGIES.from_wire(wire.sync_strategy),
        versions=from_wire_versions(wire.versions),
        stages=tuple(from_wire_stage(stage) for stage in wire.stages),
    )


def _to_wire_metadata(deployment: Deployment) -> deployment_pb2.DeploymentMetadata:
    kind = {} if deployment.kind is None else {_KIND: deployment.kind.value}
    return deployment_pb2.DeploymentMetadata(
        shared=_key_values({**deployment.shared_metadata, **kind}),
        plugins={plugin: _key_values(kept) for plugin, kept in deployment.plugin_metadata.items()},
    )


def _key_values(metadata: Mapping[str, str]) -> deployment_pb2.DeploymentMetadata.KeyValues:
    return deployment_pb2.DeploymentMetadata.KeyValues(keyValues=metadata)
