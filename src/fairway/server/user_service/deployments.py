"""Looking at deployments and at what their stages said.

The logs of a deployment come in one answer, and an answer has a size that clients refuse to exceed. Each stage gets an
equal share of it; what does not fit is left out from the beginning, since the end of a log tells how it went, and a
first block says so.
"""

from collections import deque

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
    """The last blocks of a log that fit into a number of bytes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._size = 0
        self._kept: deque[LogBlock] = deque()
        self._left_out = 0
        self._last: LogBlock | None = None

    def add(self, block: LogBlock) -> None:
        """Take one more block at the end, and let go of the first ones where that is too much."""
        self._last = block
        self._kept.append(block)
        self._size += _cost(block)
        while self._size > self._limit:
            self._size -= _cost(self._kept.popleft())
            self._left_out += 1

    def blocks(self) -> tuple[LogBlock, ...]:
        """What was kept, after a note where something was not."""
        if not self._left_out or self._last is None:
            return tuple(self._kept)
        following = self._kept[0] if self._kept else self._last
        note = f"({self._left_out} earlier pieces of this log are left out: the answer would be too large)\n"
        return (LogBlock(index=max(following.index - 1, 0), log=note, created_at=following.created_at), *self._kept)


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
