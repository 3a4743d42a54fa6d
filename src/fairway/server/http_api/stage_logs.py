"""The logs of stages: page by page as JSON, and whole as text, however long they are."""

from collections.abc import AsyncIterator
from contextlib import aclosing

import msgspec
from litestar import get
from litestar.params import FromPath, FromQuery
from litestar.response import Stream

from fairway.model.log_block import LogBlock
from fairway.server.actions import reading
from fairway.server.http_api.desk import ApiRequest, desk_of
from fairway.server.http_api.errors import REFUSALS
from fairway.server.http_api.query import MOST_BLOCKS, in_range
from fairway.server.logs import LogStore, StageLogKey
from fairway.server.store.errors import NotFound

_LAST_INDEX = 2**63 - 1


class LogPage(msgspec.Struct, frozen=True):
    """Some of a stage's log, in its order."""

    blocks: tuple[LogBlock, ...]
    #: Whether the agent said that no more is to come.
    completed: bool
    #: Where the next page begins; null when this one reaches the end of what is there.
    next_index: int | None


@get(
    "/deployments/{deployment_id:str}/stages/{stage_id:str}/log",
    summary="The log of a stage.",
    tags=["deployments"],
    responses=REFUSALS,
)
async def get_stage_log(
    request: ApiRequest,
    deployment_id: FromPath[str],
    stage_id: FromPath[str],
    from_index: FromQuery[int] = 0,
    limit: FromQuery[int] = MOST_BLOCKS,
) -> LogPage:
    """The log of the stage's latest run from an index on, as far as it has been written."""
    first = in_range("from_index", from_index, 0, _LAST_INDEX)
    most = in_range("limit", limit, 1, MOST_BLOCKS)
    key = await _key(request, deployment_id, stage_id)
    log = await desk_of(request).logs.read(key, first, most)
    return LogPage(log.blocks, log.completed, log.next_index)


@get(
    "/deployments/{deployment_id:str}/stages/{stage_id:str}/log.txt",
    summary="The whole log of a stage as text.",
    tags=["deployments"],
    responses=REFUSALS,
    media_type="text/plain",
)
async def download_stage_log(request: ApiRequest, deployment_id: FromPath[str], stage_id: FromPath[str]) -> Stream:
    """The log of the stage's latest run, as far as it has been written: a line for each block that is one."""
    key = await _key(request, deployment_id, stage_id)
    return Stream(_text(desk_of(request).logs, key), media_type="text/plain")


async def _text(logs: LogStore, key: StageLogKey) -> AsyncIterator[bytes]:
    async with aclosing(logs.batches(key)) as batches:
        async for batch in batches:
            yield b"".join(_line(block.log) for block in batch)


def _line(log: str) -> bytes:
    return (log if log.endswith("\n") else f"{log}\n").encode()


async def _key(request: ApiRequest, deployment_id: str, stage_id: str) -> StageLogKey:
    deployment = await reading.get_deployment(desk_of(request).actions, request.auth, deployment_id)
    stage = deployment.stage(stage_id)
    if stage is None:
        raise NotFound("stage", stage_id)
    return StageLogKey(deployment_id, stage.id, stage.retried_count)


ROUTES = (get_stage_log, download_stage_log)
