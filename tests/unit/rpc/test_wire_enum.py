"""Each table knows every number of its enum and every word of ours, except where a form has no word."""

import enum
from typing import Any

import pytest
from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper

from fairway.model.agent import ConnectionStatus
from fairway.model.application import ApplicationKind, SyncStatus
from fairway.model.artifact import ArtifactKind
from fairway.model.command import CommandStatus
from fairway.model.deployment import DeploymentStatus
from fairway.model.event import EventStatus
from fairway.model.live_state import Health, ResourceChange
from fairway.model.log_block import LogSeverity
from fairway.model.stage import ManualOperation, StageStatus
from fairway.model.trigger import SyncStrategy
from fairway.rpc.convert.agent import CONNECTION_STATUSES
from fairway.rpc.convert.application import KINDS, SYNC_STATUSES
from fairway.rpc.convert.command import COMMAND_STATUSES
from fairway.rpc.convert.deployment import DEPLOYMENT_STATUSES
from fairway.rpc.convert.event import EVENT_STATUSES
from fairway.rpc.convert.live_state import PLUGIN_HEALTH, RESOURCE_CHANGES, SNAPSHOT_HEALTH
from fairway.rpc.convert.log_block import LOG_SEVERITIES
from fairway.rpc.convert.resource import PLATFORM_HEALTH, RESOURCE_HEALTH
from fairway.rpc.convert.stage import MANUAL_OPERATIONS, STAGE_STATUSES
from fairway.rpc.convert.trigger import ARTIFACT_KINDS, SYNC_STRATEGIES
from fairway.rpc.convert.wire_enum import WireEnum, WireError
from fairway.rpc.gen.pipecd.model import (
    application_live_state_pb2,
    application_pb2,
    command_pb2,
    common_pb2,
    deployment_pb2,
    event_pb2,
    logblock_pb2,
    piped_pb2,
)

Snapshot = application_live_state_pb2.ApplicationLiveStateSnapshot
PluginState = application_live_state_pb2.ApplicationLiveState
General = application_live_state_pb2.ResourceState
Kubernetes = application_live_state_pb2.KubernetesResourceState
CloudRun = application_live_state_pb2.CloudRunResourceState
Ecs = application_live_state_pb2.ECSResourceState
Lambda = application_live_state_pb2.LambdaResourceState
Change = application_live_state_pb2.KubernetesResourceStateEvent

NO_OTHER = frozenset({Health.OTHER})
NO_UNHEALTHY = frozenset({Health.UNHEALTHY})


@pytest.mark.parametrize(
    ("table", "wire", "ours", "without"),
    [
        pytest.param(DEPLOYMENT_STATUSES, deployment_pb2.DeploymentStatus, DeploymentStatus, (), id="deployment"),
        pytest.param(STAGE_STATUSES, deployment_pb2.StageStatus, StageStatus, (), id="stage"),
        pytest.param(MANUAL_OPERATIONS, deployment_pb2.ManualOperation, ManualOperation, (), id="operation"),
        pytest.param(SYNC_STRATEGIES, common_pb2.SyncStrategy, SyncStrategy, (), id="strategy"),
        pytest.param(ARTIFACT_KINDS, common_pb2.ArtifactVersion.Kind, ArtifactKind, (), id="artifact"),
        pytest.param(KINDS, common_pb2.ApplicationKind, ApplicationKind, (), id="application"),
        pytest.param(SYNC_STATUSES, application_pb2.ApplicationSyncStatus, SyncStatus, (), id="sync"),
        pytest.param(COMMAND_STATUSES, command_pb2.CommandStatus, CommandStatus, (), id="command"),
        pytest.param(EVENT_STATUSES, event_pb2.EventStatus, EventStatus, (), id="event"),
        pytest.param(LOG_SEVERITIES, logblock_pb2.LogSeverity, LogSeverity, (), id="log"),
        pytest.param(CONNECTION_STATUSES, piped_pb2.Piped.ConnectionStatus, ConnectionStatus, (), id="connection"),
        pytest.param(SNAPSHOT_HEALTH, Snapshot.Status, Health, (), id="health of an application"),
        pytest.param(PLUGIN_HEALTH, PluginState.Status, Health, NO_UNHEALTHY, id="health from plugins"),
        pytest.param(RESOURCE_HEALTH, General.HealthStatus, Health, NO_OTHER, id="health of a resource"),
        pytest.param(PLATFORM_HEALTH, Kubernetes.HealthStatus, Health, NO_UNHEALTHY, id="Kubernetes health"),
        pytest.param(PLATFORM_HEALTH, CloudRun.HealthStatus, Health, NO_UNHEALTHY, id="Cloud Run health"),
        pytest.param(PLATFORM_HEALTH, Ecs.HealthStatus, Health, NO_UNHEALTHY, id="ECS health"),
        pytest.param(PLATFORM_HEALTH, Lambda.HealthStatus, Health, NO_UNHEALTHY, id="Lambda health"),
        pytest.param(RESOURCE_CHANGES, Change.Type, ResourceChange, (), id="resource change"),
    ],
)
def test_a_table_is_complete(
    table: WireEnum[Any, Any], wire: EnumTypeWrapper, ours: type[enum.Enum], without: frozenset[enum.Enum]
) -> None:
    assert sorted(table.numbers.values()) == sorted(wire.values())
    assert set(table.numbers) == set(ours) - set(without)


def test_a_number_from_a_newer_sender_is_refused_with_what_is_known() -> None:
    with pytest.raises(WireError) as refused:
        SYNC_STRATEGIES.from_wire(9)

    assert str(refused.value) == (
        "sync strategy 9 is not known, only 0 (auto), 1 (quick_sync), 2 (pipeline); the sender may be newer than "
        "this version of Fairway: update Fairway, or send a known number"
    )


def test_a_word_that_the_wire_lacks_is_refused() -> None:
    with pytest.raises(WireError) as refused:
        RESOURCE_HEALTH.to_wire(Health.OTHER)

    assert str(refused.value) == (
        "health of a resource other cannot be sent; this message knows unknown, healthy, unhealthy"
    )
