"""Files and directories that survive a power cut.

An fsync of a file keeps its content; only an fsync of its directory keeps its name. The launcher of agents loads this
module, so it imports little.
"""

import os
from pathlib import Path


def sync(path: Path) -> None:
    """Sync the content of a file, or the names in a directory."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_directory(directory: Path) -> None:
    """Create a private directory, and the missing ones above it, and sync their names."""
    missing = [each for each in (directory, *directory.parents) if not each.exists()]
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    for each in reversed(missing):
        sync(each.parent)


def create_file(path: Path, content: str) -> None:
    """Create a private file that appears whole and synced; a file of that name is left as it is."""
    new = path.with_name(f".{path.name}-{os.urandom(4).hex()}")
    try:
        with open(new, "w", opener=_private) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.link(new, path)
    except FileExistsError:
        pass
    finally:
        new.unlink(missing_ok=True)
    sync(path.parent)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
