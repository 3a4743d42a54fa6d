"""Reports to the server, in order, none lost: sent at once while the server answers, kept on disk while it does not.

Reports of one stream (a deployment, mostly) arrive in the order they were made; different streams do not wait for each
other, except that the log of a stage waits for its deployment, which the server must know first. `deliver` returns when
the report is safe, with the server or on disk, and the work that it tells of goes on in either case. What is kept
survives the agent, and is sent by `run` when the server is back.

A report that the server refuses for good is not kept: `deliver` raises, and one that had been kept before is dropped
with a line in the log, because nothing that we could send would change the server's mind. One that this version cannot
read, because a later one has kept it, stays where it is for an agent that can; those behind it go on.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from itertools import chain
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple, Protocol, Self
from weakref import WeakValueDictionary

import structlog
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from fairway.agent.control_plane import KeyRefused, ServerAway, ServerHasIt, ServerRefused
from fairway.agent.outbox_file import OutboxError, OutboxFile
from fairway.agent.reports import Report
from fairway.git.retry import Retry
from fairway.rpc.agent_api import messages

_log = structlog.get_logger()

#: How many streams are sent at once when the server is back.
_AT_ONCE = 16
#: How long a server may take to be called away before others are spared the wait.
_SILENCE_SECONDS = 1.0
#: How long work waits for the server to take a report. Then it is kept, and sent with all the time a call may have.
_PROMPT_SECONDS = 3.0
#: Waits between attempts while the server is away; there is no last one.
_PATIENCE = Retry(first_delay=0.2, longest_delay=15.0)


_LOG_OF = "log of "


def log_stream(deployment_id: str, stage_id: str) -> str:
    """The stream of a stage's log: beside its deployment's, because a long log must not hold up the news that its
    stage has ended; but behind it, because a server refuses the log of a deployment that it does not know."""
    return f"{_LOG_OF}{deployment_id} {stage_id}"


def _before(stream: str) -> str:
    """The stream that this one waits for; empty when it waits for none."""
    return stream.removeprefix(_LOG_OF).partition(" ")[0] if stream.startswith(_LOG_OF) else ""


class Server(Protocol):
    """Whoever reports are sent to."""

    async def send(self, *reports: Report) -> None:
        """Tell the server, in this order; of a ServerRefused `taken` says how many it took before."""
        ...


#: Returns when something may be told; never, when this agent is not at work any more.
Gate = Callable[[], Awaitable[None]]


async def _open_gate() -> None:
    """Nobody keeps anything back."""


class _Kept(NamedTuple):
    number: int
    method: str
    #: None where it cannot be read.
    report: Report | None


class Outbox:
    """The reports of one agent. It belongs to one event loop."""

    def __init__(self, file: OutboxFile, threads: ThreadPoolExecutor, server: Server, patience: Retry) -> None:
        self._file = file
        self._thread = threads
        self._server = server
        self._patience = patience
        self._gate: Gate = _open_gate
        #: The same for logs, which tell of what was begun before.
        self._log_gate: Gate = _open_gate
        self._prompt_seconds = _PROMPT_SECONDS
        #: Held while a report of the stream is under way, so that the next one cannot overtake it.
        #: Whoever uses one holds it; one that nobody uses is gone.
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._streams: set[str] = set()
        #: Stream → the number of the last report in it that cannot be read and is passed over.
        self._passed: dict[str, int] = {}
        self._something = asyncio.Event()
        self._nothing = asyncio.Event()
        #: Somebody else has just been answered by the server.
        self._heard = asyncio.Event()
        #: Whether the last report found nobody; people are told when that changes, not each time.
        self._away = False
        #: Whether finding that out took long, as on a line that is cut without a word. Then only what was kept is
        #: tried, and nobody else waits for the same answer.
        self._silent = False

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        path: Path,
        server: Server,
        patience: Retry = _PATIENCE,
        gate: "Gate | None" = None,
        log_gate: "Gate | None" = None,
        only_logs: bool = False,
    ) -> AsyncIterator[Self]:
        """The outbox in a file, sending while the block lasts; each report waits at the gate first, those of logs at
        their own. With `only_logs` the rest of what is kept is dropped: somebody else has told more since."""
        threads = ThreadPoolExecutor(1, thread_name_prefix="outbox")
        loop = asyncio.get_running_loop()
        file = await loop.run_in_executor(threads, OutboxFile, path)
        outbox = cls(file, threads, server, patience)
        outbox._gate = gate or _open_gate
        outbox._log_gate = log_gate or outbox._gate
        if only_logs:
            await outbox._drop_all_but_logs()
        await outbox._take_up()
        sending = asyncio.create_task(outbox._send_for_ever(), name="outbox")
        try:
            yield outbox
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
            await loop.run_in_executor(threads, file.close)
            threads.shutdown()

    async def deliver(self, stream: str, *reports: Report) -> bool:
        """Make reports safe, in their order; whether the server has them already. ServerRefused when there is one that
        it will never take: then those before it are safe, and those behind it are dropped."""
        failures = 0
        async with self._turn(stream):
            while True:
                await (self._log_gate if _before(stream) else self._gate)()
                # One that the disk did not take gets the time of the whole call.
                seconds = None if failures else self._prompt_seconds
                if not self._must_wait(stream) and await self._sent(reports, seconds):
                    return True
                try:
                    await self._keep(stream, reports)
                    return False
                except OutboxError as error:
                    # While the disk is full too, the work that the report tells of waits here, for either.
                    failures += 1
                    _log.error("a report can be neither sent nor kept", reason=str(error))
                    await self._patience.sleep(self._patience.delay(failures))

    async def _drop_all_but_logs(self) -> None:
        dropped = await self._in_thread("DELETE FROM kept WHERE stream NOT LIKE ? RETURNING number", (f"{_LOG_OF}%",))
        if dropped:
            _log.warning("reports from before another agent was at work are dropped", reports=len(dropped))

    async def drained(self) -> None:
        """Wait until the server has everything."""
        await self._nothing.wait()

    def try_now(self) -> None:
        """The server answers again: what is kept need not wait for the next attempt."""
        self._heard.set()

    def keeps(self, stream: str) -> bool:
        """Whether there are reports of a stream that the server does not know yet."""
        return stream in self._streams

    @property
    def kept_streams(self) -> int:
        """How many streams have reports that the server does not know yet."""
        return len(self._streams)

    @property
    def damage(self) -> str:
        """What was lost with a damaged file; empty when nothing was."""
        return self._file.damage

    async def _take_up(self) -> None:
        """Know what an earlier process has kept."""
        self._streams = {str(stream) for (stream, *_) in await self._in_thread("SELECT DISTINCT stream FROM kept", ())}
        (self._something if self._streams else self._nothing).set()

    def _turn(self, stream: str) -> asyncio.Lock:
        return self._turns.setdefault(stream, asyncio.Lock())

    def _must_wait(self, stream: str) -> bool:
        """Whether a report has to stand behind others that are kept."""
        # While nothing is kept nobody tries, so whoever comes does, also on a line that was silent.
        return bool(self._streams) and (self._silent or not self._streams.isdisjoint({stream, _before(stream)}))

    async def _sent(self, reports: Sequence[Report], seconds: float | None = None) -> bool:
        """Send reports at once; whether the server took them. One that took them too late gets them again, which does
        no harm."""
        began = monotonic()
        try:
            async with asyncio.timeout(seconds):
                await self._server.send(*reports)
        except (ServerAway, KeyRefused, TimeoutError) as error:
            # An agent that was locked out may be let in again, and what it did meanwhile has happened.
            if not self._away:
                _log.warning("the server is away; reports are kept on disk", reason=str(error) or "no answer")
            self._away, self._silent = True, monotonic() - began > _SILENCE_SECONDS
            return False
        if self._away:
            _log.info("the server takes reports again")
        self._away = self._silent = False
        return True

    async def _keep(self, stream: str, reports: Sequence[Report]) -> None:
        rows = ((stream, report.method, report.request.SerializeToString()) for report in reports)
        places = ", ".join(["(?, ?, ?)"] * len(reports))
        try:
            await self._in_thread(f"INSERT INTO kept (stream, method, request) VALUES {places}", tuple(chain(*rows)))  # noqa: S608  # question marks alone
        except asyncio.CancelledError:
            # The thread goes on, and keeps it; whoever sends finds out.
            self._has_kept(stream)
            raise
        self._has_kept(stream)

    def _has_kept(self, stream: str) -> None:
        self._streams.add(stream)
        self._nothing.clear()
        self._something.set()

    async def _send_for_ever(self) -> None:
        failures = 0
        while True:
            await self._something.wait()
            await self._gate()
            waiting = sorted(each for each in self._streams if _before(each) not in self._streams)[:_AT_ONCE]
            # To the end of each: nobody sends the same beside it.
            outcomes = await asyncio.gather(*map(self._send_stream, waiting), return_exceptions=True)
            again = list(map(_is_away, outcomes))
            failures = failures + 1 if any(again) else 0
            if failures:
                await self._pause(self._patience.delay(failures))
            if not self._streams:
                self._something.clear()
                self._nothing.set()

    async def _pause(self, seconds: float) -> None:
        """Wait before the next attempt, unless somebody hears of the server before."""
        self._heard.clear()
        either = [asyncio.ensure_future(each) for each in (self._patience.sleep(seconds), self._heard.wait())]
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in either:
                each.cancel()
            await asyncio.gather(*either, return_exceptions=True)

    async def _send_stream(self, stream: str) -> bool:
        """Send what is kept of one stream; whether the server was away."""
        while kept := await self._oldest(stream):
            if kept.report is None:
                _log.error(
                    "a report that was kept is of another version; one that can read it sends it", method=kept.method
                )
                self._passed[stream] = kept.number
                continue
            try:
                if not await self._sent((kept.report,)):
                    return True
            except ServerHasIt as error:
                # It took the report when it was sent first, only later than anybody waited.
                _log.debug("the server has a report that was kept", method=kept.method, reason=str(error))
            except ServerRefused as error:
                _log.error("the server refuses a report that was kept", method=kept.method, reason=str(error))
            await self._in_thread("DELETE FROM kept WHERE number = ?", (kept.number,))
        return False

    async def _oldest(self, stream: str) -> _Kept | None:
        query = "SELECT number, method, request FROM kept WHERE stream = ? AND number > ? ORDER BY number LIMIT 1"
        place = (stream, self._passed.get(stream, 0))
        rows = await self._in_thread(query, place)
        if not rows:
            # Under the stream's lock, so that a report that is being delivered now is not left behind.
            async with self._turn(stream):
                if not await self._in_thread(query, place):
                    self._streams.discard(stream)
            return None
        number, method, request = rows[0]
        return _Kept(number, method, _read(method, request))

    async def _in_thread(self, statement: str, values: tuple[object, ...]) -> list[Any]:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._file.execute, statement, values)


def _is_away(outcome: bool | BaseException) -> bool:
    """Whether a stream is to be tried again later; what went wrong here, and not with the server, is told."""
    if isinstance(outcome, OutboxError):
        _log.error("what was sent cannot be noted; it is sent again", reason=str(outcome))
    elif isinstance(outcome, BaseException):
        # Everything that this agent has to tell would wait for ever, if this ended here.
        _log.error("reports are not sent by a defect of this agent; they are tried again", exc_info=outcome)
    return outcome is not False


def _read(method: str, request: bytes) -> Report | None:
    """A report as it was kept; None for one that this version does not know."""
    known = messages.DESCRIPTOR.services_by_name["PipedService"].methods_by_name
    if method not in known:
        return None
    try:
        return Report(method, GetMessageClass(known[method].input_type).FromString(request))
    except DecodeError:
        return None
