"""Commands: wire ⇄ model.

On the wire a command has one field for each sort of request and a type that says which of them counts; here
the request is a type of its own. A command whose type and payload disagree is refused, since nobody could
act on it.
"""

from collections.abc import Callable

from fairway.model.command import (
    ApproveStage,
    BuildPlanPreview,
    CancelDeployment,
    ChainSyncApplication,
    Command,
    CommandStatus,
    Payload,
    RestartAgent,
    SkipStage,
    SyncApplication,
    UpdateApplicationConfig,
)
from fairway.rpc.convert.trigger import SYNC_STRATEGIES
from fairway.rpc.convert.wire_enum import WireEnum, WireError
from fairway.rpc.convert.wire_time import (
    from_wire_duration,
    from_wire_time,
    from_wire_time_or_none,
    to_wire_duration,
    to_wire_time,
)
from fairway.rpc.gen.pipecd.model import command_pb2

COMMAND_STATUSES = WireEnum(
    "command status",
    {
        CommandStatus.WAITING: command_pb2.COMMAND_NOT_HANDLED_YET,
        CommandStatus.SUCCEEDED: command_pb2.COMMAND_SUCCEEDED,
        CommandStatus.FAILED: command_pb2.COMMAND_FAILED,
        CommandStatus.TIMED_OUT: command_pb2.COMMAND_TIMEOUT,
    },
)


def to_wire_command(command: Command) -> command_pb2.Command:
    wire = command_pb2.Command(
        id=command.id,
        piped_id=command.agent_id,
        application_id=command.application_id,
        deployment_id=command.deployment_id,
        stage_id=command.stage_id,
        commander=command.commander,
        project_id=command.project_id,
        status=COMMAND_STATUSES.to_wire(command.status),
        metadata=command.metadata,
        handled_at=to_wire_time(command.handled_at),
        created_at=to_wire_time(command.created_at),
        updated_at=to_wire_time(command.updated_at),
    )
    wire.MergeFrom(_to_wire_payload(command.payload))
    return wire


def from_wire_command(wire: command_pb2.Command) -> Command:
    return Command(
        id=wire.id,
        agent_id=wire.piped_id,
        application_id=wire.application_id,
        deployment_id=wire.deployment_id,
        stage_id=wire.stage_id,
        commander=wire.commander,
        project_id=wire.project_id,
        status=COMMAND_STATUSES.from_wire(wire.status),
        metadata=dict(wire.metadata),
        handled_at=from_wire_time_or_none(wire.handled_at),
        payload=_from_wire_payload(wire),
        created_at=from_wire_time(wire.created_at),
        updated_at=from_wire_time(wire.updated_at),
    )


def _to_wire_payload(payload: Payload) -> command_pb2.Command:
    """A command that has nothing but its type and its payload."""
    match payload:
        case SyncApplication():
            return _sync_application(payload)
        case UpdateApplicationConfig():
            return _update_application_config(payload)
        case CancelDeployment():
            return _cancel_deployment(payload)
        case ApproveStage():
            approve = command_pb2.Command.ApproveStage(deployment_id=payload.deployment_id, stage_id=payload.stage_id)
            return command_pb2.Command(type=command_pb2.Command.APPROVE_STAGE, approve_stage=approve)
        case BuildPlanPreview():
            return _build_plan_preview(payload)
        case ChainSyncApplication():
            return _chain_sync_application(payload)
        case SkipStage():
            skip = command_pb2.Command.SkipStage(deployment_id=payload.deployment_id, stage_id=payload.stage_id)
            return command_pb2.Command(type=command_pb2.Command.SKIP_STAGE, skip_stage=skip)
        case RestartAgent():
            restart = command_pb2.Command.RestartPiped(piped_id=payload.agent_id)
            return command_pb2.Command(type=command_pb2.Command.RESTART_PIPED, restart_piped=restart)


def _sync_application(payload: SyncApplication) -> command_pb2.Command:
    sync = command_pb2.Command.SyncApplication(
        application_id=payload.application_id,
        sync_strategy=SYNC_STRATEGIES.to_wire(payload.sync_strategy),
    )
    return command_pb2.Command(type=command_pb2.Command.SYNC_APPLICATION, sync_application=sync)


def _update_application_config(payload: UpdateApplicationConfig) -> command_pb2.Command:
    update = command_pb2.Command.UpdateApplicationConfig(
        application_id=payload.application_id, config_path=payload.config_path, config=payload.config
    )
    return command_pb2.Command(type=command_pb2.Command.UPDATE_APPLICATION_CONFIG, update_application_config=update)


