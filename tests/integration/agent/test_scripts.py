"""Scripts in real pipelines: what their logs say, what stays secret, and what becomes of one that was interrupted."""

import asyncio
import contextlib
import os
import re
import signal
from pathlib import Path

import msgspec
import pytest

from fairway.model.command import CancelDeployment
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.log_block import LogSeverity
from fairway.model.stage import StageStatus
from fairway.rpc.plugin_api import PLACE_KEY
from fairway.secrets.sealed import PrivateKey, generate_key_pair, seal
from fairway.server.feed import Feed, LogTopic
from fairway.server.http_api.stream_logs import SharedLogs, new_blocks
from fairway.server.http_api.stream_position import LogPosition
from fairway.server.logs import StageLogKey
from tests.integration.agent.running import World, a_world, an_agent_at_work, an_application_file, script, until
from tests.integration.agent.test_cancelling import appears, there
from tests.integration.agent.test_deploying import nothing_kept
from tests.integration.git.repositories import an_origin

SECRET = "correct-horse-battery-staple"
ELSEWHERE = "interrupted: another agent had started the script elsewhere; whether its work was done is not known"
KILLED = "interrupted: the process that records the script's end was killed; whether its work was done is not known"


def a_list(*commands: str, **options: str) -> str:
    """A SCRIPT_RUN stage of several commands."""
    return msgspec.json.encode({"name": "SCRIPT_RUN", "with": {"runs": commands, **options}}).decode()


async def log_of(world: World, deployment: Deployment, stage: int = 0) -> list[tuple[str, LogSeverity]]:
    """The lines of a stage with their severity; durations, which differ, are written as one."""
    blocks = (await world.logs.read(StageLogKey(deployment.id, deployment.stages[stage].id, 0))).blocks
    lines = [(line, block.severity) for block in blocks for line in block.log.split("\n")]
    return [(re.sub(r"after \d+\.\ds", "after 1s", line), severity) for line, severity in lines]


def kept(deployment: Deployment) -> dict[str, str]:
    """What is kept with the first stage, for programs; where it ran and how long it took differs."""
    found = dict(deployment.stages[0].metadata)
    assert found.pop(PLACE_KEY)
    return {**found, "fairway/seconds": "a number"} if float(found["fairway/seconds"]) >= 0 else found


async def test_the_log_of_a_list_shows_each_command_and_which_one_failed(tmp_path: Path) -> None:
    file = an_application_file(a_list("x='open quote is closed'", 'echo "$x"', "false && true", "echo never"))
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            deployment = await world.ended()
        log = await log_of(world, deployment)

    info, end = LogSeverity.INFO, "command 3 of 4 failed: exit status 1 after 1s"
    assert log == [
        ("$ x='open quote is closed'", info),
        ('$ echo "$x"', info),
        ("open quote is closed", info),
        ("$ false && true", info),
        (end, LogSeverity.ERROR),
    ]
    assert deployment.status_reason.startswith("Stage SCRIPT_RUN failed: command 3 of 4 failed: exit status 1 after ")


async def test_all_lines_of_a_loud_script_are_stored_and_streamed(tmp_path: Path) -> None:
    file = an_application_file(script("seq 1 200000"))
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            deployment = await world.ended()
        stored = await world.output(deployment, 0)
        topic = LogTopic(deployment.id, deployment.stages[0].id)
        events = new_blocks(SharedLogs(world.logs, Feed()), topic, LogPosition(0), 0)
        streamed = [block.log async for event, _ in events for block in event.blocks]

    lines = [str(number) for number in range(1, 200_001)]
    assert stored.split("\n") == lines
    assert "\n".join(streamed).split("\n")[:-1] == lines


async def test_the_log_tells_the_signal_and_keeps_colours_and_the_chosen_shell(tmp_path: Path) -> None:
    colours = r"printf '\033[31mred\033[0m\n'; [[ a == a ]] && echo bash; kill -9 $$"
    file = an_application_file(script(colours, shell="/bin/bash"))
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            deployment = await world.ended()
        log = await log_of(world, deployment)

    assert log == [
        ("\x1b[31mred\x1b[0m", LogSeverity.INFO),
        ("bash", LogSeverity.INFO),
        ("ended by signal 9 (SIGKILL) after 1s", LogSeverity.ERROR),
    ]
    assert kept(deployment) == {
        "fairway/attempts": "1",
        "fairway/exit-status": "137",
        "fairway/seconds": "a number",
        "fairway/signal": "SIGKILL",
    }


async def test_a_shell_that_is_not_there_is_the_reason(tmp_path: Path) -> None:
    file = an_application_file(script("true", shell="/bin/sh-that-is-not-there"))
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            deployment = await world.ended()
        log = [line for line, _ in await log_of(world, deployment)]

    assert "/bin/sh-that-is-not-there: not found" in log[0]
    assert log[1:] == ["exit status 127 after 1s"]


