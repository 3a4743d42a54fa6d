"""Builders for the tests of stage logs."""

from datetime import UTC, datetime, timedelta

from fairway.model.log_block import LogBlock
from fairway.server.logs import StageLogKey

#: When the first block of every test was made.
START = datetime(2026, 1, 1, tzinfo=UTC)
KEY = StageLogKey("deployment-1", "stage-1", 0)


def a_block(index: int, log: str | None = None, *, after: int = 0) -> LogBlock:
    """A block that says its index, made so many seconds after the first."""
    return LogBlock(
        index=index, log=f"line {index}" if log is None else log, created_at=START + timedelta(seconds=after)
    )


def blocks(*indexes: int) -> list[LogBlock]:
    return [a_block(index) for index in indexes]
