"""Trees of a commit, each somebody's own: made by linking to the commit's files, and used again if nobody changed them.

A tree is links to the files of the commit, except one directory, its owner's own, which is a copy. Making one costs as
much as the repository is large, so a tree that is not needed any more is given to the next deployment of the same
commit: the directory that was its owner's own is put back, and all others must be as they were made, which the kernel's
time of their last change tells. Whoever changes a file in place outside of the own directory changes the commit's.
"""

import errno
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec

#: Up to how many entries links are made here; for more, a program of its own is worth its start, and while Python
#: makes thousands of them, everybody else in this process waits.
_FEW = 200


class CommitTree(msgspec.Struct, frozen=True):
    """The files of a commit on disk, which nobody writes to."""

    directory: Path
    #: All directories below, from there.
    directories: tuple[str, ...]
    #: How many files and directories there are.
    entries: int


class PrivateTree(msgspec.Struct, frozen=True, kw_only=True):
    """A tree that is somebody's own, and how its other directories were when it was made."""

    root: Path
    commit: CommitTree
    own: Path
    marks: tuple[int, ...]

    def is_untouched(self) -> bool:
        """Whether everything outside of the own directory is as it was made."""
        try:
            return _marks(self.root, self.commit, self.own) == self.marks
        except OSError:
            return False


def survey(directory: Path) -> CommitTree:
    """The commit that was written to a directory."""
    directories: list[str] = []
    entries = 0
    for each in _walk(directory):
        entries += 1
        if each.is_dir(follow_symlinks=False):
            directories.append(os.path.relpath(each.path, directory))
    return CommitTree(directory, tuple(directories), entries)


def make_tree(commit: CommitTree, root: Path, own: Path) -> None:
    """A new tree; `own` is the directory that is copied, from the root."""
    if own == Path():
        _copy(commit, own, root)
        return
    _link(commit, Path(), root)
    if not (root / own).is_symlink():
        shutil.rmtree(root / own)
        _copy(commit, own, root / own)


def change_owner(tree: PrivateTree, own: Path) -> None:
    """A tree that nobody else has changed, as if it had been made with another directory of its own."""
    shutil.rmtree(tree.root / tree.own)
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


def _walk(directory: Path) -> Iterator[os.DirEntry[str]]:
    """Everything below, each directory before what is in it."""
    with os.scandir(directory) as found:
        for each in found:
            yield each
            if each.is_dir(follow_symlinks=False):
                yield from _walk(Path(each.path))


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