async def test_the_log_of_a_cancelled_script_says_who_and_how(tmp_path: Path) -> None:
    file = an_application_file(script(f"echo begun; touch {tmp_path}/mark; sleep 1000"))
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            await appears(tmp_path / "mark")
            running = await there(world, 1)
            await world.command(CancelDeployment(deployment_id=running.id))
            deployment = await world.ended()
        log = await log_of(world, deployment)

    assert log == [
        ("begun", LogSeverity.INFO),
        ("Cancelled by ada: ended by signal 15 (SIGTERM) after 1s", LogSeverity.ERROR),
    ]
    assert kept(deployment)["fairway/signal"] == "SIGTERM"


async def test_a_secret_is_in_no_log_and_on_no_command_line_also_in_two_writes(tmp_path: Path) -> None:
    keys = generate_key_pair(2048)
    spec = f"  encryptedSecrets:\n    key: {seal(SECRET, keys.public_key_pem)}\n"
    run = f"""x='{{{{ .encryptedSecrets.key }}}}'
echo "whole $x"; printf 'half %s' "${{x%-battery*}}"; touch {tmp_path}/mark
while [ ! -e {tmp_path}/go ]; do sleep 0.02; done; echo "${{x#*horse}}"; echo "$KEY" >&2"""
    file = an_application_file(script(run, env={"KEY": "{{ .encryptedSecrets.key }}"}), spec=spec)
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world, unsealer=PrivateKey.from_pem(keys.private_key_pem.reveal())):
            await appears(tmp_path / "mark")
            command_lines = all_command_lines()
            (tmp_path / "go").touch()
            deployment = await world.ended()
            await until(lambda: nothing_kept(world, deployment))
            # What a deployment needed is removed right after its end was told.
            await until(lambda: asyncio.to_thread(is_in_no_file, SECRET, world.data))
        log = await world.output(deployment, 0)

    assert (deployment.status, log) == (DeploymentStatus.SUCCEEDED, "whole •••\nhalf •••\n•••")
    assert not [line for line in command_lines if SECRET.encode() in line]


def is_in_no_file(word: str, folder: Path) -> bool:
    """Whether a word stands in none of the files below a folder; any of them may go while it is looked at."""
    for directory, _, names in os.walk(folder):
        for name in names:
            # Sockets and the like cannot be read.
            with contextlib.suppress(OSError):
                if word.encode() in Path(directory, name).read_bytes():
                    return False
    return True


def all_command_lines() -> list[bytes]:
    lines = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            lines.append(process.read_bytes())
    return lines


@pytest.mark.parametrize(
    ("on_interrupted", "runs", "status", "end"),
    [
        pytest.param("fail", 1, DeploymentStatus.FAILED, KILLED, id="fails"),
        pytest.param("run-again", 2, DeploymentStatus.SUCCEEDED, "exit status 0 after", id="is run again"),
    ],
)
async def test_a_script_that_was_killed_with_all_around_it(
    tmp_path: Path, on_interrupted: str, runs: int, status: DeploymentStatus, end: str
) -> None:
    once = f"echo run >> {tmp_path}/ran; [ $(wc -l < {tmp_path}/ran) -ge 2 ] || kill -9 0"
    file = an_application_file(script(once, onInterrupted=on_interrupted))
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            deployment = await world.ended()
        log = await world.log(deployment, 0)

    assert (deployment.status, (tmp_path / "ran").read_text().count("run")) == (status, runs)
    assert deployment.stages[0].status_reason.startswith(end)
    assert KILLED in log


@pytest.mark.parametrize(
    ("on_interrupted", "runs", "status"),
    [
        pytest.param("fail", 1, DeploymentStatus.FAILED, id="fails"),
        pytest.param("run-again", 2, DeploymentStatus.SUCCEEDED, id="is run again"),
    ],
)
async def test_a_script_that_another_machine_has_begun(
    tmp_path: Path, on_interrupted: str, runs: int, status: DeploymentStatus
) -> None:
    run = f"echo run >> {tmp_path}/ran; echo $$ > {tmp_path}/pid; [ -e {tmp_path}/go ] || sleep 1000"
    undo = f"echo undone >> {tmp_path}/undone"
    file = an_application_file(script(run, onInterrupted=on_interrupted, onRollback=undo), script("true"))
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            pid = await until(lambda: written(tmp_path / "pid"))
        # The other machine has nothing of this one's files, and this one is gone.
        os.killpg(os.getpgid(int(pid)), signal.SIGKILL)
        (tmp_path / "go").touch()
        world.data = tmp_path / "another"
        async with an_agent_at_work(world):
            deployment = await world.ended()

    assert (deployment.status, (tmp_path / "ran").read_text().count("run")) == (status, runs), deployment
    assert (tmp_path / "undone").exists() is (status is DeploymentStatus.FAILED)
    if status is DeploymentStatus.FAILED:
        assert deployment.stages[0].status is StageStatus.FAILED
        assert deployment.status_reason == f"Stage SCRIPT_RUN failed: {ELSEWHERE}; it was rolled back"


async def written(path: Path) -> str:
    found = await asyncio.to_thread(path.read_text) if await asyncio.to_thread(path.exists) else ""
    return found.strip()
