"""What runs: wire ⇄ model.

Agents of the older generation fill the field of their platform, those of the newer one a general field. The
form decides which fields a resource has and which words there are for its health; a health that a form has
no word for cannot be sent in it.
"""

from collections.abc import Iterable

from fairway.model.application import ApplicationKind
from fairway.model.live_state import (
    Health,
    LiveState,
    LiveStateVersion,
    Resource,
    ResourceChange,
    ResourceEvent,
)
from fairway.rpc.convert.application import KINDS, to_wire_kind
from fairway.rpc.convert.resource import (
    PlatformResource,
    from_wire_platform_resource,
    from_wire_resource,
    to_wire_cloudrun_resource,
    to_wire_ecs_resource,
    to_wire_kubernetes_resource,
    to_wire_lambda_resource,
    to_wire_resource,
)
from fairway.rpc.convert.wire_enum import WireEnum
from fairway.rpc.convert.wire_time import from_wire_time, to_wire_time
from fairway.rpc.gen.pipecd.model import application_live_state_pb2 as pb

SNAPSHOT_HEALTH = WireEnum(
    "health of an application",
    {
        Health.UNKNOWN: pb.ApplicationLiveStateSnapshot.UNKNOWN,
        Health.HEALTHY: pb.ApplicationLiveStateSnapshot.HEALTHY,
        Health.OTHER: pb.ApplicationLiveStateSnapshot.OTHER,
        Health.UNHEALTHY: pb.ApplicationLiveStateSnapshot.UNHEALTHY,
    },
)

PLUGIN_HEALTH = WireEnum(
    "health that plugins report",
    {
        Health.UNKNOWN: pb.ApplicationLiveState.UNKNOWN,
        Health.HEALTHY: pb.ApplicationLiveState.HEALTHY,
        Health.OTHER: pb.ApplicationLiveState.OTHER,
    },
)

RESOURCE_CHANGES = WireEnum(
    "change of a resource",
    {
        ResourceChange.ADDED_OR_UPDATED: pb.KubernetesResourceStateEvent.ADD_OR_UPDATED,
        ResourceChange.DELETED: pb.KubernetesResourceStateEvent.DELETED,
    },
)


def to_wire_live_state(state: LiveState) -> pb.ApplicationLiveStateSnapshot:
    snapshot = pb.ApplicationLiveStateSnapshot(
        application_id=state.application_id,
        piped_id=state.agent_id,
        project_id=state.project_id,
        kind=to_wire_kind(state.kind),
        health_status=SNAPSHOT_HEALTH.to_wire(state.health),
        version=to_wire_live_state_version(state.version),
    )
    match state.kind:
        case None:
            general = to_wire_plugin_live_state(state.resources, state.plugin_health)
            snapshot.application_live_state.CopyFrom(general)
        case ApplicationKind.KUBERNETES:
            objects = [to_wire_kubernetes_resource(resource) for resource in state.resources]
            snapshot.kubernetes.CopyFrom(pb.KubernetesApplicationLiveState(resources=objects))
        case ApplicationKind.TERRAFORM:
            snapshot.terraform.SetInParent()
        case ApplicationKind.CLOUDRUN:
            services = [to_wire_cloudrun_resource(resource) for resource in state.resources]
            snapshot.cloudrun.CopyFrom(pb.CloudRunApplicationLiveState(resources=services))
        case ApplicationKind.LAMBDA:
            functions = [to_wire_lambda_resource(resource) for resource in state.resources]
            _lambda(snapshot).CopyFrom(pb.LambdaApplicationLiveState(resources=functions))
        case ApplicationKind.ECS:
            tasks = [to_wire_ecs_resource(resource) for resource in state.resources]
            snapshot.ecs.CopyFrom(pb.ECSApplicationLiveState(resources=tasks))
    return snapshot


def from_wire_live_state(wire: pb.ApplicationLiveStateSnapshot) -> LiveState:
    general = wire.HasField("application_live_state")
    kind = None if general else KINDS.from_wire(wire.kind)
    return LiveState(
        application_id=wire.application_id,
        agent_id=wire.piped_id,
        project_id=wire.project_id,
        kind=kind,
        health=SNAPSHOT_HEALTH.from_wire(wire.health_status),
        plugin_health=PLUGIN_HEALTH.from_wire(wire.application_live_state.health_status),
        version=from_wire_live_state_version(wire.version),
        resources=from_wire_plugin_live_state(wire.application_live_state)
        if kind is None
        else tuple(from_wire_platform_resource(resource) for resource in _platform_resources(wire, kind)),
    )


def to_wire_plugin_live_state(resources: Iterable[Resource], health: Health) -> pb.ApplicationLiveState:
    """What a plugin answers when it is asked what runs."""
    return pb.ApplicationLiveState(
        resources=[to_wire_resource(resource) for resource in resources],
        health_status=PLUGIN_HEALTH.to_wire(health),
    )


def from_wire_plugin_live_state(wire: pb.ApplicationLiveState) -> tuple[Resource, ...]:
    """The resources in a plugin's answer."""
    return tuple(from_wire_resource(resource) for resource in wire.resources)


def to_wire_resource_event(event: ResourceEvent) -> pb.KubernetesResourceStateEvent:
    return pb.KubernetesResourceStateEvent(
        id=event.id,
        application_id=event.application_id,
        type=RESOURCE_CHANGES.to_wire(event.change),
        state=to_wire_kubernetes_resource(event.resource),
        snapshot_version=to_wire_live_state_version(event.snapshot_version),
        created_at=to_wire_time(event.created_at),
    )


def from_wire_resource_event(wire: pb.KubernetesResourceStateEvent) -> ResourceEvent:
    return ResourceEvent(
        id=wire.id,
        application_id=wire.application_id,
        change=RESOURCE_CHANGES.from_wire(wire.type),
        resource=from_wire_platform_resource(wire.state),
        snapshot_version=from_wire_live_state_version(wire.snapshot_version),
        created_at=from_wire_time(wire.created_at),
    )


def to_wire_live_state_version(version: LiveStateVersion) -> pb.ApplicationLiveStateVersion:
    return pb.ApplicationLiveStateVersion(timestamp=to_wire_time(version.at), index=version.index)


def from_wire_live_state_version(wire: pb.ApplicationLiveStateVersion) -> LiveStateVersion:
    return LiveStateVersion(at=from_wire_time(wire.timestamp), index=wire.index)


def _platform_resources(wire: pb.ApplicationLiveStateSnapshot, kind: ApplicationKind) -> Iterable[PlatformResource]:
    match kind:
        case ApplicationKind.KUBERNETES:
            return wire.kubernetes.resources
        case ApplicationKind.TERRAFORM:
            return ()
        case ApplicationKind.CLOUDRUN:
            return wire.cloudrun.resources
        case ApplicationKind.LAMBDA:
            return _lambda(wire).resources
        case ApplicationKind.ECS:
            return wire.ecs.resources


def _lambda(snapshot: pb.ApplicationLiveStateSnapshot) -> pb.LambdaApplicationLiveState:
    # The field's name is a word of Python's own, so it cannot be written with a dot.
    state: pb.LambdaApplicationLiveState = getattr(snapshot, "lambda")
    return state
