"""Every noun that crosses the wire, with the way there and back and what is left out on purpose.

The wire cannot tell a mixture of both generations apart, so each noun says how a value is made consistent
first.
"""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from google.protobuf.message import Message

from fairway.model.agent import Agent, AgentProfile
from fairway.model.application import Application, ApplicationKind, DiscoveredApplication
from fairway.model.chain import ApplicationMatcher
from fairway.model.command import Command
from fairway.model.deployment import Deployment
from fairway.model.event import Event
from fairway.model.live_state import Health, LiveState, Resource, ResourceEvent
from fairway.model.log_block import LogBlock
from fairway.model.plan import Plan
from fairway.model.plan_preview import ApplicationPlanPreview, PlanPreview
from fairway.model.stage import Stage
from fairway.rpc.convert import agent as agents
from fairway.rpc.convert import application as applications
from fairway.rpc.convert import chain as chains
from fairway.rpc.convert import command as commands
from fairway.rpc.convert import deployment as deployments
from fairway.rpc.convert import event as events
from fairway.rpc.convert import live_state as live_states
from fairway.rpc.convert import log_block as log_blocks
from fairway.rpc.convert import plan_preview as plan_previews
from fairway.rpc.convert.application import KINDS
from fairway.rpc.gen.pipecd.model import (
    application_live_state_pb2,
    application_pb2,
    command_pb2,
    common_pb2,
    deployment_pb2,
    event_pb2,
    logblock_pb2,
    piped_pb2,
    planpreview_pb2,
)
from fairway.rpc.gen.pipecd.service import pipedservice_pb2


class Noun(msgspec.Struct, frozen=True):
    """One noun of ours, its message, the way there and back, and what each side must agree on with itself."""

    struct: type[msgspec.Struct]
    message: type[Message]
    to_wire: Callable[[Any], Message]
    from_wire: Callable[[Any], msgspec.Struct]
    #: Makes a value of the model one of a single generation, since the wire cannot tell a mixture.
    consistent: Callable[[Any], Any] = lambda value: value
    #: The same for a message.
    consistent_wire: Callable[[Any], None] = lambda message: None
    #: Wire fields that the model leaves out on purpose.
    dropped: frozenset[str] = frozenset()


def one_generation_application(application: Application) -> Application:
    newer = bool(application.deploy_targets_by_plugin)
    return msgspec.structs.replace(application, kind=None if newer else application.kind or ApplicationKind.ECS)


def without_approvals(stages: tuple[Stage, ...]) -> tuple[Stage, ...]:
    """Approvals are counted by the server and have no place on PipeCD's wire."""
    return tuple(msgspec.structs.replace(stage, approvals=()) for stage in stages)


def unapproved_plan(plan: Plan) -> Plan:
    return msgspec.structs.replace(plan, stages=without_approvals(plan.stages))


def without_unusable_files(agent: Agent) -> Agent:
    """Unusable files have a report of their own and no place on PipeCD's wire."""
    return msgspec.structs.replace(agent, unusable_files=())


def one_generation_deployment(deployment: Deployment) -> Deployment:
    deployment = msgspec.structs.replace(deployment, stages=without_approvals(deployment.stages))
    if deployment.kind is None:
        return deployment
    return msgspec.structs.replace(deployment, deploy_targets_by_plugin={})


def one_generation_application_wire(wire: application_pb2.Application) -> None:
    if wire.deploy_targets_by_plugin:
        wire.ClearField("kind")
    if not wire.deleted:
        wire.ClearField("deleted_at")


def one_generation_deployment_wire(wire: deployment_pb2.Deployment) -> None:
    if wire.deploy_targets_by_plugin or wire.HasField("metadata_v2"):
        wire.ClearField("kind")
        wire.metadata_v2.shared.SetInParent()
    else:
        wire.metadata_v2.shared.keyValues["fairway/kind"] = KINDS.from_wire(wire.kind).value


def with_kind(found: DiscoveredApplication) -> DiscoveredApplication:
    return msgspec.structs.replace(found, kind=found.kind or ApplicationKind.LAMBDA)


