"""Reading files at a commit: trees, blobs, links, and names that must be refused."""

from pathlib import Path

import pytest

from fairway.errors import FairwayError
from fairway.git.errors import GitInputError, GitNotFound
from fairway.git.tree import Kind, TreeEntry
from tests.integration.git.repositories import a_mirror, an_origin

HELLO = "ce013625030ba8dba906f756967f9e9ca394464a"  # the blob hash of "hello\n"


async def test_a_tree_names_each_file_with_kind_and_hash_and_can_be_narrowed(tmp_path: Path) -> None:
    origin = an_origin(tmp_path, {"a/b c": "hello\n", "a/run": "hello\n", "ab/x": "hello\n"})
    (origin.work / "a/run").chmod(0o755)
    (origin.work / "l").symlink_to("hello\n")
    commit = origin.commit_all()
    async with await a_mirror(origin) as mirror:
        whole, part = await mirror.tree(commit), await mirror.tree(commit, "a/")

    narrow = {"a/b c": TreeEntry(Kind.FILE, HELLO), "a/run": TreeEntry(Kind.EXECUTABLE, HELLO)}
    assert part == narrow
    assert whole == narrow | {"ab/x": TreeEntry(Kind.FILE, HELLO), "l": TreeEntry(Kind.SYMLINK, HELLO)}


async def test_blobs_are_read_in_bulk_by_hash(tmp_path: Path) -> None:
    origin = an_origin(tmp_path, {"a": "hello\n", "b": "hello\n", "c": ""})
    async with await a_mirror(origin) as mirror:
        tree = await mirror.tree(origin.head())
        blobs = await mirror.read_blobs([entry.hash for entry in tree.values()])

    assert blobs == {HELLO: b"hello\n", tree["c"].hash: b""}


async def test_odd_names_and_links_inside_the_tree_are_read(tmp_path: Path) -> None:
    origin = an_origin(tmp_path, {"d/ü \"'$(x).yaml": "1", "caf\udce9": "2"})
    (origin.work / "d/link").symlink_to("../caf\udce9")
    (origin.work / "dir").symlink_to("d")
    commit = origin.commit_all()
    async with await a_mirror(origin) as mirror:
        read = [await mirror.read_file(commit, path) for path in ("d/ü \"'$(x).yaml", "caf\udce9", "dir/link")]

    assert read == [b"1", b"2", b"2"]


@pytest.mark.parametrize(
    ("path", "kind", "words"),
    [
        pytest.param("../x", GitInputError, "component '..'", id="upwards"),
        pytest.param("a/../../x", GitInputError, "component '..'", id="upwards inside"),
        pytest.param("/etc/passwd", GitInputError, "is absolute", id="absolute"),
        pytest.param("-x", GitInputError, "starts with '-'", id="option"),
        pytest.param("a\nb", GitInputError, "control character", id="line break"),
        pytest.param("a\0b", GitInputError, "control character", id="NUL"),
        pytest.param("", GitInputError, "is empty", id="empty"),
        pytest.param(".GIT/config", GitInputError, "component '.GIT'", id="git's own files"),
        pytest.param("out", GitInputError, "leaves the repository (to '../../etc/passwd')", id="link out"),
        pytest.param("root", GitInputError, "leaves the repository (to '/etc/passwd')", id="link to the root"),
        pytest.param("loop", GitInputError, "leads back to itself", id="link loop"),
        pytest.param("d", GitInputError, "is a directory", id="directory"),
        pytest.param("dangling", GitNotFound, "a symbolic link to nothing", id="dangling link"),
        pytest.param("absent", GitNotFound, "there is no file 'absent'", id="absent"),
        pytest.param("d/f/g", GitNotFound, "there is no file 'd/f/g'", id="below a file"),
    ],
)
async def test_what_cannot_be_read_says_why(tmp_path: Path, path: str, kind: type[FairwayError], words: str) -> None:
    origin = an_origin(tmp_path, {"d/f": "1"})
    targets = {"out": "../../etc/passwd", "root": "/etc/passwd", "loop": "loop", "dangling": "nowhere"}
    for name, target in targets.items():
        (origin.work / name).symlink_to(target)
    commit = origin.commit_all()
    async with await a_mirror(origin) as mirror:
        with pytest.raises(kind) as caught:
            await mirror.read_file(commit, path)

    assert words in str(caught.value)
