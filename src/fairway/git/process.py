"""One git command at a time: started without a shell, in its own process group, with a deadline.

Everything that makes a git process harmless (environment, settings, no prompts) comes from `environment.py`; what its
failure means is decided in `failures.py`. When the deadline passes or the caller is cancelled, the whole group is
ended: first politely, because git then removes its lock files, then for good.
"""

import asyncio
import os
import re
import signal
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from fairway.git.credentials import Access
from fairway.git.environment import git_environment
from fairway.git.errors import GitInputError, GitLocalError, GitRemoteError
from fairway.git.failures import local_failure, remote_failure

LOCAL_TIMEOUT = 120.0
REMOTE_TIMEOUT = 600.0
#: For a question that is answered in a few bytes.
ASK_TIMEOUT = 60.0
#: `cat-file --batch-command` appeared in this version.
OLDEST_GIT = (2, 36)
#: Limit for the output of one command; a tree can list billions of files in a few kilobytes.
MOST_OUTPUT = 128 << 20
_GRACE = 2.0


class Completed(Struct, frozen=True):
    """What a finished git command left behind; `stderr` holds no secrets."""

    code: int
    stdout: bytes
    stderr: str


class Git:
    """Runs git with one remote's access. `keep_open` are descriptors that children inherit (the mirror's lock)."""

    def __init__(self, access: Access | None = None, keep_open: tuple[int, ...] = ()) -> None:
        self.access = access or Access()
        self.keep_open = keep_open

    async def run(self, *arguments: str, git_dir: Path | None = None, stdin: bytes = b"") -> Completed:
        """Run a command that stays on this machine; the caller looks at the exit code."""
        return await self._run(arguments, git_dir, stdin, LOCAL_TIMEOUT)

    async def output(self, *arguments: str, git_dir: Path | None = None, stdin: bytes = b"") -> bytes:
        """The output of a local command that must succeed."""
        done = await self.run(*arguments, git_dir=git_dir, stdin=stdin)
        if done.code != 0:
            raise local_failure(arguments[0], done.stderr)
        return done.stdout

    async def write_output(self, file: int, *arguments: str, git_dir: Path) -> None:
        """The same into an open file, however much it is."""
        done = await self._run(arguments, git_dir, b"", LOCAL_TIMEOUT, stdout=file)
        if done.code != 0:
            raise local_failure(arguments[0], done.stderr)

    async def remote_output(self, what: str, url: str, *arguments: str, git_dir: Path | None = None) -> bytes:
        """The output of a command that talks to a remote; `what` completes "cannot … URL" in the error."""
        seconds = ASK_TIMEOUT if arguments[0] == "ls-remote" else REMOTE_TIMEOUT
        done = await self._run(arguments, git_dir, b"", seconds, remote=url)
        if done.code != 0:
            # `push --porcelain` explains a refusal on its output, not among its errors.
            refusals = self.access.redact(done.stdout.decode("utf-8", "replace")) if arguments[0] == "push" else ""
            raise remote_failure(what, url, done.stderr + refusals)
        return done.stdout

    async def start(self, *arguments: str, git_dir: Path, read_limit: int) -> asyncio.subprocess.Process:
        """Start a command that stays and is spoken to over its pipes; the caller ends it with `end_group`."""
        return await self._spawn((f"--git-dir={git_dir}", *arguments), asyncio.subprocess.DEVNULL, read_limit)

    async def require_version(self) -> None:
        """Refuse a git that is missing or too old to be used."""
        text = (await self.output("version")).decode("ascii", "replace").strip()
        found = re.search(r"(\d+)\.(\d+)", text)
        if found is None or (int(found[1]), int(found[2])) < OLDEST_GIT:
            needed = ".".join(map(str, OLDEST_GIT))
            raise GitInputError(f"{text or 'git'} is installed; expected git {needed} or newer: please upgrade it")

    async def _run(
        self,
        arguments: tuple[str, ...],
        git_dir: Path | None,
        stdin: bytes,
        seconds: float,
        *,
        remote: str | None = None,
        stdout: int = asyncio.subprocess.PIPE,
    ) -> Completed:
        where = (f"--git-dir={git_dir}",) if git_dir else ()
        command = f"git {arguments[0]}"
        process = await self._spawn((*where, *arguments), asyncio.subprocess.PIPE, stdout=stdout)
        try:
            async with asyncio.timeout(seconds):
                output, stderr = await _exchange(process, stdin, command)
        except TimeoutError as error:
            if remote:
                raise GitRemoteError(f"git {arguments[0]} of {remote} did not end within {seconds:g} s") from error
            raise GitLocalError(
                f"git {arguments[0]} did not end within {seconds:g} s; is the disk overloaded?"
            ) from error
        finally:
            await end_group(process)
            await _drain(process)
        words = self.access.redact(stderr.decode("utf-8", "replace"))
        return Completed(code=process.returncode or 0, stdout=output, stderr=words)

    async def _spawn(
        self,
        arguments: tuple[str, ...],
        stderr: int,
        read_limit: int = 2**16,
        stdout: int = asyncio.subprocess.PIPE,
    ) -> asyncio.subprocess.Process:
        starting = asyncio.ensure_future(
            asyncio.create_subprocess_exec(
                "git",
                *arguments,
                stdin=asyncio.subprocess.PIPE,
                stdout=stdout,
                stderr=stderr,
                env=git_environment(self.access, os.environ),
                start_new_session=True,
                pass_fds=self.keep_open,
                limit=read_limit,
            )
        )
        try:
            return await asyncio.shield(starting)
        except OSError as error:
            raise GitLocalError(f"cannot start git: {error.strerror}; is it installed and on the PATH?") from error
        except asyncio.CancelledError:
            # asyncio would end git alone and then wait for the children that still hold its pipes.
            with suppress(OSError):
                await end_group(await starting)
            raise


