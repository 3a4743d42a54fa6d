"""Objects by the thousand from one `git cat-file` that stays.

Starting git costs more than reading a file, so each mirror keeps one process and talks to it over its pipes. The
requests of a call go out together and answers are parsed as they come, so neither side ever waits with a full pipe. A
process that died, or that a cancelled caller left in the middle of an answer, is replaced by the next call. What the
names mean and whether a path may be read is checked by the callers.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from fairway.git.errors import GitInputError, GitLocalError, MirrorCorrupt
from fairway.git.process import Git, end_group

#: An object larger than this is not a file that Fairway has to understand; it is skipped, not kept in memory.
LARGEST_OBJECT = 64 * 2**20
_READ_SIZE = 2**20
#: A call that takes longer has met a process or a disk that does not answer.
_TIMEOUT = 120.0
_KINDS = {b"blob": "blob", b"tree": "tree", b"commit": "commit", b"tag": "tag"}


class Found(Struct, frozen=True, gc=False):
    """An object."""

    hash: str
    kind: str
    content: bytes


class Absent(Struct, frozen=True):
    """No object by that name, and why: `missing`, `ambiguous`, or the trouble with a symbolic link."""

    reason: str
    #: Where a link that leaves the tree points to.
    target: str = ""


class TooLarge(Struct, frozen=True):
    """An object that was skipped."""

    hash: str
    size: int


Reply = Found | Absent | TooLarge


class ReplyParser:
    """Turns git's byte stream into replies, however it is cut into chunks."""

    def __init__(self, largest: int = LARGEST_OBJECT) -> None:
        self._largest = largest
        self._waiting: list[bytes] = []  # chunks that do not yet make a whole reply
        self._missing = 0  # how many bytes that reply still lacks, as far as is known
        self._skip = 0  # how many bytes of an object that is too large are still to come

    @property
    def between_replies(self) -> bool:
        """Whether everything that came so far belongs to a reply that was given."""
        return not self._skip and not any(self._waiting)

    def feed(self, chunk: bytes) -> list[Reply]:
        """The replies that this chunk completes."""
        if self._skip:
            self._skip, chunk = max(0, self._skip - len(chunk)), chunk[self._skip :]
            if self._skip:
                return []
        self._waiting.append(chunk)
        self._missing -= len(chunk)
        if self._missing > 0:
            return []
        data = b"".join(self._waiting)
        replies, position = self._parse(data)
        self._skip = max(0, position - len(data))
        self._waiting = [data[position:]]
        return replies

    def _parse(self, data: bytes) -> tuple[list[Reply], int]:
        replies: list[Reply] = []
        start, available = 0, len(data)
        self._missing = 0
        while (newline := data.find(b"\n", start)) >= 0:
            header = data[start:newline].split(b" ")
            # The usual answer is handled here, without a call: this loop is what reading 5,000 files costs.
            if len(header) == 3 and header[2].isdigit() and (kind := _KINDS.get(header[1])):
                content_at = newline + 1
                start_of_next = content_at + int(header[2]) + 1
                if start_of_next - content_at - 1 > self._largest:
                    replies.append(TooLarge(header[0].decode(), int(header[2])))
                elif start_of_next > available:
                    self._missing = start_of_next - available
                    break
                else:
                    replies.append(Found(header[0].decode(), kind, data[content_at : start_of_next - 1]))
                start = start_of_next
            elif absent := _absent(data, header, newline + 1):
                reply, start = absent
                replies.append(reply)
            else:
                break
        return replies, start


def _absent(data: bytes, header: list[bytes], content_at: int) -> tuple[Absent, int] | None:
    if header[-1] in {b"missing", b"ambiguous"}:
        return Absent(header[-1].decode()), content_at
    end = content_at + int(header[-1])
    if end >= len(data):
        return None
    return Absent(header[0].decode(), data[content_at:end].decode("utf-8", "replace")), end + 1


class ObjectReader:
    """The one reading process of a bare repository; any number of tasks may call `read`."""

    def __init__(self, git: Git, git_dir: Path, largest: int = LARGEST_OBJECT) -> None:
        self._git = git
        self._git_dir = git_dir
        self._largest = largest
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()

    @property
    def process_id(self) -> int | None:
        """The process that reads now or will read next; None until the first read, and after `close`."""
        return self._process.pid if self._process else None

    async def read(self, names: Sequence[bytes]) -> list[Reply]:
        """One reply for each name, in order. A name is a hash, a full ref, or `<commit>:<path>`."""
        if not names:
            return []
        request = b"contents " + b"\ncontents ".join(names) + b"\nflush\n"
        if request.count(b"\n") != len(names) + 1 or b"\0" in request:
            raise GitInputError("an object name holds a line break or NUL; git cannot be asked for it")
        async with self._turn:
            try:
                return await self._converse(request, len(names))
            except (OSError, EOFError, TimeoutError):
                pass  # it may have died long ago; a new one deserves a try
            try:
                return await self._converse(request, len(names))
            except TimeoutError as error:
                raise GitLocalError(
                    f"git cat-file in {self._git_dir} does not answer; is the disk overloaded?"
                ) from error
            except (OSError, EOFError) as error:
                # Git ends itself only over an object, or a repository, that it cannot make sense of.
                raise MirrorCorrupt(f"git cat-file gave up twice in {self._git_dir}; the mirror is damaged") from error

    async def close(self) -> None:
        """End the process; the next read starts another."""
        async with self._turn:
            await self._stop()

    async def _converse(self, request: bytes, expected: int) -> list[Reply]:
        if self._process is None:
            self._process = await self._start()
        process = self._process
        if process.stdin is None or process.stdout is None:
            raise GitLocalError("git cat-file has no pipes")
        parser = ReplyParser(self._largest)
        replies: list[Reply] = []
        whole = False
        try:
            # Not drained: the transport goes on writing while the answers are read.
            process.stdin.write(request)
            async with asyncio.timeout(_TIMEOUT):
                while len(replies) < expected or not parser.between_replies:
                    chunk = await process.stdout.read(_READ_SIZE)
                    if not chunk:
                        raise EOFError("git cat-file ended")
                    replies += parser.feed(chunk)
            whole = True
        finally:
            if not whole:  # somebody else's answers are still in the pipe: no use to the next caller
                await self._stop()
        return replies

    async def _start(self) -> asyncio.subprocess.Process:
        command = ("cat-file", "--batch-command", "--buffer", "--follow-symlinks")
        return await self._git.start(*command, git_dir=self._git_dir, read_limit=_READ_SIZE)

    async def _stop(self) -> None:
        process, self._process = self._process, None
        if process:
            if process.stdin:
                process.stdin.close()
            await end_group(process)
