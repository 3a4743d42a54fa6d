"""The logs of a stream: blocks that a client does not have yet, as they are written, read once for all who wait.

A client starts at the beginning and is then given what is added. A block that arrives late, behind others, is sent
when it arrives: clients put blocks in the order of their indexes. When a stage is run again, its log begins anew.
"""

import asyncio
from collections.abc import AsyncIterator

import msgspec

from fairway.model.deployment import Deployment
from fairway.model.log_block import LogBlock
from fairway.server.feed import Feed, LogTopic
from fairway.server.http_api.stream_position import LogPosition
from fairway.server.logs import LogStore, StageLog, StageLogKey

#: In one event. An event is in memory for each client that has not taken it.
_MOST_BLOCKS = 500
_MOST_CHARACTERS = 256 * 1024


class LogEvent(msgspec.Struct, frozen=True, kw_only=True):
    """What was added to the log of a stage."""

    deployment_id: str
    stage_id: str
    #: Which run of the stage it is. With another one than before, the log begins anew.
    retried_count: int
    blocks: tuple[LogBlock, ...]
    #: Whether the agent said that no more is to come.
    completed: bool
    #: Behind the highest index that the client has now.
    next_index: int


class SharedLogs:
    """Logs that many may read at once, at the same place."""

    def __init__(self, logs: LogStore, feed: Feed) -> None:
        self._logs = logs
        self._feed = feed
        self._reading: dict[tuple[StageLogKey, LogPosition, int, int], asyncio.Task[StageLog]] = {}

    async def read(self, key: StageLogKey, position: LogPosition, from_index: int) -> StageLog:
        """A page of what the reader may not have; a reading that began before the log grew last is not used."""
        place = key, position, from_index, self._feed.growths
        reading = self._reading.get(place)
        if reading is None:
            reading = asyncio.create_task(
                self._logs.read(key, from_index, _MOST_BLOCKS, position.ranges, _MOST_CHARACTERS)
            )
            self._reading[place] = reading
            reading.add_done_callback(lambda _: self._reading.pop(place))
        return await asyncio.shield(reading)


def position_in(deployment: Deployment, topic: LogTopic, known: LogPosition | None) -> LogPosition | None:
    """Where the reader of a log stands now that the deployment is as it is; `None` when it has no such stage."""
    stage = deployment.stage(topic.stage_id)
    if stage is None:
        return None
    return known if known is not None and known.run == stage.retried_count else LogPosition(stage.retried_count)


async def new_blocks(
    logs: SharedLogs, topic: LogTopic, position: LogPosition, from_index: int
) -> AsyncIterator[tuple[LogEvent, LogPosition]]:
    """What the client does not have from an index on, event by event, each with where the client stands then."""
    key = StageLogKey(topic.deployment_id, topic.stage_id, position.run)
    index: int | None = from_index
    while index is not None:
        page = await logs.read(key, position, index)
        blocks = tuple(block for block in page.blocks if not position.has(block.index))
        completed = page.completed and page.next_index is None
        if blocks or completed != position.completed:
            position = position.with_blocks((block.index for block in blocks), completed)
            event = LogEvent(
                deployment_id=topic.deployment_id,
                stage_id=topic.stage_id,
                retried_count=position.run,
                blocks=blocks,
                completed=completed,
                next_index=position.next_index,
            )
            yield event, position
        index = page.next_index
