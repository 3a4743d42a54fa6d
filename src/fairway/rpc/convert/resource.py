"""Running resources, in the general form and in that of each older platform: wire ⇄ model.

The platforms' messages differ in two fields only, so most of each is written once; what a form lacks keeps
its default here, and is not sent there.
"""

from typing import Any

from fairway.model.live_state import Health, Resource
from fairway.rpc.convert.wire_enum import WireEnum
from fairway.rpc.convert.wire_time import from_wire_time_or_none, to_wire_time
from fairway.rpc.gen.pipecd.model import application_live_state_pb2 as pb

PlatformResource = pb.KubernetesResourceState | pb.CloudRunResourceState | pb.ECSResourceState | pb.LambdaResourceState

RESOURCE_HEALTH = WireEnum(
    "health of a resource",
    {
        Health.UNKNOWN: pb.ResourceState.UNKNOWN,
        Health.HEALTHY: pb.ResourceState.HEALTHY,
        Health.UNHEALTHY: pb.ResourceState.UNHEALTHY,
    },
)

#: Each platform has an enum of its own; the names and numbers are the same in all four.
PLATFORM_HEALTH = WireEnum(
    "health of a platform's resource",
    {
        Health.UNKNOWN: pb.KubernetesResourceState.UNKNOWN,
        Health.HEALTHY: pb.KubernetesResourceState.HEALTHY,
        Health.OTHER: pb.KubernetesResourceState.OTHER,
    },
)


def to_wire_resource(resource: Resource) -> pb.ResourceState:
    """In the general form, as plugins report it."""
    return pb.ResourceState(
        id=resource.id,
        parent_ids=resource.parent_ids,
        name=resource.name,
        resource_type=resource.type,
        resource_metadata=resource.metadata,
        health_status=RESOURCE_HEALTH.to_wire(resource.health),
        health_description=resource.health_description,
        deploy_target=resource.deploy_target,
        plugin_name=resource.plugin_name,
        created_at=to_wire_time(resource.created_at),
        updated_at=to_wire_time(resource.updated_at),
    )


def from_wire_resource(wire: pb.ResourceState) -> Resource:
    """From the general form, as plugins report it."""
    return Resource(
        id=wire.id,
        parent_ids=tuple(wire.parent_ids),
        name=wire.name,
        type=wire.resource_type,
        metadata=dict(wire.resource_metadata),
        health=RESOURCE_HEALTH.from_wire(wire.health_status),
        health_description=wire.health_description,
        deploy_target=wire.deploy_target,
        plugin_name=wire.plugin_name,
        created_at=from_wire_time_or_none(wire.created_at),
        updated_at=from_wire_time_or_none(wire.updated_at),
    )


def to_wire_kubernetes_resource(resource: Resource) -> pb.KubernetesResourceState:
    return pb.KubernetesResourceState(
        **_shared(resource), api_version=resource.api_version, namespace=resource.namespace
    )


def to_wire_cloudrun_resource(resource: Resource) -> pb.CloudRunResourceState:
    return pb.CloudRunResourceState(**_shared(resource), api_version=resource.api_version, namespace=resource.namespace)


def to_wire_ecs_resource(resource: Resource) -> pb.ECSResourceState:
    return pb.ECSResourceState(**_shared(resource))


def to_wire_lambda_resource(resource: Resource) -> pb.LambdaResourceState:
    return pb.LambdaResourceState(**_shared(resource))


def from_wire_platform_resource(wire: PlatformResource) -> Resource:
    """From the form of any platform."""
    api_version = namespace = ""
    if isinstance(wire, pb.KubernetesResourceState | pb.CloudRunResourceState):
        api_version, namespace = wire.api_version, wire.namespace
    return Resource(
        id=wire.id,
        owner_ids=tuple(wire.owner_ids),
        parent_ids=tuple(wire.parent_ids),
        name=wire.name,
        api_version=api_version,
        namespace=namespace,
        type=wire.kind,
        health=PLATFORM_HEALTH.from_wire(wire.health_status),
        health_description=wire.health_description,
        created_at=from_wire_time_or_none(wire.created_at),
        updated_at=from_wire_time_or_none(wire.updated_at),
    )


def _shared(resource: Resource) -> dict[str, Any]:
    """The fields that every platform's message has under the same name."""
    return {
        "id": resource.id,
        "owner_ids": resource.owner_ids,
        "parent_ids": resource.parent_ids,
        "name": resource.name,
        "kind": resource.type,
        "health_status": PLATFORM_HEALTH.to_wire(resource.health),
        "health_description": resource.health_description,
        "created_at": to_wire_time(resource.created_at),
        "updated_at": to_wire_time(resource.updated_at),
    }
