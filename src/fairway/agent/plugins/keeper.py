"""Keeps one process of plugins running: started, known by its stages, pinged, ended when it hangs, started again.

Each start has channels of its own, so that nobody waits for a connection to something that is gone. A process that
ends takes with it what it has started; then it is started again, later each time that it does not hold.
"""

import asyncio
import contextlib
import signal
from collections.abc import Callable, Mapping

import msgspec
import structlog
from grpc import aio

from fairway.agent.plugins.client import PluginClient, PluginGone, PluginRefused
from fairway.agent.plugins.condition import STARTING, Condition
from fairway.agent.plugins.identity import LEAVE_SECONDS, Identity, end_group, identity_of
from fairway.agent.plugins.program import SHARED_HOST, Launched, Program
from fairway.agent.plugins.stage_memory import StageMemory
from fairway.agent.plugins.stage_names import checked_names
from fairway.config.plugin_source import BadPlugin
from fairway.errors import FairwayError
from fairway.git.retry import Retry
from fairway.rpc.channel import CHANNEL_OPTIONS

_log = structlog.get_logger()


class Patience(msgspec.Struct, frozen=True, kw_only=True):
    """How long plugins are waited for."""

    #: From the start to the first answer.
    ready: float = 30.0
    #: How long an agent waits for all its plugins before it begins to work without the slow ones.
    together: float = 2.0
    #: Between two pings, and for the answer to one.
    ping: float = 5.0
    answer: float = 10.0
    #: So many pings in a row without an answer: it hangs.
    misses: int = 3
    #: For a plugin that is being started again.
    back: float = 300.0
    #: Between two starts.
    restart: Retry = Retry(first_delay=0.1, longest_delay=30.0)
    #: One that held so long is well: what happened before is forgotten.
    well: float = 60.0


