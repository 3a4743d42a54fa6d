"""`fairway up`: one command, and everything runs; Ctrl-C, and nothing is left; again, and it goes on."""

import os
import re
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from tests.acceptance.cli.machines import Machine
from tests.integration.agent.running import an_application_file, script
from tests.integration.git.repositories import an_origin
from tests.ports import a_free_port

#: A program that looks at what is deployed, as soon as it may.
LOOK = """\
import os, time, urllib.request
print("begun", flush=True)
while not os.path.exists("{go}"):
    time.sleep(0.05)
urllib.request.urlopen("http://127.0.0.1:{port}/")
"""


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
