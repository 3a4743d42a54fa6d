"""Paths that begin at somebody's home."""

import os
from pathlib import Path


def from_home(path: str | Path) -> Path:
    """The path with `~` and `~user` put in; where there is no such home it stays as it is, and no file is found there.

    `Path.expanduser` raises then: in a container whose user nobody knows, already for `~`.
    """
    return Path(os.path.expanduser(path))
