"""What must be on the disk before it is promised: a power cut takes an entry of a folder that was not synced.

And what is found there must be all of it: Python walks past a folder that it cannot list, as if nothing were in it.
"""

import os
from contextlib import suppress
from pathlib import Path


def sync_folder(folder: Path) -> None:
    """Have the disk know what is in the folder."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def sync_folders_above(path: Path) -> None:
    """Have every folder that leads to a path name the next one for good; but for those that are not ours to open."""
    for folder in path.parents:
        with suppress(PermissionError):
            sync_folder(folder)


def refuse_unlisted(error: OSError) -> None:
    """For `os.walk`: raise what kept it from listing a folder, unless that is gone."""
    if not isinstance(error, FileNotFoundError):
        raise error
