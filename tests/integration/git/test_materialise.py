"""Materialise: a commit's files on disk, exactly and safely."""

import asyncio
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from fairway.git import materialise as module
from fairway.git.errors import GitInputError, GitNotFound
from fairway.git.materialise import Materialised, materialise
from tests.integration.git.repositories import Origin, a_mirror, an_origin, git

LFS_POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 12\n"


def contents(root: Path) -> dict[str, bytes]:
    return {str(file.relative_to(root)): file.read_bytes() for file in root.rglob("*") if file.is_file()}


def link(origin: Origin, path: str, target: str) -> str:
    (origin.work / path).parent.mkdir(parents=True, exist_ok=True)
    (origin.work / path).symlink_to(target)
    return origin.commit_all()


async def test_a_whole_commit_is_written_with_modes_and_links(tmp_path: Path) -> None:
    origin = an_origin(tmp_path, {"a/run.sh": "#!/bin/sh\n", "b c/ü.txt": b"\xff\r\n", "caf\udce9": "x"})
    (origin.work / "a/run.sh").chmod(0o755)
    commit = link(origin, "a/link", "../b c/ü.txt")
    async with await a_mirror(origin) as mirror:
        result = await materialise(mirror, commit, tmp_path / "out" / "tree")

    out = tmp_path / "out" / "tree"
    assert result == Materialised(out, 4)
    assert contents(out) == {
        "a/run.sh": b"#!/bin/sh\n",
        "a/link": b"\xff\r\n",
        "b c/ü.txt": b"\xff\r\n",
        "caf\udce9": b"x",
    }
    assert (os.access(out / "a/run.sh", os.X_OK), (out / "a/link").is_symlink()) == (True, True)
    assert [child.name for child in (tmp_path / "out").iterdir()] == ["tree"]


@pytest.mark.parametrize(
    ("step", "left"),
    [
        pytest.param("_write_batch", {}, id="while files are written"),
        pytest.param("_finish", {"tree/a/file": b"x\n", "tree/a/link": b"x\n"}, id="while it is put in its place"),
    ],
)
async def test_what_is_given_up_meanwhile_is_there_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, left: dict[str, bytes]
) -> None:
    origin = an_origin(tmp_path, {"a/file": "x\n"})
    commit, real = link(origin, "a/link", "file"), getattr(module, step)
    at_it, go = threading.Event(), threading.Event()

    def slowly(*arguments: Any) -> Any:
        at_it.set()
        go.wait()
        return real(*arguments)

    monkeypatch.setattr(module, step, slowly)
    async with await a_mirror(origin) as mirror:
        writing = asyncio.create_task(materialise(mirror, commit, tmp_path / "out" / "tree"))
        await asyncio.to_thread(at_it.wait)
        writing.cancel()
        for _ in range(10):
            await asyncio.sleep(0)  # whoever hears of it has done so now
        go.set()
        await asyncio.gather(writing, return_exceptions=True)
        await asyncio.get_running_loop().shutdown_default_executor()

    assert writing.cancelled()
    assert contents(tmp_path / "out") == left


async def test_attributes_of_the_repository_change_nothing(tmp_path: Path) -> None:
    attributes = (
        "* text eol=crlf ident export-subst\nsecret export-ignore\n*.x filter=evil working-tree-encoding=UTF-16\n"
    )
    files = {".gitattributes": attributes, "secret": "s\n", "v": "$Id$ $Format:%H$\n", "f.x": "x\n"}
    origin = an_origin(tmp_path, {".gitattributes": "", **{k: v for k, v in files.items() if k != ".gitattributes"}})
    (origin.work / ".gitattributes").write_text(attributes)
    git(origin.work, "update-index", "--add", "--cacheinfo", _info(origin, ".gitattributes", attributes))
    git(origin.work, "commit", "--quiet", "--message", "attributes")
    git(origin.work, "push", "--quiet", "origin", "HEAD:main")
    async with await a_mirror(origin) as mirror:
        await materialise(mirror, origin.head(), tmp_path / "out")

    assert contents(tmp_path / "out") == {path: content.encode() for path, content in files.items()}


def _info(origin: Origin, path: str, content: str) -> str:
    blob = git(origin.work, "hash-object", "-w", "--stdin", "--no-filters", stdin=content.encode())
    return f"100644,{blob},{path}"


async def test_only_the_wanted_directories_are_written(tmp_path: Path) -> None:
    origin = an_origin(tmp_path, {"apps/web/a": "1", "apps/web2/b": "2", "shared/c": "3", "d": "4"})
    async with await a_mirror(origin) as mirror:
        await materialise(mirror, origin.head(), tmp_path / "out", only=["apps/web/", "shared"])

    assert contents(tmp_path / "out") == {"apps/web/a": b"1", "shared/c": b"3"}


