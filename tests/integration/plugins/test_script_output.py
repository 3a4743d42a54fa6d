"""The output of a script on a disk that is full: what is missing is counted, and the exit status is known."""

import asyncio
import os
import signal
from pathlib import Path

from fairway.model.stage import StageStatus
from fairway.plugins.scriptrun.journal import Journal, Order
from fairway.plugins.scriptrun.plugin import ScriptRun
from fairway.sdk.testing import plugin_under_test
from tests.acceptance.agent.disks import a_small_disk
from tests.integration.agent.running import until

LINES = 4000
#: Each line has the same length, and the disk is smaller than all of them.
PRINTS = "touch {0}/runs; while [ ! -e {0}/go ]; do sleep 0.02; done; seq -f %0199.0f {1}; exit 3"


async def test_lines_that_a_full_disk_did_not_take_are_counted(tmp_path: Path) -> None:
    async def runs() -> bool:
        return (tmp_path / "runs").exists()

    with a_small_disk(tmp_path / "disk", "1m") as disk:
        folder = disk.seen / "plugin"
        folder.mkdir()
        (folder / "application").mkdir()
        async with plugin_under_test(ScriptRun, folder) as plugin:
            running = asyncio.create_task(plugin.run("SCRIPT_RUN", {"run": PRINTS.format(tmp_path, LINES)}, id="s"))
            await until(runs)
            disk.fill()
            (tmp_path / "go").touch()
            ended = await running
        stored = (folder / "state" / "deployment" / "s-0-0" / "output").read_bytes()

    missing = LINES - stored.count(b"\n")
    assert missing > 0
    assert ended.status is StageStatus.FAILED
    assert ended.message.startswith("exit status 3")
    # The last stored line may be incomplete.
    lost = LINES * 200 - len(stored)
    sentence = f"{missing} lines of output ({lost} bytes) are missing: the agent's disk was full"
    assert sentence in "\n".join(ended.log)


async def test_output_goes_on_when_there_is_room_again(tmp_path: Path) -> None:
    text = f"seq {LINES}; touch {tmp_path}/runs; while [ ! -e {tmp_path}/go ]; do sleep 0.02; done; echo last"

    async def runs() -> bool:
        return (tmp_path / "runs").exists()

    with a_small_disk(tmp_path / "disk", "1m") as disk:
        journal = Journal(disk.seen / "state" / "deployment" / "stage-0-0")
        await journal.start(Order(text=text, shell="/bin/sh", directory=tmp_path))
        await until(runs)
        disk.fill()
        disk.free()
        (tmp_path / "go").touch()
        await journal.ended()
        await journal.stream.stored(60.0)

        assert journal.output(0, 2**20).split()[-1] == b"last"
        assert journal.stream.missing() is None


async def test_a_writer_that_was_killed_is_told(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "state" / "deployment" / "stage-0-0")
    text = f"echo first; while [ ! -e {tmp_path}/go ]; do sleep 0.02; done"
    await journal.start(Order(text=text, shell="/bin/sh", directory=tmp_path))

    async def has_output() -> bool:
        return journal.written > 0

    await until(has_output)
    writer = int((journal.directory / "writer").read_text())
    os.killpg(writer, signal.SIGKILL)
    (tmp_path / "go").touch()
    await journal.ended()

    missing = Journal(journal.directory).stream.missing()
    assert missing is not None
    assert str(missing).startswith("Lines of output may be missing")


async def test_a_silent_script_misses_nothing(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "state" / "deployment" / "stage-0-0")
    await journal.start(Order(text="true", shell="/bin/sh", directory=tmp_path))
    await journal.ended()
    await journal.stream.stored(60.0)

    assert journal.stream.missing() is None
