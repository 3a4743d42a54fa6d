"""How much of a stage's output is kept: its log has a limit, and its agent has one for a day.

Output beyond a limit is dropped, after a line that says so. The stage goes on, and how it ends is reported as ever.
"""

from collections import OrderedDict
from collections.abc import Sequence
from datetime import datetime

from fairway.model.limits import bytes_of
from fairway.model.log_block import LogBlock, LogSeverity
from fairway.server.agent_service.quotas import Intake, Quotas
from fairway.server.logs import LogStore, StageLogKey

#: How many logs a server knows the size of; the size of another is looked up.
_KNOWN_LOGS = 10_000


class LogQuota:
    """The sizes of the logs that grow. It belongs to one event loop."""

    def __init__(self, quotas: Quotas) -> None:
        self._most = quotas.stage_log_bytes
        self.intake = Intake(quotas)
        #: `None` for a log that is full.
        self._sizes: OrderedDict[StageLogKey, int | None] = OrderedDict()

    async def admitted(
        self, logs: LogStore, key: StageLogKey, agent_id: str, blocks: Sequence[LogBlock], at: datetime
    ) -> list[LogBlock]:
        """The blocks that are kept; where output is dropped for the first time, the last one says so."""
        if key not in self._sizes:
            self._know(key, await logs.size(key))
        size = self._sizes[key]
        if size is None or not blocks:
            return []
        if not self.intake.has_room(agent_id, at):
            self._know(key, None)
            return [_last_line(blocks[0], f"agent {agent_id} {self.intake.exceeded}")]
        kept, size = fitting(blocks, size, self._most)
        if len(kept) == len(blocks):
            self._know(key, size)
            return kept
        self._know(key, None)
        reached = f"the log limit of {self._most} bytes for one stage (--stage-log-mib) is reached"
        return [*kept, _last_line(blocks[len(kept)], reached)]

    def _know(self, key: StageLogKey, size: int | None) -> None:
        self._sizes[key] = size
        self._sizes.move_to_end(key)
        if len(self._sizes) > _KNOWN_LOGS:
            self._sizes.popitem(last=False)


def fitting(blocks: Sequence[LogBlock], size: int, most: int) -> tuple[list[LogBlock], int]:
    """The first blocks that a log of this size has room for, and its size with them."""
    kept: list[LogBlock] = []
    for block in blocks:
        with_it = size + bytes_of(block.log)
        if with_it > most:
            break
        kept.append(block)
        size = with_it
    return kept, size


def _last_line(dropped: LogBlock, why: str) -> LogBlock:
    """What a log ends with in place of the first block that is dropped."""
    log = f"{why}; further output of this stage is dropped\n"
    return LogBlock(index=dropped.index, log=log, created_at=dropped.created_at, severity=LogSeverity.ERROR)