async def test_submodules_stay_empty_and_lfs_files_stay_pointers_and_the_result_says_so(tmp_path: Path) -> None:
    origin = an_origin(tmp_path, {"big.bin": LFS_POINTER, "a": "1"})
    git(origin.work, "update-index", "--add", "--cacheinfo", f"160000,{origin.head()},vendor/lib")
    git(origin.work, "commit", "--quiet", "--message", "submodule")
    git(origin.work, "push", "--quiet", "origin", "HEAD:main")
    async with await a_mirror(origin) as mirror:
        result = await materialise(mirror, origin.head(), tmp_path / "out")

    assert result == Materialised(tmp_path / "out", 2, ("vendor/lib",), ("big.bin",))
    assert result.warnings == (
        "the submodule vendor/lib is left empty",
        "big.bin is a Git LFS pointer, not the file itself",
    )
    assert list((tmp_path / "out/vendor/lib").iterdir()) == []


@pytest.mark.parametrize(
    "target",
    [
        pytest.param("/etc/passwd", id="absolute"),
        pytest.param("../../outside", id="upwards"),
        pytest.param("x/../../../outside", id="down and up"),
        pytest.param(".git/config", id="into .git"),
        pytest.param("../deep/../../outside", id="through another link"),
    ],
)
async def test_a_link_out_of_the_tree_is_left_out_and_the_result_says_so(tmp_path: Path, target: str) -> None:
    origin = an_origin(tmp_path, {"x/y/z": "1"})
    link(origin, "deep", "x/y/..")
    commit = link(origin, path := "app/link" if target != ".git/config" else "link", target)
    async with await a_mirror(origin) as mirror:
        result = await materialise(mirror, commit, tmp_path / "out")

    assert result == Materialised(tmp_path / "out", 2, left_out={path: target})
    assert result.warnings == (f"the symbolic link {path} is left out",)
    assert (contents(tmp_path / "out"), (tmp_path / "out/deep").is_symlink()) == ({"x/y/z": b"1"}, True)
    assert not (tmp_path / "out" / path).is_symlink()


async def test_a_link_that_leaves_only_because_of_another_link_is_left_out(tmp_path: Path) -> None:
    origin = an_origin(tmp_path, {"top/file": "1"})
    link(origin, "a/b/up", "../..")  # leads to the root
    commit = link(origin, "a/b/c/sly", "../up/..")  # written down it stays inside; followed, it leaves
    async with await a_mirror(origin) as mirror:
        result = await materialise(mirror, commit, tmp_path / "out")

    assert result.left_out == {"a/b/c/sly": "../up/.."}
    assert not (tmp_path / "out/a/b/c/sly").is_symlink()


async def test_a_file_too_large_for_memory_is_written_all_the_same(tmp_path: Path) -> None:
    large = os.urandom(3_000_000)
    origin = an_origin(tmp_path, {"a/large.bin": large, "a/small": "1", "run": large})
    (origin.work / "run").chmod(0o755)
    commit = origin.commit_all()
    async with await a_mirror(origin) as mirror:
        mirror._reader._largest = 1_000_000
        result = await materialise(mirror, commit, tmp_path / "out")
        with pytest.raises(GitInputError, match="files that large are not read"):
            await mirror.read_file(commit, "run")

    assert result == Materialised(tmp_path / "out", 3)
    assert contents(tmp_path / "out") == {"a/large.bin": large, "a/small": b"1", "run": large}
    assert os.access(tmp_path / "out/run", os.X_OK)


async def test_a_tree_with_a_name_that_climbs_out_is_refused(tmp_path: Path) -> None:
    origin = an_origin(tmp_path)
    blob = git(origin.bare, "hash-object", "-w", "--stdin", stdin=b"evil")
    raw = b"100644 ..\0" + bytes.fromhex(blob)
    tree = git(origin.bare, "hash-object", "-w", "-t", "tree", "--literally", "--stdin", stdin=raw)
    commit = git(origin.bare, "commit-tree", tree, "-m", "evil")
    git(origin.bare, "update-ref", "refs/heads/main", commit)
    async with await a_mirror(origin) as mirror:
        with pytest.raises(GitInputError, match=r"component '\.\.' is never written"):
            await materialise(mirror, commit, tmp_path / "out")


async def test_a_directory_that_is_not_there_and_one_that_exists_are_refused(tmp_path: Path) -> None:
    origin = an_origin(tmp_path)
    (tmp_path / "there").mkdir()
    async with await a_mirror(origin) as mirror:
        with pytest.raises(GitNotFound, match="there is no 'apps'"):
            await materialise(mirror, origin.head(), tmp_path / "out", only=["apps"])
        with pytest.raises(GitInputError, match="exists already"):
            await materialise(mirror, origin.head(), tmp_path / "there")
