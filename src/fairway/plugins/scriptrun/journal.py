"""A script that may outlive whoever started it: its files, its process, and how far its output has been told.

    script    what the shell runs, until it has ended    output    all that it has written, as it wrote it
    process   who runs it                                status    how it ended, once it has
    started   it was started, or may not be any more     told      how much of the output is safe with the agent
    step      which of several commands ran last         wanted    no process has asked it to end
    writer    the process that stores the output         counted   how much output there was (`Output`)
    interrupted   why it did not end by itself           background   `end` or `keep`, until its processes are ended

Whoever finds these files goes on where the other stopped: a script that runs is waited for, one that has ended is not
run again, and no output is lost or told twice. The numbers in `told` are the end of what is safe, the end of what was
being sent, and when: cut at the same places, with the same number and the same time, it is the same piece, and sending
it again does no harm.

A power cut takes what was not synced. Before the script starts the directory is synced, and the `Ledger` has its entry;
before an end is reported, `status` is synced. A script with an entry and no readable `status` was interrupted.

What is written while the script runs is given its room before it starts and is then written over in place, so that a
disk that is full meanwhile takes it all the same: nobody would know how the script ended otherwise.
"""

import asyncio
import contextlib
import os
import re
import signal
import struct
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import msgspec

from fairway.durable import make_directory, sync
from fairway.in_thread import in_thread
from fairway.plugins.process_end import process_end
from fairway.plugins.scriptrun.child import Child
from fairway.plugins.scriptrun.disk import JournalError, cannot_write
from fairway.plugins.scriptrun.ledger import Ledger
from fairway.plugins.scriptrun.output import ROOM, Output
from fairway.plugins.scriptrun.script import KEEPER
from fairway.plugins.scriptrun.tree import Ended, Tree, mark

_TOLD = struct.Struct(">QQQ")
#: What stands in the files before there is something to be written: as long, and as good as nothing.
_BLANK = b" " * 15 + b"\n"
_STATUS = re.compile(r"([0-9]{1,3})\n")
_ROOM = {
    "output": b"",
    "wanted": b"",
    "told": _TOLD.pack(0, 0, 0),
    "process": _BLANK,
    "step": _BLANK,
    "status": _BLANK,
    "interrupted": _BLANK,
    **ROOM,
}
_ELSEWHERE = "elsewhere"
#: What stands in `interrupted`, and what it means.
_CAUSES = {
    "handover": "the agent handed over to another one",
    "lease": "the agent's lease ran out, and the guard ended the script",
}
#: How long a keeper that another process has started may take from its start to its first sign of life: by then it has
#: come to life on a machine that is out of breath, too. A guard waits as long.
_SIGN_OF_LIFE_SECONDS = 30.0
_KEEPER_SECONDS = 10.0  # to write how the script ended
#: How often something is looked at that comes in a moment, and that may take longer.
_FIRST_LOOK_SECONDS, _LOOK_SECONDS = 0.001, 0.01


class Told(NamedTuple):
    """How far the output has been told."""

    #: The end of what is safe.
    safe: int = 0
    #: The end of what was being sent; no more than `safe` when nothing was.
    sending: int = 0
    #: When that was begun to be sent, in seconds since 1970.
    at: int = 0


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """A script to run."""

    text: str
    shell: str
    directory: Path
    #: The lease file of the agent: the script does not start once that is over. None without a lease.
    lease: Path | None = None
    #: What becomes of processes that the script leaves running: `end` or `keep`.
    background: str = "end"


