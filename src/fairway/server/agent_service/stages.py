"""The stages of an agent's deployments: how each stands, what it notes and what it logs.

Notes and logs are taken at any time, also after the deployment has ended: they say what happened, and late is better
than never.
"""

import msgspec
from sqlalchemy import Connection

from fairway.model.deployment import UnknownStage
from fairway.model.limits import LOG_TEXT, cut
from fairway.model.log_block import LogBlock
from fairway.rpc.agent_api import messages as m
from fairway.rpc.convert.log_block import from_wire_log_block
from fairway.rpc.convert.stage import STAGE_STATUSES
from fairway.server.agent_auth import AgentIdentity
from fairway.server.agent_service import reports
from fairway.server.agent_service.desk import AgentDesk
from fairway.server.agent_service.ownership import load_own_deployment, update_own_deployment
from fairway.server.logs import StageLogKey
from fairway.server.status_codes import InvalidRequest


async def report_status(
    desk: AgentDesk, caller: AgentIdentity, request: m.ReportStageStatusChangedRequest
) -> m.ReportStageStatusChangedResponse:
    """A stage started or ended."""
    now = desk.clock.now()
    _refuse_negative(request.retried_count)
    report = reports.StageReport(
        stage_id=request.stage_id,
        status=STAGE_STATUSES.from_wire(request.status),
        reason=request.status_reason,
        requires=tuple(request.requires),
        visible=request.visible,
        retried_count=request.retried_count,
    )
    await desk.store.write(
        lambda connection: update_own_deployment(
            connection, caller, request.deployment_id, lambda found: reports.stage_changed(found, report, now)
        )
    )
    return m.ReportStageStatusChangedResponse()


async def save_metadata(
    desk: AgentDesk, caller: AgentIdentity, request: m.SaveStageMetadataRequest
) -> m.SaveStageMetadataResponse:
    """Notes of one stage, added to those before."""
    now = desk.clock.now()
    noted = dict(request.metadata)
    await desk.store.write(
        lambda connection: update_own_deployment(
            connection,
            caller,
            request.deployment_id,
            lambda found: reports.stage_noted(found, request.stage_id, noted, now),
        )
    )
    return m.SaveStageMetadataResponse()


async def report_logs(
    desk: AgentDesk, caller: AgentIdentity, request: m.ReportStageLogsRequest
) -> m.ReportStageLogsResponse:
    """New blocks of a running stage; on disk when this returns."""
    await _append(desk, caller, request, completed=False)
    return m.ReportStageLogsResponse()


async def report_logs_from_checkpoint(
    desk: AgentDesk, caller: AgentIdentity, request: m.ReportStageLogsFromLastCheckpointRequest
) -> m.ReportStageLogsFromLastCheckpointResponse:
    """All blocks since the last such call, many of them known already; and whether they were the last."""
    await _append(desk, caller, request, completed=request.completed)
    return m.ReportStageLogsFromLastCheckpointResponse()


async def _append(
    desk: AgentDesk,
    caller: AgentIdentity,
    request: m.ReportStageLogsRequest | m.ReportStageLogsFromLastCheckpointRequest,
    completed: bool,
) -> None:
    _refuse_negative(request.retried_count)

    def check(connection: Connection) -> None:
        deployment = load_own_deployment(connection, caller, request.deployment_id)
        if deployment.stage(request.stage_id) is None:
            raise UnknownStage(deployment, request.stage_id)

    blocks = [_cut(from_wire_log_block(block)) for block in request.blocks]
    await desk.store.read(check)
    key = StageLogKey(request.deployment_id, request.stage_id, request.retried_count)
    kept = await desk.log_quota.admitted(desk.logs, key, caller.agent_id, blocks, desk.clock.now())
    if kept or completed:
        await desk.logs.append(key, kept, completed=completed)


def _cut(block: LogBlock) -> LogBlock:
    return block if len(block.log) <= LOG_TEXT else msgspec.structs.replace(block, log=cut(block.log, LOG_TEXT))


def _refuse_negative(retried_count: int) -> None:
    if retried_count < 0:
        raise InvalidRequest(f"retried_count is {retried_count}; expected 0 or more")
