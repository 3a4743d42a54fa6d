"""What a commit touches, and all configuration files at a commit, against bare git on the same repository."""

import subprocess
from pathlib import Path

from bench.figures import Figure, best_of
from bench.repository import APPLICATIONS, CHANGED, Repository
from fairway.config.application import ApplicationConfig
from fairway.config.find import is_application_file
from fairway.config.remembered import RememberedReadings
from fairway.delivery.commit import TouchIndex, TouchRule
from fairway.git.mirror import Mirror


async def bench_git(repository: Repository, directory: Path) -> list[Figure]:
    """Both benches on one mirror."""
    async with await Mirror.open(directory / "mirror", str(repository.path)) as mirror:
        configs = await _configs(mirror, repository.second, RememberedReadings())
        return [await _touched(mirror, repository, configs), await _read(mirror, repository)]


async def _configs(mirror: Mirror, commit: str, remembered: RememberedReadings) -> dict[str, ApplicationConfig]:
    tree = await mirror.tree(commit)
    blobs = {path: entry.hash for path, entry in tree.items() if is_application_file(path)}
    contents = await mirror.read_blobs(list(remembered.unknown(blobs).values()))
    return {path: reading.config for path, reading in remembered.read(blobs, contents).items()}


def _index(configs: dict[str, ApplicationConfig]) -> TouchIndex:
    return TouchIndex(
        TouchRule(
            application_id=path,
            directory=path.rpartition("/")[0],
            paths=config.trigger.on_commit.paths,
            ignores=config.trigger.on_commit.ignores,
        )
        for path, config in configs.items()
    )


async def _touched(mirror: Mirror, repository: Repository, configs: dict[str, ApplicationConfig]) -> Figure:
    index = _index(configs)
    known = [change.path for change in await mirror.changes(repository.first, repository.second)]

    async def bare() -> None:
        arguments = ["diff-tree", "-r", "-z", "--name-only", repository.first, repository.second]
        output = subprocess.run(["git", "-C", repository.path, *arguments], capture_output=True, check=True).stdout
        assert len(output.split(b"\0")) == CHANGED + 1

    async def ours() -> None:
        changed = await mirror.changes(repository.first, repository.second)
        assert len(index.touched_by(change.path for change in changed)) == CHANGED

    async def seen() -> None:
        assert len(index.touched_by(known)) == CHANGED

    async def build() -> None:
        _index(configs)

    *times, building = await best_of(bare, ours, seen, build)
    # The index changes with the applications, not with the commits; what it costs is said, not counted.
    name = f"find what a commit touches (index built before: {building * 1000:.0f} ms)"
    return Figure(name, "git diff-tree", *times)


async def _read(mirror: Mirror, repository: Repository) -> Figure:
    tree = await mirror.tree(repository.second)
    hashes = [entry.hash for path, entry in tree.items() if is_application_file(path)]
    request = "".join(f"{blob}\n" for blob in hashes).encode()
    remembered = RememberedReadings()
    blobs = {path: entry.hash for path, entry in tree.items() if is_application_file(path)}
    remembered.read(blobs, await mirror.read_blobs(hashes))

    async def bare() -> None:
        command = ["git", "-C", str(repository.path), "cat-file", "--batch"]
        assert subprocess.run(command, input=request, capture_output=True, check=True).stdout

    async def ours() -> None:
        listed = await mirror.tree(repository.second)
        found = [entry.hash for path, entry in listed.items() if is_application_file(path)]
        assert len(await mirror.read_blobs(found)) == APPLICATIONS

    async def seen() -> None:
        # The commit before was read; what differs from it is asked for, and nothing of it has to be fetched.
        changes = await mirror.changes(repository.first, repository.second)
        changed = {each.path: each.new for each in changes if each.new and is_application_file(each.path)}
        assert await mirror.read_blobs(list(remembered.unknown(blobs | changed).values())) == {}

    return Figure("read every configuration at a commit", "git cat-file --batch", *await best_of(bare, ours, seen))
