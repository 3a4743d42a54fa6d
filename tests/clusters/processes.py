"""The running programs of one cluster: started, looked after until they answer, and ended without ceremony."""

import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

#: A machine with twenty other things to do may take minutes; one that is quiet takes three seconds.
_PATIENCE_SECONDS = 400.0
_LAST_LINES = 25
#: As often as a program may end by itself.
_ENDS = 5


class DidNotStart(Exception):
    """What it was waited for, and what the programs said last."""


class Processes:
    """By name; what each says goes to a file of its own."""

    def __init__(self, commands: Mapping[str, list[str]], logs: Path) -> None:
        self._commands, self._logs = commands, logs
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        #: How often each has ended by itself.
        self._ends: Counter[str] = Counter()
        # They do not outlive a keeper that is killed, where the machine can see to it.
        self._with_us = ["setpriv", "--pdeathsig=KILL"] if shutil.which("setpriv") else []

    def start(self, *names: str) -> None:
        """Start those that do not run."""
        for name in names:
            if name in self._running and self._running[name].poll() is None:
                continue
            with (self._logs / f"{name}.log").open("ab") as said:
                self._running[name] = subprocess.Popen(
                    [*self._with_us, *self._commands[name]],
                    cwd=self._logs,
                    stdin=subprocess.DEVNULL,
                    stdout=said,
                    stderr=subprocess.STDOUT,
                )

    def are_wanted(self, *names: str) -> bool:
        """Whether they were started and not stopped since."""
        return all(name in self._running for name in names)

    def start_again(self) -> None:
        """Start those that have ended by themselves."""
        self.start(*self._running)

    def stop(self, *names: str) -> None:
        """Kill them: no farewell to anybody, like a machine that lost its power."""
        for name in names:
            if name in self._running:
                self._running[name].kill()
        for name in names:
            if name in self._running:
                self._running.pop(name).wait()

    def stop_all(self) -> None:
        """The callers first, so that none of them sees the others go."""
        self.stop(*reversed(self._running))

    def wait(self, what: str, answers: Callable[[], bool]) -> None:
        """Until it is so."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not answers():
            self._start_again(what)
            if time.monotonic() > deadline:
                raise DidNotStart(f"waited {_PATIENCE_SECONDS:.0f} s for {what}\n{self._said(*self._running)}")
            time.sleep(0.05)

    def _start_again(self, what: str) -> None:
        """Some of them give up when another one takes long to answer; one that does so again and again has a reason."""
        ended = {name: code for name, process in self._running.items() if (code := process.poll()) is not None}
        self._ends.update(ended.keys())
        if any(self._ends[name] > _ENDS for name in ended):
            raise DidNotStart(f"{_ended(ended)} while waiting for {what}\n{self._said(*ended)}")
        self.start(*ended)

    def _said(self, *names: str) -> str:
        """The last lines of each."""
        lines = []
        for name in names:
            said = (self._logs / f"{name}.log").read_text(errors="replace").splitlines()[-_LAST_LINES:]
            lines += [f"--- {name}:", *said]
        return "\n".join(lines)


def _ended(codes: Mapping[str, int]) -> str:
    return ", ".join(
        f"{name} was ended by {signal.Signals(-code).name}" if code < 0 else f"{name} ended with {code}"
        for name, code in codes.items()
    )
