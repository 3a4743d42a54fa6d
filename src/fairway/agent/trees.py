"""Trees of a commit, each somebody's own: copies of the commit's files, and used again if nobody changed them.

Making one costs as much as the repository is large, so a tree that is not needed any more is given to the next
deployment of the same commit: the directory that was its owner's own is put back, and all others must be as they were
made, which the kernel's times of their last change tell.

Of a large commit only the owner's own directory is a copy, and the rest are links to the commit's files. Whoever
changes one of those in place changes it for all who have the same commit at that time; what was changed so is found and
written again (`written_since`) before the next one is given a tree.
"""

import errno
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec

from fairway.git.materialise import Materialised

#: Up to how many entries links are made here; for more, a program of its own is worth its start, and while Python
#: makes thousands of them, everybody else in this process waits.
_FEW = 200
#: Up to how many entries and bytes a commit is copied for each deployment. That takes four times as long as links do:
#: some 0.1 s for the most entries.
_COPIED_ENTRIES = 2000
_COPIED_BYTES = 32 * 2**20


class CommitTree(msgspec.Struct, frozen=True, kw_only=True):
    """The files of a commit on disk, which nobody is to write to."""

    written: Materialised
    #: All directories below, from there.
    directories: tuple[str, ...]
    #: How many files and directories there are.
    entries: int
    #: How many bytes its files have.
    size: int
    #: When the last of them was written.
    newest: int

    @property
    def directory(self) -> Path:
        """Where they are."""
        return self.written.directory

    @property
    def is_large(self) -> bool:
        """Whether deployments share its files."""
        return self.entries > _COPIED_ENTRIES or self.size > _COPIED_BYTES


class PrivateTree(msgspec.Struct, frozen=True, kw_only=True):
    """A tree that is somebody's own, and how its other directories were when it was made."""

    root: Path
    commit: CommitTree
    own: Path
    marks: tuple[int, ...]

    def is_untouched(self) -> bool:
        """Whether everything outside of the own directory is as it was made."""
        try:
            marks = _marks(self.root, self.commit, self.own)
            return marks == self.marks and not written_since(self.commit, self.root, self.own)
        except OSError:
            return False


def survey(written: Materialised) -> CommitTree:
    """The commit that was written to a directory."""
    directories: list[str] = []
    entries = size = newest = 0
    for each in _walk(written.directory):
        entries += 1
        if each.is_dir(follow_symlinks=False):
            directories.append(os.path.relpath(each.path, written.directory))
        else:
            found = each.stat(follow_symlinks=False)
            size, newest = size + found.st_size, max(newest, found.st_mtime_ns)
    return CommitTree(written=written, directories=tuple(directories), entries=entries, size=size, newest=newest)


def written_since(commit: CommitTree, root: Path, but: Path | None = None) -> list[str]:
    """The files of a tree that somebody has written to since the commit's were written, except in one directory."""
    found = _walk(root, None if but is None else os.fspath(root / but))
    return [
        os.path.relpath(each.path, root)
        for each in found
        if each.is_file(follow_symlinks=False) and each.stat(follow_symlinks=False).st_mtime_ns > commit.newest
    ]


def make_tree(commit: CommitTree, root: Path, own: Path) -> None:
    """A new tree; `own` is the directory that is copied, from the root."""
    if own == Path() or not commit.is_large:
        _copy(commit, Path(), root)
        return
    _link(commit, Path(), root)
    if not (root / own).is_symlink():
        shutil.rmtree(root / own)
        _copy(commit, own, root / own)


def change_owner(tree: PrivateTree, own: Path) -> None:
    """A tree that nobody else has changed, as if it had been made with another directory of its own."""
    shutil.rmtree(tree.root / tree.own)
    if not tree.commit.is_large:
        _copy(tree.commit, tree.own, tree.root / tree.own)
        return
    _link(tree.commit, tree.own, tree.root / tree.own)
    shutil.rmtree(tree.root / own)
    _copy(tree.commit, own, tree.root / own)


def private_tree(root: Path, commit: CommitTree, own: Path) -> PrivateTree | None:
    """A tree that was made, to be used again later; None for one that never can be."""
    if own == Path() or str(own) not in commit.directories:
        return None
    return PrivateTree(root=root, commit=commit, own=own, marks=_marks(root, commit, own))


def _marks(root: Path, commit: CommitTree, own: Path) -> tuple[int, ...]:
    """When each directory outside of the own one was last changed, be it by a name in it or by a touch."""
    base, mine = os.fspath(root), f"{own}/"
    others = (each for each in commit.directories if not f"{each}/".startswith(mine))
    # The root itself is renamed with the tree, which counts as a change of it, but not of what is in it.
    return (os.stat(base).st_mtime_ns, *(os.lstat(f"{base}/{each}").st_ctime_ns for each in others))


def _walk(directory: Path, but: str | None = None) -> Iterator[os.DirEntry[str]]:
    """Everything below, each directory before what is in it, and without one of them."""
    with os.scandir(directory) as found:
        for each in found:
            if each.path == but:
                continue
            yield each
            if each.is_dir(follow_symlinks=False):
                yield from _walk(Path(each.path), but)


def _link(commit: CommitTree, part: Path, target: Path) -> None:
    """A part of the commit under other names."""
    if commit.entries > _FEW:
        _cp("-al", commit.directory / part, target)
    else:
        shutil.copytree(commit.directory / part, target, symlinks=True, copy_function=_hard_link)


def _copy(commit: CommitTree, part: Path, target: Path) -> None:
    """A part of the commit that may be written to."""
    if commit.entries > _FEW:
        _cp("-a", commit.directory / part, target)
    else:
        shutil.copytree(commit.directory / part, target, symlinks=True)


def _hard_link(source: str, target: str) -> None:
    os.link(source, target, follow_symlinks=False)


def _cp(options: str, source: Path, target: Path) -> None:
    done = subprocess.run(["cp", options, "--", source, target], capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(errno.EIO, done.stderr.strip().rpartition("\n")[2])
