"""A process that is killed outright while it clones or fetches leaves a mirror that the next one can use."""

import asyncio
import sys
from pathlib import Path

import pytest

from fairway.git.mirror import Mirror, MirrorOptions
from tests.integration.git.repositories import an_origin
from tests.patience import PATIENCE_SECONDS

OWNER = """
import asyncio, sys
from pathlib import Path
from fairway.git.mirror import Mirror

async def main():
    print("cloning", flush=True)
    async with await Mirror.open(Path(sys.argv[1]), sys.argv[2]) as mirror:
        while True:
            print("fetching", flush=True)
            await mirror.fetch()

asyncio.run(main())
"""


@pytest.mark.parametrize(
    "lines",
    [pytest.param(1, id="while cloning"), pytest.param(2, id="in the first fetch"), pytest.param(6, id="later")],
)
async def test_the_next_owner_of_a_mirror_finds_it_usable(tmp_path: Path, lines: int) -> None:
    origin = an_origin(tmp_path, {f"apps/{number}.yaml": f"n: {number}\n" * 50 for number in range(200)})
    command = (sys.executable, "-c", OWNER, str(tmp_path / "m.git"), f"file://{origin.bare}")
    owner = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert owner.stdout is not None
    for _ in range(lines):
        await owner.stdout.readline()

    owner.kill()
    await owner.communicate()
    newest = origin.commit({"apps/1.yaml": "n: new\n"})
    async with await Mirror.open(
        tmp_path / "m.git", f"file://{origin.bare}", MirrorOptions(patience=PATIENCE_SECONDS)
    ) as mirror:
        await mirror.fetch()
        read = await mirror.read_file(newest, "apps/1.yaml")

    assert read == b"n: new\n"
    assert not [path for path in (tmp_path / "m.git.new", tmp_path / "m.git.old") if path.exists()]