class Keeper:
    """One process of plugins. It belongs to one event loop."""

    def __init__(
        self,
        program: Program,
        patience: Patience,
        noted: Callable[[str, Identity | None], None],
        memory: StageMemory,
    ) -> None:
        self.program = program
        #: How often it was started again.
        self.restarts = 0
        #: Why it does not answer; empty while it does.
        self.trouble = STARTING
        #: The last line that it wrote before its last end: for who looks after the agent, since it may say anything.
        self.last_words = ""
        #: Plugin → its stages, as it named them when it last answered, be it to an earlier agent.
        self.stages: Mapping[str, tuple[str, ...]] = {plugin: memory.of(plugin) for plugin in program.plugins}
        #: Set after the first attempt to start it.
        self.tried = asyncio.Event()
        self.identity: Identity | None = None
        self._patience = patience
        self._noted = noted
        self._memory = memory
        self._clients: Mapping[str, PluginClient] = {}
        #: What those clients are told of the process.
        self._condition = Condition()
        self._channels: list[aio.Channel] = []
        self._launched: Launched | None = None
        self._ready = asyncio.Event()
        self._settled = asyncio.Event()
        #: Starts in a row that brought nothing.
        self._failures = 0
        #: Ends in a row of a process that had answered, each of them soon after its start.
        self._ends = 0
        self._closing: set[asyncio.Task[None]] = set()

    @property
    def has_answered(self) -> bool:
        """Whether it has answered this agent."""
        return bool(self._clients)

    @property
    def not_started(self) -> str:
        """Why it has not answered yet, as words after its name."""
        return "has not started yet" if self.trouble == STARTING else f"does not start: {self.trouble}"

    @property
    def given_up(self) -> bool:
        """Whether nobody should wait for it; it is tried again all the same."""
        return self._failures >= _GIVEN_UP

    def client(self, plugin: str) -> PluginClient:
        """The plugin as it was last seen; PluginGone before it first answered."""
        if plugin not in self._clients:
            raise PluginGone(f"plugin {plugin} {self.not_started}")
        return self._clients[plugin]

    async def settled(self) -> None:
        """Wait until it has answered, or is given up."""
        await self._settled.wait()

    async def back(self, plugin: str) -> PluginClient:
        """The plugin once it answers; PluginGone when it does not in time."""
        try:
            async with asyncio.timeout(self._patience.back):
                while True:
                    await self._ready.wait()
                    client = self.client(plugin)
                    if await self._answers(client):
                        return client
                    # It has just ended, and whoever watches it has not seen it yet.
                    await asyncio.sleep(0.01)
        except TimeoutError as error:
            raise PluginGone(f"plugin {plugin} did not come back{self._why}") from error

    async def start(self) -> None:
        """Start the process and wait until its plugins have named their stages; BadPlugin when it does not come up."""
        launched = self._launched = await self.program.launch()
        self.identity = identity_of(launched.process.pid)
        self._noted(self.program.name, self.identity)
        try:
            async with asyncio.timeout(self._patience.ready):
                await self._greet(launched)
        except TimeoutError as error:
            await self._end()
            where = " and ".join(launched.addresses.values()) if len(launched.addresses) == 1 else "their sockets"
            raise BadPlugin(
                f"{self._called} did not answer on {where} within {self._patience.ready:g}s after its start"
            ) from error
        except _DOES_NOT_START:
            await self._end()
            raise
        self.trouble, self._failures = "", 0
        self._ready.set()
        self._settled.set()

    async def run(self) -> None:
        """Start it and keep it running until cancelled."""
        while True:
            await self._try_to_start()
            self.tried.set()
            if self._launched is not None:
                began = self._patience.restart.steady()
                why = await self._watched(self._launched)
                held = self._patience.restart.steady() - began >= self._patience.well
                self._ends = 1 if held else self._ends + 1
                self._lost(why)
                await self._end(_HUNG_SECONDS)
                self.restarts += 1
            await self._patience.restart.sleep(self._patience.restart.delay(self._ends + self._failures))

    async def _try_to_start(self) -> None:
        try:
            await self.start()
        except _DOES_NOT_START as error:
            self._not_started(error)
        except Exception as defect:
            _log.exception("internal error while starting a plugin", plugin=self.program.name)
            await self._end()
            self._not_started(defect)

    async def close(self) -> None:
        """End the process: ours by closing its pipe, a foreign one by a signal."""
        self._ready.clear()
        launched = self._launched
        if launched is not None and launched.process.stdin is not None:
            launched.process.stdin.close()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LEAVE_SECONDS):
                    await launched.process.wait()
        await self._end()
        await asyncio.gather(*self._closing)

    async def _greet(self, launched: Launched) -> None:
        channels = {
            name: aio.insecure_channel(address, options=_OPTIONS) for name, address in launched.addresses.items()
        }
        self._channels = list(channels.values())
        clients, stages = {}, {}
        condition = Condition(is_shared=self._is_shared)
        for name, channel in channels.items():
            asked = PluginClient(name, channel)
            stages[name] = await self._first_answer(asked, launched.process)
            resumes = await asked.can_stop(self._patience.answer)
            clients[name] = PluginClient(name, channel, resumes, self.program.targets[name])
            clients[name].condition = condition
        if self.identity is not None:
            await asyncio.to_thread(self.program.verify, self.identity)
        self._clients, self.stages, self._condition = clients, stages, condition
        for name, named in stages.items():
            self._memory.note(name, named)

    async def _first_answer(self, client: PluginClient, process: asyncio.subprocess.Process) -> tuple[str, ...]:
        while True:
            try:
                answer = await client.defined_stages(seconds=2.0)
            except PluginGone as error:
                if process.returncode is not None:
                    raise self._ended_early(process.returncode) from error
                await asyncio.sleep(0.01)
                continue
            if process.returncode is not None:
                # Somebody answers on its port who is not this process.
                raise self._ended_early(process.returncode)
            return checked_names(client.name, answer)

    def _ended_early(self, status: int) -> BadPlugin:
        return BadPlugin(f"{self._called} ended with status {status} when it was started")

    async def _watched(self, launched: Launched) -> str:
        """Why the process is not of use any more: it has ended, or it hangs."""
        ended = asyncio.create_task(launched.process.wait())
        pinging = asyncio.create_task(self._hangs())
        try:
            await asyncio.wait({ended, pinging}, return_when=asyncio.FIRST_COMPLETED)
            self._condition.hung = not ended.done()
            return _ended_as(ended.result()) if ended.done() else self._condition.trouble
        finally:
            for task in (ended, pinging):
                task.cancel()
            await asyncio.gather(ended, pinging, return_exceptions=True)

    async def _hangs(self) -> None:
        """Returns when the process has not answered several pings in a row."""
        client = next(iter(self._clients.values()))
        misses, answered = 0, self._patience.restart.steady()
        while misses < self._patience.misses:
            await asyncio.sleep(self._patience.ping)
            if await self._answers(client):
                misses, answered, self._condition.trouble = 0, self._patience.restart.steady(), ""
                continue
            misses += 1
            # Said at the first miss: what times out meanwhile does so because of this.
            self._condition.trouble = f"did not answer for {self._patience.restart.steady() - answered:.0f} s"

    async def _answers(self, client: PluginClient) -> bool:
        try:
            await client.defined_stages(seconds=self._patience.answer)
        except PluginGone:
            return False
        except PluginRefused:
            return True
        return True

    def _not_started(self, error: Exception) -> None:
        self._failures += 1
        if self.given_up:
            self._settled.set()
        known, self.trouble = self.trouble, str(error)
        if known == self.trouble:
            return
        _log.error(
            "a plugin does not start",
            plugin=self.program.name,
            reason=self.trouble,
            failures=self._failures,
            last_words=self.last_words,
        )

    def _lost(self, why: str) -> None:
        self._ready.clear()
        self.trouble = f"it {why}"
        self._condition.trouble, self._condition.lost = why, True
        _log.error(
            "a plugin is started again", plugin=self.program.name, reason=self.trouble, restarts=self.restarts + 1
        )

    async def _end(self, grace: float = LEAVE_SECONDS) -> None:
        """End what is left of the process, and everything that it started."""
        launched, self._launched = self._launched, None
        if launched is None:
            return
        if self.identity is not None:
            await end_group(self.identity, grace)
        await launched.process.wait()
        await launched.output.close()
        self.last_words = launched.output.last_words
        self._noted(self.program.name, None)
        for channel in self._channels:
            # With grace: a call that is under way is to fail as one whose plugin is gone, not to be cancelled.
            closing = asyncio.create_task(channel.close(_CLOSE_SECONDS))
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)
        self._channels = []

    @property
    def _called(self) -> str:
        return "the process that plugins share" if self._is_shared else f"plugin {self.program.name}"

    @property
    def _is_shared(self) -> bool:
        return self.program.name == SHARED_HOST

    @property
    def _why(self) -> str:
        return f": {self.trouble}" if self.trouble else ""


def _ended_as(status: int) -> str:
    with contextlib.suppress(ValueError):
        return f"was ended by {signal.Signals(-status).name}"
    return f"ended with status {status}"


#: What keeps a process from coming up, and may be otherwise another time.
_DOES_NOT_START = (FairwayError, OSError)
#: After so many starts in vain a plugin is not waited for.
_GIVEN_UP = 5
_CLOSE_SECONDS = 1.0
#: How long a process that hangs may take to leave; it seldom will.
_HUNG_SECONDS = 2.0
#: A plugin is near and either there or not: a connection is tried again at once.
_OPTIONS = (
    *CHANNEL_OPTIONS,
    ("grpc.initial_reconnect_backoff_ms", 20),
    ("grpc.max_reconnect_backoff_ms", 200),
)
