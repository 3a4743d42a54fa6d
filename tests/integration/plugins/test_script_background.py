"""Processes that a script leaves running: ended with it, or kept where the stage says so."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from fairway.model.stage import StageStatus
from fairway.plugins.scriptrun import tree
from fairway.plugins.scriptrun.plugin import ScriptRun
from fairway.sdk.testing import plugin_under_test
from tests.integration.agent.running import until

LEAVES = "setsid sleep 1000 > /dev/null 2>&1 & echo $! > {0}/child"
#: Its shell ends by SIGTERM; what that started does not.
DEAF = "setsid sh -c 'trap \"\" TERM; echo $$ > {0}/child; while :; do sleep 0.02; done' & wait"


def lives(folder: Path) -> bool:
    stat = Path(f"/proc/{(folder / 'child').read_text().strip()}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.parametrize(
    ("stage", "option", "end"),
    [
        pytest.param("SCRIPT_RUN", "run", "", id="after success"),
        pytest.param("SCRIPT_RUN", "run", "; exit 3", id="after failure"),
        pytest.param("SCRIPT_RUN_ROLLBACK", "onRollback", "", id="of a rollback"),
    ],
)
async def test_what_a_script_leaves_running_is_ended_and_named(
    tmp_path: Path, stage: str, option: str, end: str
) -> None:
    async with plugin_under_test(ScriptRun, tmp_path) as plugin:
        plugin.agent.plugin_notes["scriptrun"] = {"started-0": "another place"} if option == "onRollback" else {}
        ended = await plugin.run(stage, {"run": "true", option: LEAVES.format(tmp_path) + end})

    assert ended.status is (StageStatus.FAILED if end else StageStatus.SUCCEEDED)
    assert ended.log[0] == "Ended what the script left running: 1 process: sleep"
    assert not lives(tmp_path)


async def test_what_a_script_leaves_running_is_kept_where_the_stage_says_so(tmp_path: Path) -> None:
    async with plugin_under_test(ScriptRun, tmp_path) as plugin:
        ended = await plugin.run("SCRIPT_RUN", {"run": LEAVES.format(tmp_path), "background": "keep"})

    assert (ended.status, lives(tmp_path)) == (StageStatus.SUCCEEDED, True)
    os.kill(int((tmp_path / "child").read_text()), signal.SIGKILL)


async def test_a_cancelled_script_says_what_outlived_sigterm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairway.plugins.scriptrun.plugin._GRACE_SECONDS", 0.05)

    async def runs() -> bool:
        return (tmp_path / "child").exists() and bool((tmp_path / "child").read_text())

    async with plugin_under_test(ScriptRun, tmp_path) as plugin:
        running = asyncio.create_task(plugin.run("SCRIPT_RUN", {"run": DEAF.format(tmp_path)}, id="s"))
        await until(runs)
        await plugin.stop("s", "cancelled by Ada")
        ended = await running

    (line,) = ended.log
    assert line.startswith("cancelled by Ada: ended by signal 15 (SIGTERM) after ")
    assert "; SIGKILL after " in line
    assert "process" in line
    assert not lives(tmp_path)


async def test_sigterm_reaches_each_process_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[str, int]] = []
    kill, killpg = os.kill, os.killpg

    def record(pid: int, number: int) -> None:
        sent.extend([("process", pid)] if number == signal.SIGTERM else [])
        kill(pid, number)

    def record_group(group: int, number: int) -> None:
        sent.append(("group", group))
        killpg(group, number)

    # The keeper ignores SIGTERM; one child is in its group, the other in a session of its own.
    text = "trap : TERM; sleep 1000 & setsid sleep 1000 & echo $! > $0/child; while :; do sleep 1000 & wait; done"
    keeper = await asyncio.create_subprocess_exec(
        "/bin/sh", "-c", text, str(tmp_path), env={**os.environ, **tree.mark(tmp_path)}, start_new_session=True
    )
    until_started = tree.Tree(tmp_path, keeper.pid)

    async def runs() -> bool:
        return len(until_started.processes()) == 3 and bool((tmp_path / "child").read_text())

    await until(runs)
    monkeypatch.setattr(os, "kill", record)
    monkeypatch.setattr(os, "killpg", record_group)

    ended = asyncio.create_task(tree.Tree(tmp_path, keeper.pid).end(0.05))
    await ended

    assert sent == [("group", keeper.pid), ("process", int((tmp_path / "child").read_text()))]
    kill(keeper.pid, signal.SIGKILL)
    await keeper.wait()
