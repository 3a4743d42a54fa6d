"""`fairway up`: one command, and everything runs; Ctrl-C, and nothing is left; again, and it goes on."""

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
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from tests.acceptance.server.processes import FAIRWAY
from tests.integration.agent.running import an_application_file, script
from tests.integration.git.repositories import an_origin
from tests.patience import PATIENCE_SECONDS
from tests.ports import a_free_port

#: Variables that would change what a command does or how it looks.
_FOREIGN = ("FAIRWAY_", "XDG_", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TERM", "GIT_")

#: A program that looks at what is deployed, as soon as it may.
LOOK = """\
import os, time, urllib.request
print("begun", flush=True)
while not os.path.exists("{go}"):
    time.sleep(0.05)
urllib.request.urlopen("http://127.0.0.1:{port}/")
"""


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


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_the_demo_rolls_out_and_rolls_back_and_a_second_up_changes_nothing(machine: Machine) -> None:
    first = machine.until_idle("--approve")
    second = machine.until_idle("--approve")

    assert (first.returncode, second.returncode) == (0, 0), first.stdout + second.stdout + second.stderr
    assert re.search(r"^  API: http://127\.0\.0\.1:\d+/api/v1, its key: \S+/api\.key$", first.stdout, re.MULTILINE)
    assert "│ 200 Hello from version 2 (canary)" in first.stdout
    assert "hello: PROCESS_CANARY_CLEAN succeeded" in first.stdout
    assert re.search(
        r"risky: deployment failed: Stage SCRIPT_RUN failed: exit status 1 after \S+; it was rolled back", first.stdout
    )
    assert "deployment" not in second.stdout
    assert machine.processes() == {}
    private = [machine.data / "api.key", machine.data / "agent.key", machine.home / ".config/fairway/config.yaml"]
    assert [oct(file.stat().st_mode & 0o777) for file in private] == ["0o600"] * 3


def test_ctrl_c_stops_everything_and_the_next_up_goes_on(machine: Machine) -> None:
    with machine.up() as up:
        up.until("hello: WAIT_APPROVAL waits for approval")
        status = up.interrupt()
    left = machine.processes()
    with machine.up() as up:
        waiting = up.until("waits for approval").split("deployment approve ")[1].strip()
        approved = machine.run("deployment", "approve", *waiting.split())
        up.until("hello: deployment succeeded")
        answer = machine.demo_answer("hello")
        deployments = machine.ended_deployments()
        agents = machine.listed("agent")
        up.interrupt()

    assert (status, left) == (0, {})
    assert approved.returncode == 0, approved.stderr
    reasons = [stage["status_reason"] for each in deployments for stage in each["stages"]]
    assert [reason.split(" at ")[0] for reason in reasons if "Approved" in reason] == ["Approved by ada-l"]
    assert sorted(each["status"] for each in deployments) == ["failed", "succeeded", "succeeded", "succeeded"]
    assert answer == "Hello from version 2 (primary)\n"
    assert [each["name"] for each in agents] == ["up"]


def test_closing_the_terminal_stops_everything(machine: Machine) -> None:
    with machine.up_on_a_terminal() as terminal:
        terminal.until("deployment approve")
        before = machine.processes()
        terminal.close()
        terminal.process.wait()

    assert [arguments for arguments in before.values() if "process.keeper" in arguments]
    assert machine.processes() == {}


def test_a_script_that_ctrl_c_has_ended_counts_as_interrupted_and_is_run_again_if_it_may(
    machine: Machine, tmp_path: Path
) -> None:
    marker = tmp_path / "begun"
    text = f"test -e {marker} || {{ touch {marker}; echo begun; sleep 600; }}"
    stage = script(text, onInterrupted="run-again")
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": an_application_file(stage)})

    with machine.up("--repo", origin.bare, "--register") as up:
        up.until("│ begun")
        up.process.send_signal(signal.SIGINT)
        up.until("a script is still running")
        status = up.interrupt()
    left = machine.processes()
    again = machine.until_idle()

    assert (status, left) == (0, {})
    assert again.returncode == 0, again.stderr


def test_a_script_that_looks_at_what_is_deployed_is_given_time_before_that_goes(
    machine: Machine, tmp_path: Path
) -> None:
    go, port = tmp_path / "go", a_free_port()
    process = f"  plugins: {{process: {{command: python3 -m http.server $PORT, port: {port}}}}}"
    application = an_application_file('{"name": "PROCESS_SYNC"}', script("python3 look.py"), spec=process)
    look = LOOK.format(go=go, port=port)
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": application, "web/look.py": look})

    with machine.up("--repo", origin.bare, "--register") as up:
        up.until("│ begun")
        up.process.send_signal(signal.SIGINT)
        up.until("a script is still running")
        go.touch()
        up.end()
    again = machine.until_idle()

    assert machine.processes() == {}
    assert again.returncode == 0, again.stderr


def test_killed_parts_come_back_and_the_demo_goes_on(machine: Machine) -> None:
    with machine.up("--approve") as up:
        up.until("hello: WAIT │ Waiting")
        for pid, arguments in machine.processes().items():
            if "fairway.cli server " in arguments or "fairway.cli agent " in arguments:
                # One that becomes another program is called as its parent is for a moment, and may be over.
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        up.until("hello: PROCESS_CANARY_CLEAN succeeded")
        status = up.interrupt()

    assert (status, machine.processes()) == (0, {})


def test_a_killed_up_takes_server_and_agent_along(machine: Machine) -> None:
    with machine.up() as up:
        up.until("waits for approval")
        up.process.kill()
    with machine.up("--approve") as up:
        up.until("hello: PROCESS_CANARY_CLEAN succeeded")
        up.interrupt()

    assert machine.processes() == {}


def test_one_directory_is_for_one_up(machine: Machine) -> None:
    with machine.up() as up:
        up.until("starting the server")
        second = machine.until_idle()

    assert (second.returncode, second.stdout) == (1, "")
    assert "another `fairway up` works in" in second.stderr


def test_a_repository_of_the_users_own_is_looked_at_and_left_alone(machine: Machine, tmp_path: Path) -> None:
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": an_application_file(script("echo from my own"))})

    with machine.up("--repo", origin.work) as up:
        found = up.until("found web in web")
        deployments = machine.listed("deployment")
        up.interrupt()

    assert "app add web --agent up --repository work --path web" in found
    assert deployments == []
    assert not (machine.data / "demo").exists()


def test_what_is_found_in_it_is_deployed_when_asked_and_watched_from_then_on(machine: Machine, tmp_path: Path) -> None:
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": an_application_file(script("cat words"))})
    origin.commit({"web/words": "first words"})

    registered = machine.until_idle("--repo", origin.bare, "--register")
    with machine.up() as up:
        up.until("starting the agent")
        origin.commit({"web/words": "second words"})
        up.until("│ second words")
        up.interrupt()

    assert registered.returncode == 0, registered.stdout + registered.stderr
    assert "│ first words" in registered.stdout


def test_where_no_application_is_registered_it_ends_and_says_what_to_do(machine: Machine, tmp_path: Path) -> None:
    origin = an_origin(tmp_path, {"README": "nothing to deploy"})

    none = machine.until_idle("--repo", origin.bare, "--register")
    origin.commit({"web/app.pipecd.yaml": an_application_file(script("true"))})
    found = machine.until_idle()

    assert (none.returncode, found.returncode) == (1, 1)
    assert none.stderr == f"fairway: no application is registered; none was found in {origin.bare}, branch main\n"
    assert found.stderr == "fairway: no application is registered; found web: add --register\n"


def test_what_was_committed_meanwhile_is_left_to_do(machine: Machine, tmp_path: Path) -> None:
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": an_application_file(script("cat words"))})

    failed = machine.until_idle("--repo", origin.bare, "--register")
    origin.commit({"web/words": "the right words"})
    mended = machine.until_idle()

    assert (failed.returncode, mended.returncode) == (1, 0), mended.stdout + mended.stderr
    assert "│ the right words" in mended.stdout


def test_what_ends_otherwise_than_it_should_is_said_by_the_status(machine: Machine, tmp_path: Path) -> None:
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": an_application_file(script("exit 3"))})

    done = machine.until_idle("--repo", origin.bare, "--register")

    assert done.returncode == 1
    assert "fairway: web failed (Stage SCRIPT_RUN failed: exit status 3 after" in done.stderr


def test_an_application_that_cannot_be_registered_is_said_and_is_not_as_it_should_be(
    machine: Machine, tmp_path: Path
) -> None:
    good = an_application_file(script("true"))
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": good, "web/second.pipecd.yaml": f"{good}  labels: 7\n"})

    broken = machine.until_idle("--repo", origin.bare, "--register")
    origin.commit({"web/second.pipecd.yaml": good.replace("name: web", "name: second")})
    mended = machine.until_idle("--register")

    why = "web/second.pipecd.yaml:10:11: error: spec.labels: "
    assert broken.returncode == 1
    assert f"  ! {why}" in broken.stdout
    assert f"fairway: {why}" in broken.stderr
    assert (mended.returncode, "second: deployment succeeded" in mended.stdout) == (0, True), mended.stdout


def test_a_secret_that_was_sealed_for_its_agent_is_opened_for_a_script_and_masked_in_its_log(
    machine: Machine, tmp_path: Path
) -> None:
    stage = script("cat token.txt; test $(wc -c < token.txt) = 17")
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": an_application_file(script("true"))})

    with machine.up("--repo", origin.bare, "--register") as up:
        up.until("web: deployment succeeded")
        sealed = machine.run("encrypt", "--agent", "up", "--profile", "up", stdin="hush-hush-1")
        spec = f"  encryption: {{encryptedSecrets: {{token: {sealed.stdout.strip()}}}, decryptionTargets: [token.txt]}}"
        target = "token {{ .encryptedSecrets.token }}"
        origin.commit({"web/app.pipecd.yaml": an_application_file(stage, spec=spec), "web/token.txt": target})
        logged = up.until("SCRIPT_RUN │ token")
        up.until("web: deployment succeeded")
        up.interrupt()

    assert sealed.returncode == 0, sealed.stderr
    assert logged.endswith("│ token •••\n")
