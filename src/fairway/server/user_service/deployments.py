"""Looking at deployments and at what their stages said.

The logs of a deployment come in one answer, and an answer has a size that clients refuse to exceed. Each stage gets an
equal share of it; what does not fit is left out from the beginning, since the end of a log tells how it went, and a
first block says so.
"""

from collections import deque

import msgspec

from fairway.model.log_block import LogBlock
from fairway.model.notes import brief, thinned
from fairway.rpc.convert.deployment import to_wire_deployment
from fairway.rpc.convert.log_block import to_wire_log_block
from fairway.rpc.user_api import messages as m
from fairway.server.actions import reading
from fairway.server.actions.desk import ActionDesk
from fairway.server.callers import Caller
from fairway.server.logs import LogStore, StageLogKey
from fairway.server.user_service.filters import deployment_filter, deployment_page

#: Go's clients take 4 MiB in one message unless they are told otherwise.
LOG_BYTES = 3 * 1024 * 1024
#: What a block costs beside its text.
_BLOCK_BYTES = 32
_NOTE = "(the beginning of this log is left out: the answer would be too large)\n"
#: Blocks that are read at a time.
_BLOCKS = 10_000


async def get_deployment(desk: ActionDesk, caller: Caller, request: m.GetDeploymentRequest) -> m.GetDeploymentResponse:
    """One deployment."""
    found = await reading.get_deployment(desk, caller, request.deployment_id)
    return m.GetDeploymentResponse(deployment=to_wire_deployment(thinned(found)))


async def list_deployments(
    desk: ActionDesk, caller: Caller, request: m.ListDeploymentsRequest
) -> m.ListDeploymentsResponse:
    """The deployments of the project that fit, newest change first."""
    wanted, page = deployment_filter(caller.project_id, request), deployment_page(request)
    found = await reading.list_deployments(desk, caller, wanted, page)
    return m.ListDeploymentsResponse(
        deployments=[to_wire_deployment(brief(deployment)) for deployment in found.items], cursor=found.cursor
    )


async def list_stage_logs(desk: ActionDesk, caller: Caller, request: m.ListStageLogsRequest) -> m.ListStageLogsResponse:
    """The log of every stage. One that said nothing has an empty entry, unless it is there only for a rollback."""
    deployment = await reading.get_deployment(desk, caller, request.deployment_id)
    answer = m.ListStageLogsResponse()
    for stage in deployment.stages:
        key = StageLogKey(deployment.id, stage.id, stage.retried_count)
        log = await _tail(desk.logs, key, LOG_BYTES // len(deployment.stages))
        if log.blocks or log.completed or not stage.is_rollback:
            answer.stage_logs[stage.id].CopyFrom(log)
    return answer


class Tail:
    """The last lines of a log that fit into a number of bytes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._size = 0
        self._kept: deque[LogBlock] = deque()
        #: The last block that did not fit.
        self._left_out: LogBlock | None = None

    def add(self, block: LogBlock) -> None:
        """Take one more block at the end, and let go of the first ones where that is too much."""
        self._kept.append(block)
        self._size += _cost(block)
        while self._size > self._limit:
            self._left_out = self._kept.popleft()
            self._size -= _cost(self._left_out)

    def blocks(self) -> tuple[LogBlock, ...]:
        """What was kept, after a note where something was not."""
        left_out = self._left_out
        if left_out is None:
            return tuple(self._kept)
        note = LogBlock(index=max(left_out.index - 1, 0), log=_NOTE, created_at=left_out.created_at)
        end = _last_lines(left_out.log, self._limit - self._size - _BLOCK_BYTES)
        return (note, *([msgspec.structs.replace(left_out, log=end)] if end else []), *self._kept)


def _last_lines(text: str, room: int) -> str:
    """The last whole lines of a text that has more bytes than there is room for."""
    if room <= 0:
        return ""
    data = text.encode("utf-8", "surrogatepass")
    # The byte before the room may be the end of a line.
    return data[-room - 1 :].partition(b"\n")[2].decode("utf-8", "surrogatepass")


async def _tail(logs: LogStore, key: StageLogKey, limit: int) -> m.StageLog:
    tail, position = Tail(limit), 0
    while True:
        page = await logs.read(key, position, _BLOCKS)
        for block in page.blocks:
            tail.add(block)
        if page.next_index is None:
            return m.StageLog(blocks=[to_wire_log_block(block) for block in tail.blocks()], completed=page.completed)
        position = page.next_index


def _cost(block: LogBlock) -> int:
    return len(block.log.encode("utf-8", "surrogatepass")) + _BLOCK_BYTES