def _cancel_deployment(payload: CancelDeployment) -> command_pb2.Command:
    cancel = command_pb2.Command.CancelDeployment(
        deployment_id=payload.deployment_id,
        force_rollback=payload.force_rollback,
        force_no_rollback=payload.force_no_rollback,
    )
    return command_pb2.Command(type=command_pb2.Command.CANCEL_DEPLOYMENT, cancel_deployment=cancel)


def _build_plan_preview(payload: BuildPlanPreview) -> command_pb2.Command:
    preview = command_pb2.Command.BuildPlanPreview(
        repository_id=payload.repository_id,
        head_branch=payload.head_branch,
        head_commit=payload.head_commit,
        base_branch=payload.base_branch,
        timeout=to_wire_duration(payload.timeout),
    )
    return command_pb2.Command(type=command_pb2.Command.BUILD_PLAN_PREVIEW, build_plan_preview=preview)


def _chain_sync_application(payload: ChainSyncApplication) -> command_pb2.Command:
    sync = command_pb2.Command.ChainSyncApplication(
        deployment_chain_id=payload.chain_id,
        block_index=payload.block_index,
        application_id=payload.application_id,
        sync_strategy=SYNC_STRATEGIES.to_wire(payload.sync_strategy),
    )
    return command_pb2.Command(type=command_pb2.Command.CHAIN_SYNC_APPLICATION, chain_sync_application=sync)


def _from_wire_payload(wire: command_pb2.Command) -> Payload:
    if wire.type not in _PAYLOADS:
        known = ", ".join(str(number) for number in _PAYLOADS)
        raise WireError(
            f"command {wire.id} has type {wire.type}, known are {known}; "
            "the sender may be newer than this version of Fairway: update Fairway"
        )
    field, read = _PAYLOADS[wire.type]
    if not wire.HasField(field):
        raise WireError(f"command {wire.id} has type {wire.type} but no {field}; send both or neither")
    return read(wire)


def _from_wire_plan_preview(wire: command_pb2.Command.BuildPlanPreview) -> BuildPlanPreview:
    return BuildPlanPreview(
        repository_id=wire.repository_id,
        head_branch=wire.head_branch,
        head_commit=wire.head_commit,
        base_branch=wire.base_branch,
        timeout=from_wire_duration(wire.timeout),
    )


#: Type → the field that then counts, and how it is read.
_PAYLOADS: dict[int, tuple[str, Callable[[command_pb2.Command], Payload]]] = {
    command_pb2.Command.SYNC_APPLICATION: (
        "sync_application",
        lambda wire: SyncApplication(
            application_id=wire.sync_application.application_id,
            sync_strategy=SYNC_STRATEGIES.from_wire(wire.sync_application.sync_strategy),
        ),
    ),
    command_pb2.Command.UPDATE_APPLICATION_CONFIG: (
        "update_application_config",
        lambda wire: UpdateApplicationConfig(
            application_id=wire.update_application_config.application_id,
            config_path=wire.update_application_config.config_path,
            config=wire.update_application_config.config,
        ),
    ),
    command_pb2.Command.CANCEL_DEPLOYMENT: (
        "cancel_deployment",
        lambda wire: CancelDeployment(
            deployment_id=wire.cancel_deployment.deployment_id,
            force_rollback=wire.cancel_deployment.force_rollback,
            force_no_rollback=wire.cancel_deployment.force_no_rollback,
        ),
    ),
    command_pb2.Command.APPROVE_STAGE: (
        "approve_stage",
        lambda wire: ApproveStage(deployment_id=wire.approve_stage.deployment_id, stage_id=wire.approve_stage.stage_id),
    ),
    command_pb2.Command.BUILD_PLAN_PREVIEW: (
        "build_plan_preview",
        lambda wire: _from_wire_plan_preview(wire.build_plan_preview),
    ),
    command_pb2.Command.CHAIN_SYNC_APPLICATION: (
        "chain_sync_application",
        lambda wire: ChainSyncApplication(
            application_id=wire.chain_sync_application.application_id,
            chain_id=wire.chain_sync_application.deployment_chain_id,
            block_index=wire.chain_sync_application.block_index,
            sync_strategy=SYNC_STRATEGIES.from_wire(wire.chain_sync_application.sync_strategy),
        ),
    ),
    command_pb2.Command.SKIP_STAGE: (
        "skip_stage",
        lambda wire: SkipStage(deployment_id=wire.skip_stage.deployment_id, stage_id=wire.skip_stage.stage_id),
    ),
    command_pb2.Command.RESTART_PIPED: (
        "restart_piped",
        lambda wire: RestartAgent(agent_id=wire.restart_piped.piped_id),
    ),
}
