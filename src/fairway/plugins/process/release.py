"""The files of a version, kept for as long as it runs: the tree of a deployment goes when the deployment ends."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Collection
from pathlib import Path

from fairway.errors import TemporaryError

_UNFINISHED = ".making-"


class ReleaseError(TemporaryError):
    """The disk does not take an application's files."""


def keep_release(application: Path, files: Path, name: str) -> None:
    """Keep the files of an application under a name, unless they are kept already."""
    releases = application / "releases"
    if (releases / name).exists():
        return
    try:
        releases.mkdir(mode=0o700, parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=releases))
        try:
            made = shutil.copytree(files, unfinished / name, symlinks=True)
            made.rename(releases / name)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    except OSError as error:
        raise ReleaseError(f"{files} cannot be kept in {releases} ({error.strerror})") from error


def forget_releases(application: Path, but: Collection[str]) -> None:
    """Remove what is kept under all names but these."""
    for release in (application / "releases").glob("*"):
        if release.name not in but:
            shutil.rmtree(release, ignore_errors=True)


def digest(files: Path) -> str:
    """What the files are: the same for the same names, modes and contents, whichever commit they come from."""
    total = hashlib.sha256()
    for folder, folders, names in os.walk(files):
        folders.sort()
        for name in sorted([*names, *(each for each in folders if (Path(folder) / each).is_symlink())]):
            path = Path(folder) / name
            content = os.readlink(path).encode() if path.is_symlink() else path.read_bytes()
            executable = os.access(path, os.X_OK)
            place = f"{path.relative_to(files)}\0{executable}\0{len(content)}\0"
            total.update(place.encode())
            total.update(content)
    return total.hexdigest()[:16]
