"""Mirrors after a crash: half-written, damaged, with stale locks, or with an orphan still at work."""

import asyncio
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from fairway.git.commit import blob_hash
from fairway.git.credentials import Credentials, SshKey
from fairway.git.errors import GitInputError, GitLocalError, MirrorCorrupt
from fairway.git.mirror import Mirror, MirrorOptions
from fairway.git.mirror_store import MirrorStore
from fairway.git.process import Git
from tests.integration.git.repositories import a_mirror, an_origin


def lose_head(mirror: Path) -> None:
    (mirror / "HEAD").unlink()


def lose_objects(mirror: Path) -> None:
    shutil.rmtree(mirror / "objects")


def garble_packs(mirror: Path) -> None:
    for file in (mirror / "objects" / "pack").glob("*.*"):
        file.chmod(0o644)
        file.write_bytes(b"garbage")


def garble_config(mirror: Path) -> None:
    (mirror / "config").write_text("[core\n")


def become_a_file(mirror: Path) -> None:
    shutil.rmtree(mirror)
    mirror.write_text("no directory")


@pytest.mark.parametrize("damage", [lose_head, lose_objects, garble_packs, garble_config, become_a_file])
async def test_a_damaged_mirror_is_cloned_again_when_it_is_opened(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    origin = an_origin(tmp_path)
    await (await a_mirror(origin)).close()
    damage(tmp_path / "mirror.git")

    async with await a_mirror(origin) as mirror:
        await mirror.fetch()

        assert await mirror.read_file(origin.head(), "app.yaml") == b"name: web\n"


@pytest.mark.parametrize("damage", [lose_head, lose_objects, garble_packs])
async def test_a_mirror_damaged_while_open_heals_with_the_next_fetch(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    origin = an_origin(tmp_path)
    async with await a_mirror(origin) as mirror:
        damage(mirror.git_dir)
        newest = origin.commit({"b": "2"})

        await mirror.fetch()

        assert await mirror.read_file(newest, "b") == b"2"


async def test_a_lost_blob_comes_back_by_reading_it(tmp_path: Path) -> None:
    origin = an_origin(tmp_path, {"a": "hello\n"})
    async with await a_mirror(origin) as mirror:
        tree = await mirror.tree(origin.head())
        lose_objects(mirror.git_dir)
        (mirror.git_dir / "objects").mkdir()

        blobs = await mirror.read_blobs([tree["a"].hash])

    assert blobs == {tree["a"].hash: b"hello\n"}


async def test_whoever_gives_up_while_a_mirror_is_put_in_place_leaves_it_whole_to_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    origin, install = an_origin(tmp_path, {"a": "hello\n"}), MirrorStore.install
    began, go, loop = asyncio.Event(), threading.Event(), asyncio.get_running_loop()

    def held(store: MirrorStore) -> None:
        loop.call_soon_threadsafe(began.set)
        go.wait()
        install(store)

    async def damaged() -> None:
        raise MirrorCorrupt("damaged")

    async with await a_mirror(origin) as mirror:
        monkeypatch.setattr(MirrorStore, "install", held)
        reading = asyncio.create_task(mirror.healing(damaged))
        await began.wait()
        reading.cancel()
        for _ in range(5):
            await asyncio.sleep(0)
        left_early, free = reading.done(), not mirror.writing.locked()
        go.set()
        await asyncio.gather(reading, return_exceptions=True)
        found = await mirror.read_file(origin.head(), "a")

    assert (left_early, free, found) == (False, False, b"hello\n")


async def test_a_disk_that_does_not_take_a_mirror_is_the_reason_and_worth_another_try(tmp_path: Path) -> None:
    origin = an_origin(tmp_path)
    (tmp_path / "file").touch()

    with pytest.raises(GitLocalError, match=r"the mirror .*file/mirror.git cannot be written \(.*\)"):
        await Mirror.open(tmp_path / "file" / "mirror.git", str(origin.bare))


async def test_a_file_whose_blob_is_damaged_comes_back_by_reading_it(tmp_path: Path) -> None:
    origin = an_origin(tmp_path, {"a": "hello\n" * 1000})
    async with await a_mirror(origin) as mirror:
        (pack,) = (mirror.git_dir / "objects/pack").glob("*.pack")
        content = bytearray(pack.read_bytes())
        content[12:-20] = bytes(len(content) - 32)
        pack.chmod(0o644)
        pack.write_bytes(content)

        assert await mirror.read_blobs([blob_hash(b"hello\n" * 1000)]) != {}
        assert await mirror.read_file(origin.head(), "a") == b"hello\n" * 1000


async def test_a_refused_credential_leaves_the_directory_free(tmp_path: Path) -> None:
    origin = an_origin(tmp_path)
    bad = MirrorOptions(Credentials(ssh=SshKey(Path("k"), "data")), patience=0.3)
    with pytest.raises(GitInputError):
        await Mirror.open(tmp_path / "mirror.git", "ssh://h/r", bad)

    await (await a_mirror(origin)).close()


async def test_what_a_killed_process_left_is_swept_away(tmp_path: Path) -> None:
    origin = an_origin(tmp_path)
    await (await a_mirror(origin)).close()
    half, mirror_dir = tmp_path / "mirror.git.new", tmp_path / "mirror.git"
    half.mkdir()
    for lock in ("packed-refs.lock", "refs/heads/main.lock", "HEAD.lock"):
        (mirror_dir / lock).touch()
    newest = origin.commit({"b": "2"})

    async with await a_mirror(origin) as mirror:
        await mirror.fetch()

        assert (await mirror.head("main"), half.exists()) == (newest, False)


async def test_locks_left_by_a_killed_fetch_do_not_stop_the_next(tmp_path: Path) -> None:
    origin = an_origin(tmp_path)
    async with await a_mirror(origin) as mirror:
        (mirror.git_dir / "refs/heads/main.lock").touch()
        newest = origin.commit({"b": "2"})

        await mirror.fetch()

        assert await mirror.head("main") == newest


async def test_a_git_that_outlived_its_owner_keeps_the_mirror_until_it_ends(tmp_path: Path) -> None:
    origin = an_origin(tmp_path)
    mirror = await a_mirror(origin)
    (lock,) = mirror.git.keep_open
    orphan = await asyncio.create_subprocess_exec("cat", stdin=asyncio.subprocess.PIPE, pass_fds=(lock,))
    await mirror.close()

    with pytest.raises(GitLocalError, match="used by another process"):
        await a_mirror(origin)
    await orphan.communicate(b"")
    reopened = await a_mirror(origin)

    await reopened.close()


async def test_closing_ends_a_fetch_that_is_under_way(tmp_path: Path) -> None:
    origin = an_origin(tmp_path)
    mirror = await a_mirror(origin)
    fetch = asyncio.create_task(mirror.fetch())
    await asyncio.sleep(0)

    await mirror.close()

    assert isinstance((await asyncio.gather(fetch, return_exceptions=True))[0], asyncio.CancelledError)


async def test_a_missing_git_is_said_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(GitLocalError, match="is it installed and on the PATH"):
        await Mirror.open(tmp_path / "m.git", "/nowhere")


async def test_a_git_that_is_too_old_is_said_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = tmp_path / "git"
    old.write_text("#!/bin/sh\necho git version 2.30.2\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    with pytest.raises(Exception, match=r"2\.30\.2 is installed; expected git 2\.36 or newer"):
        await Git().require_version()
