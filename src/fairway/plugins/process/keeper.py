"""The keeper of one application: makes what there is what is wanted, again and again, until nothing is wanted.

    python -m fairway.plugins.process.keeper DIRECTORY

It is told nothing but the directory: what is wanted stands in `wanted.json`, which it reads when a SIGHUP says that it
has changed, and from time to time. There is one keeper for a directory, held by a lock that dies with it. SIGTERM ends
the application with its keeper. SIGKILL ends the keeper alone; the next one takes over the processes.

While the disk takes nothing, what runs goes on, and a process that ends is started again. A further one is not started
before it is noted: nobody would find it if its keeper were killed.
"""

import asyncio
import contextlib
import fcntl
import os
import signal
import sys
from pathlib import Path
from uuid import uuid4

from fairway.plugins.process.decide import Step, decide_step
from fairway.plugins.process.identity import identity_of
from fairway.plugins.process.instance import Kept
from fairway.plugins.process.records import SEEN, WANTED, Group, Instance, Seen, Version, Wanted, load, save
from fairway.plugins.process.splitter import Splitter

LOCK = "keeper.lock"
_LOOK_SECONDS = 1.0


class Keeper:
    """Everything that runs for one application."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._splitter = Splitter()
        self._kept: dict[str, Kept] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._ending: dict[str, asyncio.Task[None]] = {}
        self._wake = asyncio.Event()
        self._leave = False
        self._seen: Seen | None = None
        #: Whether the disk has taken that.
        self._noted = True

    async def run(self) -> None:
        """Work until nothing is wanted and nothing is left."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGHUP, self._wake.set)
        loop.add_signal_handler(signal.SIGTERM, self._told_to_leave)
        wanted = self._wanted()
        before = load(self._directory, SEEN, Seen) or Seen()
        for record in before.instances:
            kept = self._keep(record, _version_of(record, wanted))
            # One that was leaving is let go again by the first step.
            if not record.leaving:
                self._tasks[record.id] = asyncio.create_task(kept.take_over())
        while wanted.groups or self._kept or not (self._noted or self._leave):
            await self._step(wanted)
            self._wake.clear()
            try:
                async with asyncio.timeout(_LOOK_SECONDS):
                    await self._wake.wait()
            except TimeoutError:
                pass  # A signal may have been lost; looking costs little.
            wanted = self._wanted()
        await self._splitter.close()
        with contextlib.suppress(OSError):
            # Nothing is left, and by its process it is known that the keeper has gone too.
            save(self._directory, SEEN, Seen(wanted=wanted.key))

    def _wanted(self) -> Wanted:
        return (None if self._leave else load(self._directory, WANTED, Wanted)) or Wanted()

    def _told_to_leave(self) -> None:
        self._leave = True
        self._wake.set()

    async def _step(self, wanted: Wanted) -> None:
        for task in (*self._tasks.values(), *self._ending.values()):
            if task.done():
                # A defect: the next keeper begins with what is written down.
                task.result()
        problem = await self._listen(wanted)
        step = decide_step(wanted, [kept.record for kept in self._kept.values()])
        self._splitter.route(step.routes, {id: kept.record.port for id, kept in self._kept.items()})
        for group in step.start:
            self._add(group)
        for id in self._leaving(step):
            self._kept[id].leave()
            ending = self._kept[id].end(self._splitter.drained, wanted.stop_timeout)
            self._ending[id] = asyncio.create_task(ending)
        self._write(wanted, problem)
        if self._noted:
            self._start_added()

    def _leaving(self, step: Step) -> list[str]:
        # Those that an earlier keeper had let go are let go again.
        found = [id for id, kept in self._kept.items() if kept.record.leaving]
        return [id for id in dict.fromkeys([*step.leave, *found]) if id not in self._ending]

    async def _listen(self, wanted: Wanted) -> str:
        if not wanted.groups:
            await self._splitter.close()
            return ""
        try:
            await self._splitter.listen(wanted.host, wanted.port)
        except OSError as error:
            return f"nobody can listen on {wanted.host} port {wanted.port} ({os.strerror(error.errno or 0)})"
        return ""

    def _add(self, group: Group) -> None:
        record = Instance(
            id=f"{group.variant}-{uuid4().hex[:8]}",
            variant=group.variant,
            version=group.version.key,
            commit=group.version.commit,
        )
        self._keep(record, group.version)

    def _start_added(self) -> None:
        for id, kept in self._kept.items():
            if id not in self._tasks and not kept.record.leaving:
                self._tasks[id] = asyncio.create_task(kept.attend())

    def _keep(self, record: Instance, version: Version | None) -> Kept:
        kept = Kept(record, version, self._directory, lambda changed: self._changed(record.id, changed))
        self._kept[record.id] = kept
        return kept

    def _changed(self, id: str, record: Instance | None) -> None:
        if record is None:
            self._kept.pop(id, None)
            for tasks in (self._tasks, self._ending):
                tasks.pop(id, None)
        if self._seen is not None:
            self._save(self._seen)
        self._wake.set()

    def _write(self, wanted: Wanted, problem: str) -> None:
        keeper = identity_of(os.getpid())
        self._save(Seen(keeper=keeper, wanted=wanted.key, port=self._splitter.port, problem=problem))

    def _save(self, seen: Seen) -> None:
        now = Seen(
            keeper=seen.keeper,
            wanted=seen.wanted,
            port=seen.port,
            problem=seen.problem,
            instances=tuple(kept.record for kept in self._kept.values()),
        )
        if now == self._seen and self._noted:
            return
        self._seen = now
        try:
            save(self._directory, SEEN, now)
            self._noted = True
        except OSError as error:
            # Such as a full disk. It is tried again with each step.
            if self._noted:
                _say(f"what there is cannot be noted, and no further process be started: {error}")
            self._noted = False


def _version_of(record: Instance, wanted: Wanted) -> Version | None:
    versions = (group.version for group in wanted.groups if group.variant == record.variant)
    return next((version for version in versions if version.key == record.version), None)


def _say(sentence: str) -> None:
    # To its log, which may be on the same disk.
    with contextlib.suppress(OSError):
        sys.stderr.write(f"{sentence}\n")


def main() -> None:
    """Keep one application."""
    directory = Path(sys.argv[1])
    lock = os.open(directory / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return  # There is a keeper already.
    if os.fork():
        return  # Whoever started it need not wait for it: it is nobody's child, and the lock is its own.
    os.setsid()
    asyncio.run(Keeper(directory).run())


if __name__ == "__main__":
    main()
