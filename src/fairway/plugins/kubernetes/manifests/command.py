"""One run of helm, kustomize or another tool: with a time limit, a bound on what it writes, and a home of its own.

Nothing of the agent's environment reaches a tool but what it needs to find programs and the network, because what a
repository says decides what the tool does. When the time is over or nobody waits any more, the whole group is ended.
"""

import asyncio
import os
import re
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec

from fairway.errors import TemporaryError, UserError
from fairway.in_thread import in_thread
from fairway.temporary_directory import temporary_directory

#: What a tool may take, downloads included.
SECONDS: Final = 180.0
#: What a tool may write; more than any cluster takes.
MOST_OUTPUT: Final = 64 << 20
_SHOWN: Final = 4000
_PASSED_ON: Final = (
    "PATH",
    "SSH_AUTH_SOCK",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    *(name for proxy in ("http_proxy", "https_proxy", "all_proxy", "no_proxy") for name in (proxy, proxy.upper())),
)
_PASSING: Final = re.compile(
    r"connection (refused|reset)|i/o timeout|no such host|TLS handshake timeout|temporary failure|unexpected EOF"
    r"|: EOF|context deadline exceeded|Client\.Timeout|(status|code|response)[^\n]{0,40}\b(429|50[0234])\b"
    r"|Too Many Requests|Could not resolve host|Service Unavailable",
    re.IGNORECASE,
)


class ToolFailed(UserError):
    """A tool that cannot make manifests of what it was given."""


class ToolTroubled(TemporaryError):
    """A tool that could not do its work for now, such as for a network that is away."""


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """What is run, and where."""

    #: How people call it, such as `helm template`.
    name: str
    arguments: tuple[str, ...]
    directory: Path
    environment: Mapping[str, str] = {}
    #: What must not be shown, should the tool write it.
    secrets: tuple[str, ...] = ()
    seconds: float = SECONDS


async def run_tool(command: Command) -> bytes:
    """What a tool writes; ToolFailed with its own words when it does not succeed."""
    async with private_directory() as home:
        process = await _started(command, home)
        try:
            async with asyncio.timeout(command.seconds):
                output, said = await asyncio.gather(
                    _bounded(process.stdout, MOST_OUTPUT), _bounded(process.stderr, MOST_OUTPUT)
                )
                status = await process.wait()
        except TimeoutError as error:
            raise ToolTroubled(f"{command.name} did not end within {command.seconds:g} s") from error
        finally:
            await _end(process)
    if output is None or said is None:
        raise ToolFailed(f"{command.name} wrote more than {MOST_OUTPUT >> 20} MiB; nothing of it is used")
    if status < 0:
        # By a machine that is short of memory or about to be stopped: that says nothing of the manifests.
        raise ToolTroubled(f"{command.name} was ended by {signal.Signals(-status).name}")
    if status != 0:
        words = hide(said.decode("utf-8", "replace").strip(), command.secrets)[-_SHOWN:]
        kind = ToolTroubled if _PASSING.search(words) else ToolFailed
        raise kind(f"{command.name} failed: {words or f'it ended with status {status} and said nothing'}")
    return output


@asynccontextmanager
async def private_directory() -> AsyncIterator[Path]:
    """A directory that nobody else can look into, while the block lasts."""
    stack = ExitStack()
    try:
        yield await in_thread(stack.enter_context, temporary_directory())
    finally:
        await in_thread(stack.close)


async def _started(command: Command, home: Path) -> asyncio.subprocess.Process:
    passed = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    # Programs that a tool starts in its turn are as harmless.
    fixed = {"HOME": str(home), "TMPDIR": str(home), "LC_ALL": "C.UTF-8", "GIT_TERMINAL_PROMPT": "0"}
    fixed |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_ALLOW_PROTOCOL": "git:http:https:ssh"}
    try:
        return await asyncio.create_subprocess_exec(
            *command.arguments,
            cwd=command.directory,
            env={**passed, **fixed, **command.environment},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise ToolTroubled(f"{command.name} cannot be started: {error.strerror}") from error


async def _bounded(stream: asyncio.StreamReader | None, most: int) -> bytes | None:
    """All that comes, or None when that is too much; read to its end either way."""
    assert stream is not None  # noqa: S101  # it is a pipe
    parts: list[bytes] = []
    size = 0
    while part := await stream.read(1 << 16):
        size += len(part)
        if size <= most:
            parts.append(part)
        else:
            parts.clear()
    return b"".join(parts) if size <= most else None


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


def hide(text: str, secrets: tuple[str, ...]) -> str:
    """A text without secrets."""
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(secret, "***")
    return text
