"""What keeps a deployment from being got ready for a while, told to people while it lasts.

It stands in the agent's log and status, and with the server, where most of them look.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import structlog

from fairway.agent import reports
from fairway.agent.deployments import Underway
from fairway.agent.outbox import Outbox
from fairway.agent.planning import Plugins
from fairway.agent.plugins.client import PluginGone
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


def await_plugins(deployment: Deployment, plugins: Plugins) -> None:
    """PluginGone while no plugin can serve a stage that has not ended, and one that has not started may.

    A stage that runs may have started work that only its plugin can follow or end.
    """
    for stage in {each.name for each in deployment.stages if not each.status.is_terminal}:
        serving = plugins.plugins_of_stage.get(stage, ())
        if not serving and (missing := plugins.missing()):
            raise PluginGone(missing)
        _any_started(serving, plugins)


def _any_started(names: Sequence[str], plugins: Plugins) -> None:
    trouble: PluginGone | None = None
    for name in names:
        try:
            plugins.client(name)
            return
        except PluginGone as error:
            trouble = error
    if trouble is not None:
        raise trouble
