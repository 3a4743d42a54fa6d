"""What is wanted of an application's processes, and what there is: two files, each written whole or not at all.

`wanted.json` is the plugin's to write and `seen.json` the keeper's, so that neither can spoil the other's work however
it ends. This module is loaded by every keeper, and therefore needs little.
"""

import hashlib
import os
from pathlib import Path
from typing import TypeVar

import msgspec

from fairway.durable import sync

T = TypeVar("T", bound=msgspec.Struct)

WANTED = "wanted.json"
SEEN = "seen.json"


class Version(msgspec.Struct, frozen=True, kw_only=True):
    """All that makes one process different from another; a process is replaced when any of it changes."""

    commit: str
    #: What the application's files are, whichever commit they come from.
    files: str
    #: The program and its arguments.
    command: tuple[str, ...]
    env: dict[str, str] = {}
    health_path: str = ""
    health_interval: float = 1.0

    @property
    def release(self) -> str:
        """The name under which its files are kept."""
        return f"{self.commit}-{self.files}"

    @property
    def key(self) -> str:
        """Short, and the same for the same version."""
        return _key(self)


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Processes of one version that share the traffic of one variant."""

    #: `primary` or `canary`.
    variant: str
    version: Version
    replicas: int
    #: How much of a hundred connections they get.
    share: float


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What an application is to be; with no groups it is to be gone."""

    host: str = "127.0.0.1"
    port: int = 0
    #: Seconds that a process may take to end before it is made to.
    stop_timeout: float = 10.0
    groups: tuple[Group, ...] = ()

    def group(self, variant: str) -> Group | None:
        """The group of a variant, if there is one."""
        return next((group for group in self.groups if group.variant == variant), None)

    @property
    def key(self) -> str:
        """Short, and the same for the same wishes."""
        return _key(self)


class Identity(msgspec.Struct, frozen=True):
    """One process, told from every other that has or had its number."""

    pid: int
    #: The kernel's boot and the clock tick in which the process began.
    began: str


class Instance(msgspec.Struct, frozen=True, kw_only=True):
    """One process of the application."""

    id: str
    variant: str
    #: The key of its version, and the commit that this comes from.
    version: str
    commit: str
    #: Where it listens: another place at each start, and 0 before the first.
    port: int = 0
    #: None between the decision to start it and its start.
    process: Identity | None = None
    #: It answers.
    ready: bool = False
    #: It has answered at least once since it was first started.
    was_ready: bool = False
    #: It gets no connections any more, and ends.
    leaving: bool = False
    #: How often it has ended by itself.
    exits: int = 0
    #: Why it is not ready, in words.
    problem: str = ""


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """What there is."""

    keeper: Identity | None = None
    #: The key of what the keeper was last told.
    wanted: str = ""
    #: Where the splitter listens; 0 when it does not.
    port: int = 0
    #: What keeps the keeper from its work, in words.
    problem: str = ""
    instances: tuple[Instance, ...] = ()


def _key(record: msgspec.Struct) -> str:
    # As it is once it was written and read: a whole number in place of a fraction is the same.
    read = msgspec.json.decode(msgspec.json.encode(record), type=type(record))
    return hashlib.sha256(msgspec.json.encode(read, order="sorted")).hexdigest()[:12]


def load(directory: Path, name: str, kind: type[T]) -> T | None:
    """The record of that name; None when there is none."""
    try:
        return msgspec.json.decode((directory / name).read_bytes(), type=kind)
    except FileNotFoundError:
        return None


def save(directory: Path, name: str, record: msgspec.Struct) -> None:
    """Write a record: it appears whole, or not at all."""
    new = directory / f"{name}.{os.getpid()}"
    with open(new, "wb", opener=_private) as file:
        file.write(msgspec.json.encode(record))
        file.flush()
        os.fsync(file.fileno())
    new.rename(directory / name)
    sync(directory)


def _private(path: str, flags: int) -> int:
    # The environment of an application may hold secrets.
    return os.open(path, flags, 0o600)
