"""Which version runs, which one is on trial and which ones have failed: one small file beside the versions.

The launcher alone writes it, whole or not at all and safe from a power cut, before it acts on what it says; the agent
and `fairway agent status` read it. A version has a key, `VERSION-SHA256`, which is also the name of its directory; the
version that was installed on the machine has the key "".
"""

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from fairway.durable import sync

#: The key of the version that is installed, which nobody has fetched.
INSTALLED = ""
FILE = "record.json"


class Trial(NamedTuple):
    """A version that has yet to prove itself."""

    key: str
    #: How often it has been started.
    starts: int = 0
    #: Seconds until it must be ready, and then until it counts as healthy.
    ready: float = 120.0
    settle: float = 30.0


class Failure(NamedTuple):
    """A version that was tried and left again."""

    key: str
    reason: str
    #: Seconds since 1970.
    at: int
    #: The seconds that it had, while it is not known whether it was to blame, or a server that was away; else 0.
    unproven: float = 0.0
    #: It was not to blame, and may be tried once more.
    excused: bool = False


class Record(NamedTuple):
    """What is known of versions."""

    #: The version that was installed when this was written.
    installed: str
    #: The version to run; it has been healthy.
    current: str = INSTALLED
    #: The one before it, to fall back to when its directory is gone; None when there was none.
    previous: str | None = None
    trial: Trial | None = None
    #: Oldest first.
    failures: tuple[Failure, ...] = ()


def version_of(key: str, installed: str) -> str:
    """The version in a key, for people."""
    return key.rpartition("-")[0] or installed


def read_record(versions: Path) -> Record | None:
    """What was written last; None when nothing was, or nothing that can be understood."""
    try:
        found: dict[str, Any] = json.loads((versions / FILE).read_bytes())
        trial = found.pop("trial")
        failures = tuple(Failure(*each) for each in found.pop("failures"))
        return Record(trial=Trial(*trial) if trial else None, failures=failures, **found)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def write_record(versions: Path, record: Record) -> None:
    """Write it down for good."""
    unfinished = versions / f".{FILE}"
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(descriptor, json.dumps(record._asdict()).encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    unfinished.rename(versions / FILE)
    sync(versions)