PAYLOAD_FIELDS = {
    command_pb2.Command.SYNC_APPLICATION: "sync_application",
    command_pb2.Command.UPDATE_APPLICATION_CONFIG: "update_application_config",
    command_pb2.Command.CANCEL_DEPLOYMENT: "cancel_deployment",
    command_pb2.Command.APPROVE_STAGE: "approve_stage",
    command_pb2.Command.BUILD_PLAN_PREVIEW: "build_plan_preview",
    command_pb2.Command.CHAIN_SYNC_APPLICATION: "chain_sync_application",
    command_pb2.Command.SKIP_STAGE: "skip_stage",
    command_pb2.Command.RESTART_PIPED: "restart_piped",
}


def one_payload(wire: command_pb2.Command) -> None:
    """Only the payload that the type names."""
    for type_, field in PAYLOAD_FIELDS.items():
        if type_ == wire.type:
            getattr(wire, field).SetInParent()
        else:
            wire.ClearField(field)


def with_encryption(wire: piped_pb2.Piped | pipedservice_pb2.ReportPipedMetaRequest) -> None:
    if not wire.HasField("secret_encryption"):
        wire.secret_encryption.type = "NONE"


def one_form(state: LiveState) -> LiveState:
    """Only what the form of the state's platform has."""
    if state.kind is ApplicationKind.TERRAFORM:
        resources: tuple[Resource, ...] = ()
    else:
        resources = tuple(in_form(resource, state.kind) for resource in state.resources)
    known = state.plugin_health if state.plugin_health is not Health.UNHEALTHY else Health.OTHER
    plugin_health = known if state.kind is None else Health.UNKNOWN
    return msgspec.structs.replace(state, resources=resources, plugin_health=plugin_health)


def in_form(resource: Resource, kind: ApplicationKind | None) -> Resource:
    foreign: dict[str, Any] = {"metadata": {}, "deploy_target": "", "plugin_name": ""}
    if kind is None:
        foreign = {"owner_ids": (), "api_version": "", "namespace": ""}
    elif kind in {ApplicationKind.ECS, ApplicationKind.LAMBDA}:
        foreign |= {"api_version": "", "namespace": ""}
    missing, instead = (Health.OTHER, Health.UNHEALTHY) if kind is None else (Health.UNHEALTHY, Health.OTHER)
    health = instead if resource.health is missing else resource.health
    return msgspec.structs.replace(resource, health=health, **foreign)


def kubernetes_event(event: ResourceEvent) -> ResourceEvent:
    return msgspec.structs.replace(event, resource=in_form(event.resource, ApplicationKind.KUBERNETES))


PLATFORM_FIELDS = {
    common_pb2.KUBERNETES: "kubernetes",
    common_pb2.TERRAFORM: "terraform",
    common_pb2.LAMBDA: "lambda",
    common_pb2.CLOUDRUN: "cloudrun",
    common_pb2.ECS: "ecs",
}


def one_form_wire(wire: application_live_state_pb2.ApplicationLiveStateSnapshot) -> None:
    general = wire.HasField("application_live_state")
    if general:
        wire.ClearField("kind")
    for kind, field in PLATFORM_FIELDS.items():
        if general or kind != wire.kind:
            wire.ClearField(field)
        else:
            getattr(wire, field).SetInParent()


def one_generation_preview(preview: PlanPreview) -> PlanPreview:
    def one(application: ApplicationPlanPreview) -> ApplicationPlanPreview:
        newer = application.plugins or application.plugin_names
        kind = None if newer else application.kind or ApplicationKind.TERRAFORM
        return msgspec.structs.replace(application, kind=kind)

    return msgspec.structs.replace(preview, applications=tuple(one(each) for each in preview.applications))


def one_generation_preview_wire(wire: planpreview_pb2.PlanPreviewCommandResult) -> None:
    for result in wire.results:
        if result.plugin_names or result.plugin_plan_results:
            result.ClearField("application_kind")