class Journal:
    """The files of one run of one script."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        #: Of the directory of all journals; this one stands in that of its deployment.
        self._ledger = Ledger(directory.parent.parent)
        self.stream = Output(directory)
        #: Who runs the script, where it was started here; who takes it up looks for a sign of life.
        self._started: Child | None = None
        #: Whether it was seen to here that nobody starts it.
        self._forbidden = False

    @property
    def step_file(self) -> str:
        """Where a script of several commands notes which of them runs."""
        return str(self.directory / "step")

    @property
    def step(self) -> int:
        """Which command ran last; 0 where nobody counts."""
        text = self._read("step")
        return int(text) if text.isascii() and text.isdigit() else 0

    async def start(self, order: Order, guard: Callable[[], None] = lambda: None) -> None:
        """Run the script, unless it was started already. `guard` is called when its files are there."""
        # Written to its end in any case: who ends the script removes it, and must not be too early.
        is_first = await in_thread(self._write, order)
        guard()
        if not is_first:
            return
        try:
            output = self.stream.open()
        except OSError as error:
            self._ledger.discard(self.directory)
            raise cannot_write(f"the script cannot be started from {self.directory}", error) from error
        try:
            # A group of its own, to be ended as a whole; and no child of a terminal.
            self._started = Child(
                ("/bin/sh", "-c", KEEPER, "fairway-script", str(self.directory), order.shell, str(order.lease or "")),
                cwd=order.directory,
                env={**os.environ, **mark(self.directory)},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        except OSError as error:
            self._ledger.discard(self.directory)
            raise JournalError(f"the script cannot be started in {order.directory} ({error.strerror})") from error
        finally:
            os.close(output)

    @property
    def status(self) -> int | None:
        """The script's exit status as the shell says it; None while it has none."""
        # The rest of the line may be missing after a power cut.
        found = _STATUS.match(self._raw("status"))
        return int(found[1]) if found else None

    def sync_end(self) -> None:
        """Sync how the script ended, before anything is reported of it."""
        with contextlib.suppress(FileNotFoundError):
            sync(self.directory / "status")

    @property
    def came_to_life(self) -> bool:
        """Whether there was a process that ran the script."""
        return bool(self._read("process"))

    def process(self) -> int | None:
        """The process that runs the script; None when it is gone."""
        text = self._read("process")
        return self._ours(int(text)) if text.isascii() and text.isdigit() else None

    def _ours(self, pid: int) -> int | None:
        # Another process may have got the number since; ours leads a session and names this directory.
        with contextlib.suppress(OSError):
            arguments = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            return pid if os.fsencode(self.directory) in arguments else None
        return None

    @property
    def seconds(self) -> float:
        """How long the script ran; 0 while nobody knows."""
        with contextlib.suppress(OSError):
            began, over = ((self.directory / name).stat().st_mtime for name in ("started", "status"))
            return max(0.0, over - began)
        return 0.0

    @property
    def _age(self) -> float:
        """How long ago the script started; 0 where that is not known."""
        with contextlib.suppress(OSError):
            return max(0.0, time.time() - (self.directory / "started").stat().st_mtime)
        return 0.0

    @property
    def ended_at(self) -> int:
        """When the script ended, or was last heard of, in seconds since 1970."""
        for name in ("status", "started", "process") if self.status is not None else ("started", "process"):
            with contextlib.suppress(FileNotFoundError):
                return int((self.directory / name).stat().st_mtime)
        return int(self._ledger.at(self.directory))

    async def ended(self) -> None:
        """Wait until the script's process is gone; at once when it never came to life."""
        if self._started is not None:
            # Until it is buried, too: what a process that is only dead has left is not looked for.
            await self._started.wait()
        if self.status is None and not self._forbidden:
            # Started by another, perhaps in the same moment as here; or killed.
            await self._sign_of_life()
            if (pid := self.process()) is not None:
                await process_end(pid)

    async def end(self, grace_seconds: float) -> Ended:
        """End the script and all that it started: SIGTERM first, SIGKILL after that time. The keeper writes how."""
        if await asyncio.to_thread(self.forbid):
            return Ended()
        await self._sign_of_life()
        # A keeper that was started here is known before it has written its number.
        keeper = self.process() or (None if self._started is None else self._ours(self._started.pid))
        # Before the signal, which is lost on one that is just about to begin. The guard does the same.
        wanted = self.directory / "wanted"
        asked = not wanted.exists()
        wanted.unlink(missing_ok=True)
        ended = await Tree(self.directory, keeper or self._group()).end(grace_seconds, asked=asked)
        if keeper is not None:
            try:
                async with asyncio.timeout(_KEEPER_SECONDS):
                    await process_end(keeper)
            except TimeoutError:
                # It is stopped: it would write a status when it continues.
                with contextlib.suppress(ProcessLookupError):
                    os.kill(keeper, signal.SIGKILL)
                await process_end(keeper)
        if self._started is not None and self.process() is None:
            await self._started.wait()
        self.close_background()
        await self.stream.stored(_KEEPER_SECONDS)
        return ended._replace(after=self._age)

    async def end_rest(self, grace_seconds: float) -> Ended:
        """End what a script left running that has ended, or whose keeper was killed."""
        tree = Tree(self.directory, self._group())
        empty = self.status is not None and await asyncio.to_thread(tree.is_empty)
        ended = Ended() if empty else await tree.end(grace_seconds)
        self.close_background()
        return ended

    def close_background(self) -> None:
        """Record that no process is left to end."""
        (self.directory / "background").unlink(missing_ok=True)

    def _group(self) -> int | None:
        """The process group of a keeper that is gone. Its number is not reused while the group has a process."""
        text = self._read("process") if self._ledger.is_of_this_boot(self.directory) else ""
        return int(text) if text.isascii() and text.isdigit() and not Path(f"/proc/{text}").exists() else None

    def remove_script(self) -> None:
        """Remove the text of a script that will not be read again: opened secrets may stand in it."""
        (self.directory / "script").unlink(missing_ok=True)

    def interrupt(self) -> None:
        """Record that the script does not end by itself from now on: its agent hands over to another one."""
        with contextlib.suppress(FileNotFoundError):
            self._overwrite("interrupted", b"handover\n")

    @property
    def interruption(self) -> str:
        """Why the end of the script does not tell how it would have ended; empty when it ended by itself."""
        if cause := self._read("interrupted"):
            return _CAUSES.get(cause, cause)
        if self.status is not None:
            return ""
        if self._read("process") == _ELSEWHERE:
            return "another agent had started the script elsewhere"
        if not self._ledger.is_of_this_boot(self.directory) and self._ledger.has(self.directory):
            return "the machine restarted before the end of the script was recorded"
        if not (self.directory / "started").exists():
            return "the record of the script's end is lost"
        return "the process that records the script's end was killed"

    def forbid(self) -> bool:
        """Whether the script has not been started, and from now on cannot be."""
        try:
            make_directory(self.directory)
            if not self._may_start():
                return False
            (self.directory / "started").touch(exist_ok=False)
            self._ledger.discard(self.directory)
        except FileExistsError:
            return False
        except OSError as error:
            raise cannot_write(f"nothing can be written to {self.directory}", error) from error
        self._forbidden = True
        self.remove_script()
        return True

    def give_up(self) -> None:
        """Have it that the script was started and is gone, because somebody else has started it elsewhere."""
        self.forbid()
        try:
            if not self._read("process"):
                (self.directory / "process").write_text(f"{_ELSEWHERE}\n")
            self._ledger.add(self.directory)
        except OSError as error:
            raise cannot_write(f"nothing can be written to {self.directory}", error) from error

    async def _sign_of_life(self) -> None:
        waited, pause = 0.0, _FIRST_LOOK_SECONDS
        if self._ledger.has(self.directory) and not self._ledger.is_of_this_boot(self.directory):
            return
        while waited < _SIGN_OF_LIFE_SECONDS and not self._read("process") and self.status is None:
            await asyncio.sleep(pause)
            waited, pause = waited + pause, min(pause * 2, _LOOK_SECONDS)

    def told(self) -> Told:
        """How far the output has been told."""
        with contextlib.suppress(OSError, struct.error):
            return Told(*_TOLD.unpack((self.directory / "told").read_bytes()))
        return Told()

    def telling(self, told: Told) -> None:
        """Note how far the output has been told."""
        self._overwrite("told", _TOLD.pack(*told))

    def _overwrite(self, name: str, content: bytes) -> None:
        """In one piece: a file that is truncated first can be found empty."""
        with open(os.open(self.directory / name, os.O_WRONLY | os.O_CREAT, 0o600), "wb", buffering=0) as file:
            file.write(content)

    @property
    def written(self) -> int:
        """How much output there is."""
        with contextlib.suppress(FileNotFoundError):
            return (self.directory / "output").stat().st_size
        return 0

    def output(self, start: int, most: int) -> bytes:
        """Some of the output from a place on."""
        with contextlib.suppress(FileNotFoundError), open(self.directory / "output", "rb") as file:
            file.seek(start)
            return file.read(most)
        return b""

    def _write(self, order: Order) -> bool:
        """Write the script down, unless it was started already; whether it was not."""
        try:
            make_directory(self.directory)
            if not self._may_start():
                return False
            self._make_room()
            (self.directory / "background").write_text(f"{order.background}\n")
            # It appears whole, and private: a shell reads its script as it goes.
            opened, new = tempfile.mkstemp(prefix="script-", dir=self.directory)
            try:
                with open(opened, "w") as file:
                    file.write(order.text)
                os.rename(new, self.directory / "script")
            except OSError:
                os.unlink(new)
                raise
            sync(self.directory)
            self._ledger.add(self.directory)
        except OSError as error:
            raise cannot_write(f"the script cannot be written to {self.directory}", error) from error
        return True

    def _may_start(self) -> bool:
        """Whether the script was not started. The keeper makes `started`, and only one process can."""
        if (self.directory / "started").exists():
            return False
        # Prepared since the machine booted: no file can have been lost since.
        prepared = self._ledger.is_of_this_boot(self.directory) and (self.directory / "script").exists()
        return prepared or not self._ledger.has(self.directory)

    def _make_room(self) -> None:
        """Have the room for all that is written later, except the output."""
        for name, content in _ROOM.items():
            with open(self.directory / name, "ab", buffering=0, opener=_private) as file:
                if not file.tell():
                    file.write(content)

    def _read(self, name: str) -> str:
        return self._raw(name).strip(" \n\0")

    def _raw(self, name: str) -> str:
        with contextlib.suppress(FileNotFoundError):
            return (self.directory / name).read_text(errors="replace")
        return ""


def was_started(journals: Path, deployment_id: str, stage_id: str) -> bool:
    """Whether a script of the stage was started here, or may have been."""
    if Ledger(journals).has_any(deployment_id, stage_id):
        return True
    # Journals of versions without a ledger.
    return any(Journal(each).came_to_life for each in (journals / deployment_id).glob(f"{stage_id}-*"))


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
