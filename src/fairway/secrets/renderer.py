"""Renders templates in a child process with limits on CPU time and memory.

A template of an unmerged branch is hostile until proven otherwise, and a thread has no limits. The process starts
with the first template and ends when idle. Secrets pass through its pipes, never through arguments or environment.
"""

import atexit
import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from typing import IO, Final

import msgspec

from fairway.errors import TemporaryError
from fairway.interpreter import python_module
from fairway.secrets.secret import SecretError
from fairway.secrets.template import MAX_TOTAL_CHARACTERS, Data, Text

#: Limits of one request: all templates of an application, or of a stage.
CPU_SECONDS: Final = 5.0
MEMORY_BYTES: Final = 512 << 20
#: Wall-clock limit for a process that is stopped or swapped out.
_SECONDS: Final = 120.0
#: Seconds without a request after which the process ends.
IDLE_SECONDS: Final = 300.0
#: Exit status of the process when it ran out of memory.
OUT_OF_MEMORY: Final = 77
_ENVIRONMENT: Final = ("LD_LIBRARY_PATH", "PYTHONHOME", "PYTHONPATH")
#: A character takes at most four bytes.
_MAX_FRAME_BYTES: Final = 8 * MAX_TOTAL_CHARACTERS
_LENGTH_BYTES: Final = 4


class RendererError(TemporaryError):
    """The render process failed for a reason outside of the template."""


class Request(msgspec.Struct, frozen=True):
    """The texts to render, and the values of all of them."""

    texts: tuple[Text, ...]
    data: Data
    cpu_seconds: float


class Rendered(msgspec.Struct, frozen=True):
    """The rendered pieces of one text, or the reason why there are none."""

    pieces: tuple[str, ...] = ()
    problem: str = ""


def write_frame(stream: IO[bytes], content: msgspec.Struct) -> None:
    """Send one message."""
    body = msgspec.msgpack.encode(content)
    stream.write(len(body).to_bytes(_LENGTH_BYTES, "big"))
    stream.write(body)
    stream.flush()


def read_frame(stream: IO[bytes]) -> bytes | None:
    """Receive one message; None at the end of the stream, or when a message is too long or incomplete."""
    head = stream.read(_LENGTH_BYTES)
    size = int.from_bytes(head, "big")
    if len(head) < _LENGTH_BYTES or size > _MAX_FRAME_BYTES:
        return None
    body = stream.read(size)
    return body if len(body) == size else None


class Renderer:
    """A render process, started on demand. Any thread may use it; requests wait for each other."""

    def __init__(self, cpu_seconds: float = CPU_SECONDS) -> None:
        self._cpu_seconds = cpu_seconds
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def render(self, texts: Sequence[Text], data: Data) -> list[Rendered]:
        """Render texts; SecretError names the text that exceeded a limit, and the limit."""
        if not texts:
            return []
        request = Request(tuple(texts), data, self._cpu_seconds)
        with self._lock:
            answers = self._asked(request)
            if len(answers) == len(texts):
                return answers
            status = self._end()
            if status == 0 and not answers:
                # It ended as idle in this very moment.
                answers = self._asked(request)
                if len(answers) == len(texts):
                    return answers
                status = self._end()
        raise self._why_stopped(status, texts[len(answers)].name)

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._end()

    def _asked(self, request: Request) -> list[Rendered]:
        """The answers up to the end of the process, normally one for each text."""
        process = self._started()
        timer = threading.Timer(_SECONDS, process.kill)
        timer.daemon = True
        timer.start()
        try:
            return list(_answers(process, request))
        finally:
            timer.cancel()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            try:
                self._process = subprocess.Popen(
                    python_module("fairway.secrets.render_process"),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    cwd="/",
                    env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
                    start_new_session=True,
                )
            except OSError as error:
                raise RendererError(f"the template process cannot be started: {error.strerror}") from error
        return self._process

    def _end(self) -> int:
        """End the process and return its exit status; the next request starts a new one."""
        process, self._process = self._process, None
        if process is None:
            return 0
        with process:
            # A closed pipe ends a process that waits; one that still runs has broken the protocol.
            _close(process.stdin)
            try:
                return process.wait(timeout=_GRACE_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                return process.wait()

    def _why_stopped(self, status: int, name: str) -> SecretError | RendererError:
        if status == -signal.SIGPROF:
            return SecretError(
                f"{name}: the template was stopped: it took more than {self._cpu_seconds:g} s of CPU time"
            )
        if status == OUT_OF_MEMORY:
            return SecretError(
                f"{name}: the template was stopped: it needed more than {MEMORY_BYTES >> 20} MiB of memory"
            )
        if status == -signal.SIGKILL:
            # Also what the kernel does when the machine is out of memory.
            return RendererError(f"{name}: the template process was killed, or did not answer within {_SECONDS:g} s")
        return RendererError(f"{name}: the template process ended with status {status}")


#: Time in which a process ends that has closed its pipe.
_GRACE_SECONDS: Final = 5.0


def _close(pipe: IO[bytes] | None) -> None:
    try:
        if pipe is not None:
            pipe.close()
    except OSError:
        pass  # what was not sent is lost with the process


def _answers(process: subprocess.Popen[bytes], request: Request) -> Iterator[Rendered]:
    assert process.stdin is not None  # noqa: S101  # they are pipes
    assert process.stdout is not None  # noqa: S101
    try:
        write_frame(process.stdin, request)
    except UnicodeEncodeError:
        # Not chained: that error carries the text.
        raise SecretError("a template has half a surrogate pair in it, which UTF-8 cannot hold") from None
    except OSError:
        return
    for _ in request.texts:
        frame = read_frame(process.stdout)
        if frame is None:
            return
        yield msgspec.msgpack.decode(frame, type=Rendered)


#: The render process of this process.
RENDERER: Final = Renderer()
atexit.register(RENDERER.close)
