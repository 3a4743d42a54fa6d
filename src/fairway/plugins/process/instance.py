"""The process of one instance: started, watched, started again when it ends by itself, and ended when asked to.

What is about to happen is written down before it happens, so that a keeper that was killed in between finds the process
by its mark. A process runs in a session of its own and is ended with all that it has started.
"""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec

from fairway.plugins.process import health
from fairway.plugins.process.identity import MARK, find_marked, identity_of, is_alive, signal_group
from fairway.plugins.process.records import Identity, Instance, Version
from fairway.plugins.process_end import process_end

#: How often a process that is not well yet is looked at.
_EAGER_SECONDS = 0.05
#: A process that ends by itself is started again after the first, and later each time, but no later than the second.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 15.0
#: So many bad answers in a row, and a process that was well is not any more.
_BAD_ANSWERS = 3
#: How often a process is looked for that may have been started just before its keeper was killed.
_SEARCHES = 10
_MOST_OUTPUT = 10 * 1024 * 1024
_KEPT_OUTPUT = 1024 * 1024


class Kept:
    """One instance and its process. `changed` is called with each change of the record, and keeps it."""

    def __init__(
        self, record: Instance, version: Version | None, directory: Path, changed: Callable[[Instance | None], None]
    ) -> None:
        self.record = record
        #: None for a version that is wanted no more: such a process is not started again.
        self._version = version
        self._directory = directory
        self._changed = changed
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def output(self) -> Path:
        """Where the process writes."""
        return self._directory / "output" / f"{self.record.id}.log"

    async def take_over(self) -> None:
        """Go on with an instance of an earlier keeper."""
        if self.record.process is None:
            # Perhaps it was started, and nobody lived to write it down.
            await self._search()
        await self.attend()

    async def attend(self) -> None:
        """Keep the process running, until it is asked to leave and has ended."""
        while not self.record.leaving:
            if not is_alive(self.record.process):
                if self._version is None:
                    return self._changed(None)
                self._start(self._version)
            await self._watch()
            if not self.record.leaving:
                await self._ended_by_itself()
        return None

    async def end(self, drain: Callable[[str, float], Awaitable[None]], seconds: float) -> None:
        """End the process: without connections, asked first, made to after that time."""
        await drain(self.record.id, seconds)
        process = self.record.process
        if process is not None:
            signal_group(process, signal.SIGTERM)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await _end_of(process)
            signal_group(process, signal.SIGKILL)
            await _end_of(process)
            self._sweep(process)
        self.output.unlink(missing_ok=True)
        self._changed(None)

    def _start(self, version: Version) -> None:
        # One that somebody else has taken before the process listened would be taken at the next start, too.
        self._note(process=None, ready=False, port=_free_port())
        env = {
            **os.environ,
            **version.env,
            "PORT": str(self.record.port),
            "FAIRWAY_VARIANT": self.record.variant,
            "FAIRWAY_COMMIT": version.commit,
            MARK: self.record.id,
        }
        try:
            self.output.parent.mkdir(mode=0o700, exist_ok=True)
            with open(self.output, "ab", opener=lambda path, flags: os.open(path, flags, 0o600)) as output:
                self._child = subprocess.Popen(
                    version.command,
                    cwd=self._directory / "releases" / version.release,
                    env=env,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    start_new_session=True,
                )
        except OSError as error:
            self._note(problem=f"{version.command[0]} cannot be started ({error.strerror})")
            return
        self._note(process=identity_of(self._child.pid), problem="it has just been started")

    async def _watch(self) -> None:
        """Look after the process until it ends."""
        process = self.record.process
        if process is None:
            return
        checking = asyncio.create_task(self._check())
        try:
            await _end_of(process)
        finally:
            checking.cancel()
            await asyncio.wait({checking})
        if not self.record.leaving:
            self._sweep(process)

    async def _check(self) -> None:
        path, interval = (self._version.health_path, self._version.health_interval) if self._version else ("", 1.0)
        bad = 0
        while True:
            problem = await health.what_is_wrong(self.record.port, path)
            bad = bad + 1 if problem else 0
            if not problem:
                self._note(ready=True, was_ready=True, problem="")
            elif not self.record.ready or bad >= _BAD_ANSWERS:
                self._note(ready=False, problem=problem)
            await asyncio.sleep(interval if self.record.ready else min(_EAGER_SECONDS, interval))
            self._shorten_output()

    async def _ended_by_itself(self) -> None:
        exits = self.record.exits + 1
        started = self.record.process is not None
        how = _how(self._child.returncode if self._child else None)
        problem = f"it ended by itself ({how}): {self._last_words()}" if started else self.record.problem
        self._note(process=None, ready=False, exits=exits, problem=problem)
        await asyncio.sleep(min(_FIRST_PAUSE * 2 ** min(exits - 1, 10), _LONGEST_PAUSE))

    def _sweep(self, process: Identity) -> None:
        """End what the process has left behind, and let the kernel forget it."""
        # The number is still its own: nobody has asked for its exit status yet.
        if self._child is not None and self._child.pid == process.pid and self._child.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            self._child.wait()

    async def _search(self) -> None:
        for _ in range(_SEARCHES):
            found = await asyncio.to_thread(find_marked, self.record.id)
            if found is not None:
                return self._note(process=found)
            await asyncio.sleep(_EAGER_SECONDS)
        return None

    def _last_words(self) -> str:
        with contextlib.suppress(OSError):
            lines = _tail(self.output, 2000).decode(errors="replace").strip().splitlines()
            return lines[-1] if lines else "it wrote nothing"
        return "it wrote nothing"

    def _shorten_output(self) -> None:
        """Keep the end of a long output; the process goes on writing at the end of the file, wherever that is."""
        with contextlib.suppress(OSError):
            if self.output.stat().st_size > _MOST_OUTPUT:
                kept = _tail(self.output, _KEPT_OUTPUT)
                os.truncate(self.output, 0)
                with open(self.output, "ab") as file:
                    file.write(kept)

    def _note(self, **fields: object) -> None:
        record = msgspec.structs.replace(self.record, **fields)
        if record != self.record:
            self.record = record
            self._changed(record)

    def leave(self) -> None:
        """It gets no connections any more, and is not started again."""
        self._note(leaving=True, ready=False, problem="it is leaving")


async def _end_of(process: Identity) -> None:
    """Return when that very process has ended."""
    await process_end(process.pid, lambda: is_alive(process))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _how(status: int | None) -> str:
    if status is None:
        return "exit status unknown"
    if status >= 0:
        return f"exit status {status}"
    # Those for real time have numbers only.
    known = -status in set(signal.Signals)
    return f"signal {signal.Signals(-status).name if known else -status}"


def _tail(path: Path, size: int) -> bytes:
    with open(path, "rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(0, file.tell() - size))
        return file.read()
