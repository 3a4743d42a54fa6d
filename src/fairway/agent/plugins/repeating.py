"""Which stages may be asked for twice, after a plugin or an agent went away in the middle of one, and how often.

Plugins made with the SDK go on where they were. Of others nothing is known but what PipeCD says of its own stages: some
only wait or look, and those of Kubernetes bring about a state, however often they are asked to. Any other may do harm
when it is done twice, so it fails and is rolled back. A rollback is always worth another try.

A stage may itself be what ends its plugin, by a defect or by the memory it needs, and would do so for ever: after some
ends in a row it fails. By what a process was ended does not tell: who is short of memory is killed from outside, too.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from time import monotonic
from typing import Final, NamedTuple

from fairway.agent.plugins.client import PluginClient, PluginGone, StageResult, StageWork
from fairway.agent.plugins.stopping import GivenUp, stopped
from fairway.model.stage import Stage

_WAITING: Final = frozenset({"WAIT", "WAIT_APPROVAL", "ANALYSIS"})
_DECLARATIVE: Final = "K8S_"
#: How often the process may end in a row while it runs one stage.
_MOST_ENDS: Final = 3
#: A process that held so long with the stage in it did not end because that was begun; one that waits for days for a
#: person may see its plugin end now and then.
_HELD_SECONDS: Final = 600.0


def may_repeat(client: PluginClient, stage: Stage) -> bool:
    """Whether the plugin may be asked again for a stage that it may have begun."""
    return client.resumes or stage.is_rollback or stage.name in _WAITING or stage.name.startswith(_DECLARATIVE)


async def _say_nothing(_line: str) -> None: ...


class Asking(NamedTuple):
    """What is needed to ask for a stage again."""

    #: The plugin once it answers again; PluginGone when it does not come back.
    back: Callable[[], Awaitable[PluginClient]]
    #: Whether the stage is being given up meanwhile.
    given_up: Callable[[], bool] = lambda: False
    #: Seconds that pass, whatever the clock is set to.
    steady: Callable[[], float] = monotonic
    #: Writes a line into the log of the stage.
    say: Callable[[str], Awaitable[None]] = _say_nothing


async def reconnected(
    back: Callable[[], Awaitable[PluginClient]], report: Callable[[str], Awaitable[None]]
) -> PluginClient:
    """The plugin once it answers, without a limit of time; `report` gets what is waited for, and "" at its end."""
    waits = False
    while True:
        try:
            client = await back()
        except PluginGone as error:
            waits = True
            await report(str(error))
            continue
        if waits:
            await report("")
        return client


async def execute_at_last(client: PluginClient, work: StageWork, asking: Asking) -> StageResult:
    """The result of a stage, also when its plugin had to be started again meanwhile and can go on; PluginGone when it
    cannot, or ends each time."""
    ends = 0
    while True:
        if client.condition.lost:
            client = await asking.back()
        began = asking.steady()
        try:
            return await client.execute(work)
        except PluginGone as error:
            # One that is to end, and may have kept its plugin from answering, is not begun again to be ended.
            if not may_repeat(client, work.stage) or (client.condition.hung and asking.given_up()):
                raise
            await asking.say(f"{error}; waiting until plugin {client.name} is started again")
            again = await asking.back()
            how = client.condition.trouble or "broke off the stage"
            await asking.say(f"plugin {client.name} {how} and is started again; the stage goes on")
        ends = 1 if asking.steady() - began >= _HELD_SECONDS else ends + 1
        # In a process that plugins share it may be another's stage that ends it, and what those stages have started
        # outlives it: they are taken up however often that is needed.
        if ends >= _MOST_ENDS and not client.condition.is_shared:
            why = f"plugin {client.name} {client.condition.trouble or 'broke off'} each of the {ends} times that it ran"
            raise await _given_up(again, work, f"{why} {work.stage.name}", asking)
        client = again


async def _given_up(client: PluginClient, work: StageWork, reason: str, asking: Asking) -> PluginGone:
    """The error of a stage that is not asked for again; what it has started must not outlive it."""
    with suppress(PluginGone):
        await stopped(client, asking.back, GivenUp(work.deployment.id, work.stage, reason, with_log=False), None)
    return PluginGone(reason)
