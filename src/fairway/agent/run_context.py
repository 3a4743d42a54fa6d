"""What a deployment is run with."""

from collections.abc import Callable, Coroutine
from datetime import datetime
from time import monotonic
from typing import Any

import msgspec

from fairway.agent import reports
from fairway.agent.masking import Opened
from fairway.agent.other_agent import Find
from fairway.agent.outbox import Outbox
from fairway.agent.planning import Plugins
from fairway.agent.plugins.client import Sources
from fairway.clock import Clock
from fairway.config.application import ApplicationConfig
from fairway.model.command import CancelDeployment
from fairway.model.deployment import Deployment


class Cancelling(msgspec.Struct, frozen=True):
    """A user cancels a deployment."""

    command: CancelDeployment
    commander: str


class Running(msgspec.Struct, frozen=True, kw_only=True):
    """What a deployment is run with."""

    config: ApplicationConfig
    sources: Sources
    plugins: Plugins
    outbox: Outbox
    clock: Clock
    #: What was opened in the sources, and for plugins that asked.
    opened: Opened
    #: Between the running commit and the one to deploy; None when nothing runs yet.
    changed_files: tuple[str, ...] | None
    #: Told when a stage has ended: deployment, stage.
    stage_ended: Callable[[str, str], Coroutine[Any, Any, None]]
    #: What else is told when the deployment has ended.
    told_with_end: Callable[[Deployment], tuple[reports.Report, ...]]
    #: A deployment as the server has it.
    find: Find
    #: Returns when that moment has come.
    sleep_until: Callable[[datetime], Coroutine[Any, Any, None]]
    #: Seconds that pass, whatever the clock is set to.
    steady: Callable[[], float] = monotonic
