"""Logs of stages on their way to the server, and the end of one whose plugin cannot write it any more.

A log goes beside its deployment's own stream: a long one must not hold up the news that its stage has ended.
"""

from datetime import datetime

import structlog

from fairway.agent import reports
from fairway.agent.control_plane import ServerRefused
from fairway.agent.outbox import Outbox
from fairway.model.limits import REASON, cut
from fairway.model.log_block import LogBlock, LogSeverity

_log = structlog.get_logger()


async def deliver_log(outbox: Outbox, place: reports.LogPlace, report: reports.Report) -> None:
    """Tell more of a log, whatever the server thinks of it."""
    try:
        await outbox.deliver(f"log of {place.deployment_id} {place.stage_id}", report)
    except ServerRefused as error:
        # The work is done whatever becomes of its log; PipeCD's server refuses to be told the end of one twice.
        _log.warning("the server refuses lines of a log", stage=place.stage_id, reason=str(error))


async def add_line(outbox: Outbox, place: reports.LogPlace, text: str, at: datetime) -> None:
    """Write a line of the agent's own into the log of a stage that runs; a long line is cut."""
    number = int(at.timestamp() * 1_000_000)
    line = LogBlock(index=number, log=cut(text, REASON), created_at=at, severity=LogSeverity.ERROR)
    await deliver_log(outbox, place, reports.logged(place, [line], completed=False))


async def end_log(outbox: Outbox, place: reports.LogPlace, reason: str, at: datetime) -> None:
    """End a log with the reason for which nobody will write more of it."""
    # Above the numbers of whoever wrote before: PipeCD's plugins count from the time in seconds, ours in microseconds.
    number = int(at.timestamp() * 1_000_000)
    last = LogBlock(index=number, log=reason, created_at=at, severity=LogSeverity.ERROR)
    await deliver_log(outbox, place, reports.logged(place, [last], completed=True))
