"""A machine on which `fairway up` runs, and what somebody who sits at it sees."""

import fcntl
import json
import os
import pty
import re
import signal
import subprocess
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from tests.acceptance.server.processes import FAIRWAY
from tests.patience import PATIENCE_SECONDS

#: Variables that would change what a command does or how it looks.
_FOREIGN = ("FAIRWAY_", "XDG_", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TERM", "GIT_")


class Machine:
    """A home directory, and a data directory for `fairway up`."""

    def __init__(self, folder: Path) -> None:
        self.data = folder / "data"
        self.home = folder / "home"
        self.home.mkdir()

    @property
    def environment(self) -> dict[str, str]:
        ours = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
        return {**ours, "HOME": str(self.home), "LANG": "C.UTF-8", "TZ": "UTC", "LOGNAME": "Ada L."}

    def run(self, *arguments: str | Path, stdin: str = "") -> "subprocess.CompletedProcess[str]":
        """Call the command and wait for its end."""
        command = [FAIRWAY, *arguments]
        return subprocess.run(
            command,
            env=self.environment,
            cwd=self.home,
            text=True,
            input=stdin,
            capture_output=True,
            check=False,
            timeout=2 * PATIENCE_SECONDS,
        )

    def until_idle(self, *arguments: str | Path) -> "subprocess.CompletedProcess[str]":
        """`fairway up` until everything rests."""
        return self.run(*self._up(*arguments), "--until-idle", "--timeout", f"{PATIENCE_SECONDS:.0f}s")

    @contextmanager
    def up(self, *arguments: str | Path) -> Iterator["Up"]:
        """`fairway up` for as long as the block lasts; it is killed at its end, or when it hangs."""
        process = subprocess.Popen(
            [FAIRWAY, *self._up(*arguments)],
            env=self.environment,
            cwd=self.home,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        watchdog = threading.Timer(3 * PATIENCE_SECONDS, process.kill)
        watchdog.start()
        try:
            yield Up(process)
        finally:
            watchdog.cancel()
            process.kill()
            Up(process).end()
            assert process.stdout is not None
            process.stdout.close()

    @contextmanager
    def up_on_a_terminal(self, *arguments: str | Path) -> Iterator["Terminal"]:
        """`fairway up` on a terminal of its own, for as long as the block lasts."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [FAIRWAY, *self._up(*arguments)],
            env={**self.environment, "TERM": "xterm"},
            cwd=self.home,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            # So that it is told when the terminal is closed, as by a shell.
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - a system call; it takes no lock
        )
        os.close(theirs)
        watchdog = threading.Timer(3 * PATIENCE_SECONDS, process.kill)
        watchdog.start()
        terminal = Terminal(ours, process)
        try:
            yield terminal
        finally:
            watchdog.cancel()
            process.kill()
            process.wait()
            terminal.close()

    def listed(self, nouns: str) -> list[dict[str, Any]]:
        """What `fairway … list` says, by the profile that `up` has written."""
        done = self.run(nouns, "list", "--json", "--profile", "up")
        assert done.returncode == 0, done.stderr
        items: list[dict[str, Any]] = json.loads(done.stdout)["items"]
        return items

    def ended_deployments(self) -> list[dict[str, Any]]:
        """All deployments, once each has ended: they run side by side, and any may be the last."""
        ends = ("--status", "succeeded", "--status", "failed")
        for each in self.listed("deployment"):
            if each["status"] not in ends:
                waited = self.run("deployment", "wait", each["id"], *ends, "--profile", "up")
                assert waited.returncode == 0, waited.stderr
        return self.listed("deployment")

    def demo_answer(self, name: str) -> str:
        """What an application of the demo says to whoever asks."""
        port = re.search(r"port: (\d+)", (self.data / "demo" / name / "app.pipecd.yaml").read_text())
        assert port is not None
        with urlopen(f"http://127.0.0.1:{port[1]}/", timeout=PATIENCE_SECONDS) as answer:
            said: str = answer.read().decode()
        return said

    def processes(self) -> dict[int, str]:
        """Whatever runs with the data directory in its arguments."""
        found = {}
        for entry in os.scandir("/proc"):
            try:
                arguments = Path(entry.path, "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except (OSError, NotADirectoryError):
                continue
            if entry.name.isdigit() and str(self.data) in arguments:
                found[int(entry.name)] = arguments
        return found

    def _up(self, *arguments: str | Path) -> tuple[str | Path, ...]:
        return ("up", "--data", self.data, "--listen", "127.0.0.1:0", *arguments)


class Up:
    """A `fairway up` that runs."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process

    def until(self, words: str) -> str:
        """The first line from now on that has these words."""
        assert self.process.stdout is not None
        said = []
        for line in self.process.stdout:
            said.append(line)
            if words in line:
                return line
        raise AssertionError("".join(said))

    def interrupt(self) -> int:
        """Ctrl-C; how it ends."""
        self.process.send_signal(signal.SIGINT)
        return self.end()

    def end(self) -> int:
        """Wait for its end, and for that of everybody who could still write where it writes."""
        assert self.process.stdout is not None
        self.process.stdout.read()
        return self.process.wait()


class Terminal:
    """A terminal on which `fairway up` draws."""

    def __init__(self, descriptor: int, process: "subprocess.Popen[bytes]") -> None:
        self._descriptor: int | None = descriptor
        self.process = process

    def until(self, words: str) -> None:
        """Read until these words have been drawn."""
        assert self._descriptor is not None
        drawn = b""
        while words.encode() not in drawn:
            drawn += os.read(self._descriptor, 65_536)

    def close(self) -> None:
        """Close it, as somebody does who closes the window."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