async def _exchange(process: asyncio.subprocess.Process, stdin: bytes, command: str) -> tuple[bytes, bytes]:
    """Send the input, and return what the process writes until it has ended."""
    tasks = [
        asyncio.create_task(_bounded(process.stdout, command)),
        asyncio.create_task(_bounded(process.stderr, command)),
    ]
    feeding = asyncio.create_task(_feed(process.stdin, stdin))
    try:
        output, stderr = await asyncio.gather(*tasks)
        await feeding
        await process.wait()
    finally:
        for task in (*tasks, feeding):
            task.cancel()
        await asyncio.gather(*tasks, feeding, return_exceptions=True)
    return output, stderr


async def _drain(process: asyncio.subprocess.Process) -> None:
    """Discard what a process has left in its pipes: asyncio closes a pipe when it has been read to its end."""
    with suppress(TimeoutError):
        # A daemon that git has started may hold a pipe open.
        async with asyncio.timeout(_GRACE):
            for stream in (process.stdout, process.stderr):
                while stream is not None and await stream.read(1 << 16):
                    pass


async def _feed(stream: asyncio.StreamWriter | None, data: bytes) -> None:
    if stream is None:
        return
    # git may end before it has read everything.
    with suppress(BrokenPipeError, ConnectionResetError):
        stream.write(data)
        await stream.drain()
        stream.close()
        await stream.wait_closed()


async def _bounded(stream: asyncio.StreamReader | None, command: str) -> bytes:
    """The whole output of a command; GitInputError above the limit."""
    parts: list[bytes] = []
    size = 0
    while stream is not None and (part := await stream.read(1 << 16)):
        size += len(part)
        if size > MOST_OUTPUT:
            raise GitInputError(
                f"{command} wrote more than {MOST_OUTPUT >> 20} MiB: the commit has too many files or changes"
            )
        parts.append(part)
    return b"".join(parts)


async def end_group(process: asyncio.subprocess.Process) -> None:
    """End a process with everything it started, if it still runs, and collect its exit status."""
    if process.returncode is not None:
        return
    _signal_group(process, signal.SIGTERM)
    with suppress(TimeoutError):
        async with asyncio.timeout(_GRACE):
            await process.wait()
    # The first of the group may be gone while one of its children is not.
    _signal_group(process, signal.SIGKILL)
    await process.wait()


def _signal_group(process: asyncio.subprocess.Process, number: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)
