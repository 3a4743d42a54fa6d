"""What keeps a deployment from being got ready for a while, told to people while it lasts.

It stands in the agent's log and status, and with the server, where most of them look.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog

from fairway.agent import reports
from fairway.agent.deployments import Underway
from fairway.agent.outbox import Outbox
from fairway.errors import FairwayError
from fairway.model.deployment import Deployment
from fairway.model.stage import WAITS_FOR

_log = structlog.get_logger()

T = TypeVar("T")


async def or_said_why(outbox: Outbox, underway: Underway, prepare: Callable[[Deployment], Awaitable[T]]) -> T:
    """The deployment got ready; what keeps it from that for a while is told, once."""
    try:
        prepared = await prepare(underway.deployment)
    except FairwayError as error:
        if error.retry and underway.trouble != str(error):
            _log.warning("a deployment waits", deployment=underway.deployment.id, reason=str(error))
            await _tell(outbox, underway, str(error))
        raise
    if underway.trouble:
        await _tell(outbox, underway, "")
    return prepared


async def _tell(outbox: Outbox, underway: Underway, trouble: str) -> None:
    underway.trouble = trouble
    await underway.known()
    noted = {WAITS_FOR: trouble}
    await outbox.deliver(underway.deployment.id, reports.shared_noted(underway.deployment.id, noted))
