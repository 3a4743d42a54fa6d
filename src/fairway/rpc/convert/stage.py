"""Stages: wire ⇄ model."""

from fairway.model.stage import ManualOperation, Stage, StageStatus
from fairway.rpc.convert.wire_enum import WireEnum
from fairway.rpc.convert.wire_time import from_wire_time, from_wire_time_or_none, to_wire_time
from fairway.rpc.gen.pipecd.model import deployment_pb2

STAGE_STATUSES = WireEnum(
    "stage status",
    {
        StageStatus.NOT_STARTED: deployment_pb2.STAGE_NOT_STARTED_YET,
        StageStatus.RUNNING: deployment_pb2.STAGE_RUNNING,
        StageStatus.SUCCEEDED: deployment_pb2.STAGE_SUCCESS,
        StageStatus.FAILED: deployment_pb2.STAGE_FAILURE,
        StageStatus.CANCELLED: deployment_pb2.STAGE_CANCELLED,
        StageStatus.SKIPPED: deployment_pb2.STAGE_SKIPPED,
        StageStatus.EXITED: deployment_pb2.STAGE_EXITED,
    },
)

MANUAL_OPERATIONS = WireEnum(
    "manual operation",
    {
        ManualOperation.UNKNOWN: deployment_pb2.MANUAL_OPERATION_UNKNOWN,
        ManualOperation.NONE: deployment_pb2.MANUAL_OPERATION_NONE,
        ManualOperation.SKIP: deployment_pb2.MANUAL_OPERATION_SKIP,
        ManualOperation.APPROVE: deployment_pb2.MANUAL_OPERATION_APPROVE,
    },
)


def to_wire_stage(stage: Stage) -> deployment_pb2.PipelineStage:
    return deployment_pb2.PipelineStage(
        id=stage.id,
        name=stage.name,
        desc=stage.desc,
        index=stage.index,
        predefined=stage.predefined,
        requires=stage.requires,
        visible=stage.visible,
        status=STAGE_STATUSES.to_wire(stage.status),
        status_reason=stage.status_reason,
        metadata=stage.metadata,
        retried_count=stage.retried_count,
        rollback=stage.rollback,
        completed_at=to_wire_time(stage.completed_at),
        created_at=to_wire_time(stage.created_at),
        updated_at=to_wire_time(stage.updated_at),
        available_operation=MANUAL_OPERATIONS.to_wire(stage.available_operation),
        authorized_operators=stage.authorized_operators,
    )


def from_wire_stage(wire: deployment_pb2.PipelineStage) -> Stage:
    return Stage(
        id=wire.id,
        name=wire.name,
        desc=wire.desc,
        index=wire.index,
        predefined=wire.predefined,
        requires=tuple(wire.requires),
        visible=wire.visible,
        status=STAGE_STATUSES.from_wire(wire.status),
        status_reason=wire.status_reason,
        metadata=dict(wire.metadata),
        retried_count=wire.retried_count,
        rollback=wire.rollback,
        completed_at=from_wire_time_or_none(wire.completed_at),
        created_at=from_wire_time(wire.created_at),
        updated_at=from_wire_time(wire.updated_at),
        available_operation=MANUAL_OPERATIONS.from_wire(wire.available_operation),
        authorized_operators=tuple(wire.authorized_operators),
    )
