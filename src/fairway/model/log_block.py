"""A piece of a stage's log, numbered so that sending it twice stores it once."""

import enum
from datetime import datetime

import msgspec


class LogSeverity(enum.Enum):
    """How a piece of log is meant."""

    #: What is going on.
    INFO = "info"
    #: Something went as wanted.
    SUCCESS = "success"
    #: Something went wrong.
    ERROR = "error"


class LogBlock(msgspec.Struct, frozen=True, kw_only=True):
    """One piece of the log of one stage."""

    #: Grows within a stage, over restarts of the agent too.
    index: int
    log: str
    created_at: datetime
    severity: LogSeverity = LogSeverity.INFO
