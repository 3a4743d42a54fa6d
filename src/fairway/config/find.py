"""Which files of a repository are configuration.

Applications have names of their own, shared files a directory of their own; agents' files and Pipelines may lie
anywhere and are known by their apiVersion. Everything else in a repository is somebody else's YAML.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

APPLICATION_FILE: Final = "app.pipecd.yaml"
#: The name that applications had first, still meant where a name is left out.
OLDEST_APPLICATION_FILE: Final = ".pipe.yaml"
SHARED_DIRECTORY: Final = ".pipe"

_YAML: Final = (".yaml", ".yml")
_SHARED: Final = (*_YAML, ".json")
_NOT_OURS: Final = frozenset({".git", ".venv", "node_modules"})
_OUR_VERSIONS: Final = re.compile(
    rb"""^["']?apiVersion["']?\s*:\s*["']?(pipecd\.dev/|(pipelines\.)?(wego\.)?weave\.works/)""", re.MULTILINE
)
_PIPELINE_IN_CONFIG_MAP: Final = re.compile(
    rb"\A(?=.*^kind:\s*ConfigMap)(?=.*environments:)(?=.*targets:)", re.M | re.S
)
#: An apiVersion stands near the beginning; nobody has to read a dump to learn that it is none of ours.
_HEAD: Final = 64 * 1024


def is_application_file(path: str) -> bool:
    """Whether a path in a repository is an application's file, by its name."""
    # Asked of every path of a repository: plain text operations, a tenth of what a path object costs.
    return path.endswith(".pipecd.yaml") or path.rpartition("/")[2] == OLDEST_APPLICATION_FILE


def is_shared_file(path: str) -> bool:
    """Whether a path in a repository is in the directory for what applications share."""
    directory, _, name = path.partition("/")
    return directory == SHARED_DIRECTORY and "/" not in name and name.endswith(_SHARED)


def says_it_is_ours(head: bytes) -> bool:
    """Whether the beginning of a YAML file names one of the versions that Fairway reads."""
    return _OUR_VERSIONS.search(head) is not None or _PIPELINE_IN_CONFIG_MAP.search(head) is not None


def find_config_files(root: Path) -> Iterator[Path]:
    """Every configuration file below a directory, in the order of their paths; links are not followed."""
    for directory, folders, names in os.walk(root):
        folders[:] = sorted(folder for folder in folders if folder not in _NOT_OURS)
        for name in sorted(names):
            path = Path(directory, name)
            relative = path.relative_to(root).as_posix()
            if is_application_file(relative) or is_shared_file(relative) or _is_ours(path):
                yield path


def _is_ours(path: Path) -> bool:
    if path.suffix not in _YAML or path.is_symlink():
        return False
    with path.open("rb") as file:
        return says_it_is_ours(file.read(_HEAD))