def planned(plan: Plan) -> Message:
    return deployments.to_wire_planned(deployments.from_wire_deployment(deployment_pb2.Deployment()), plan)


APPLICATION = Noun(
    Application,
    application_pb2.Application,
    applications.to_wire_application,
    applications.from_wire_application,
    one_generation_application,
    one_generation_application_wire,
    # An older name of the platform provider; no agent that still runs fills it.
    frozenset({"model.Application.cloud_provider"}),
)

DEPLOYMENT = Noun(
    Deployment,
    deployment_pb2.Deployment,
    deployments.to_wire_deployment,
    deployments.from_wire_deployment,
    one_generation_deployment,
    one_generation_deployment_wire,
    frozenset({"model.Deployment.cloud_provider"}),
)

COMMAND = Noun(
    Command,
    command_pb2.Command,
    commands.to_wire_command,
    commands.from_wire_command,
    consistent_wire=one_payload,
)

LIVE_STATE = Noun(
    LiveState,
    application_live_state_pb2.ApplicationLiveStateSnapshot,
    live_states.to_wire_live_state,
    live_states.from_wire_live_state,
    one_form,
    one_form_wire,
)

PLAN_PREVIEW = Noun(
    PlanPreview,
    planpreview_pb2.PlanPreviewCommandResult,
    plan_previews.to_wire_plan_preview,
    plan_previews.from_wire_plan_preview,
    one_generation_preview,
    one_generation_preview_wire,
)

NOUNS = [
    pytest.param(APPLICATION, id="application"),
    pytest.param(
        Noun(
            DiscoveredApplication,
            common_pb2.ApplicationInfo,
            applications.to_wire_discovered_application,
            applications.from_wire_discovered_application,
            with_kind,
        ),
        id="discovered application",
    ),
    pytest.param(DEPLOYMENT, id="deployment"),
    pytest.param(
        Noun(
            Plan,
            pipedservice_pb2.ReportDeploymentPlannedRequest,
            planned,
            deployments.from_wire_planned,
            unapproved_plan,
            # Whose plan it is stands beside the plan; `version` repeats `versions` in one string.
            dropped=frozenset(
                f"grpc.service.pipedservice.ReportDeploymentPlannedRequest.{field}"
                for field in ("deployment_id", "deployment_chain_id", "deployment_chain_block_index", "version")
            ),
        ),
        id="plan",
    ),
    pytest.param(COMMAND, id="command"),
    pytest.param(Noun(Event, event_pb2.Event, events.to_wire_event, events.from_wire_event), id="event"),
    pytest.param(
        Noun(LogBlock, logblock_pb2.LogBlock, log_blocks.to_wire_log_block, log_blocks.from_wire_log_block),
        id="log block",
    ),
    pytest.param(LIVE_STATE, id="live state"),
    pytest.param(
        Noun(
            ResourceEvent,
            application_live_state_pb2.KubernetesResourceStateEvent,
            live_states.to_wire_resource_event,
            live_states.from_wire_resource_event,
            kubernetes_event,
        ),
        id="resource event",
    ),
    pytest.param(
        Noun(
            Agent,
            piped_pb2.Piped,
            agents.to_wire_agent,
            agents.from_wire_agent,
            consistent=without_unusable_files,
            consistent_wire=with_encryption,
            dropped=frozenset({"model.Piped.cloud_providers"}),
        ),
        id="agent",
    ),
    pytest.param(
        Noun(
            AgentProfile,
            pipedservice_pb2.ReportPipedMetaRequest,
            agents.to_wire_profile,
            agents.from_wire_profile,
            consistent_wire=with_encryption,
            dropped=frozenset({"grpc.service.pipedservice.ReportPipedMetaRequest.cloud_providers"}),
        ),
        id="agent profile",
    ),
    pytest.param(PLAN_PREVIEW, id="plan preview"),
    pytest.param(
        Noun(
            ApplicationMatcher,
            pipedservice_pb2.CreateDeploymentChainRequest.ApplicationMatcher,
            chains.to_wire_matcher,
            chains.from_wire_matcher,
        ),
        id="chain matcher",
    ),
]
