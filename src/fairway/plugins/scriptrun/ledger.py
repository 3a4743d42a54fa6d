"""Which scripts were started here: one synced entry for each, written before the script starts.

Entries stand outside the journals, so a lost or damaged journal does not hide that its script was started. A script
without an entry was not started here. The name of the place stands beside the entries: a lost ledger has a new name,
and scripts that the server has noted for the old name count as started elsewhere.
"""

import contextlib
import re
import secrets
from pathlib import Path

from fairway.durable import create_file, make_directory

_NAME = re.compile(r"[0-9a-f]{16}\Z")
_BOOT = Path("/proc/sys/kernel/random/boot_id")


class Ledger:
    """The ledger of one directory of journals."""

    def __init__(self, state: Path) -> None:
        self._directory = state / "started"
        #: Where versions without a ledger stored the name.
        self._old_place = state / "place"

    def name(self) -> str:
        """The name of this place, made when it is first used."""
        place = self._directory / "place"
        with contextlib.suppress(OSError, ValueError):
            if _NAME.match(name := place.read_text()):
                return name
        make_directory(self._directory)
        with contextlib.suppress(FileNotFoundError):
            if _NAME.match(old := self._old_place.read_text()):
                create_file(place, old)
                self._old_place.unlink(missing_ok=True)
                return place.read_text()
        if place.exists() and not _NAME.match(place.read_text(errors="replace")):
            place.unlink()
        create_file(place, secrets.token_hex(8))
        return place.read_text()

    def add(self, journal: Path) -> None:
        """Record that a script is about to start; synced on return."""
        make_directory(self._entry(journal).parent)
        self.discard(journal)
        create_file(self._entry(journal), _BOOT.read_text())

    def discard(self, journal: Path) -> None:
        """Remove the record of a script that did not start and never will."""
        self._entry(journal).unlink(missing_ok=True)

    def has(self, journal: Path) -> bool:
        """Whether the script was started, or was about to start."""
        return self._entry(journal).exists()

    def has_any(self, deployment_id: str, stage_id: str) -> bool:
        """Whether any script of a stage was started, or was about to start."""
        return any((self._directory / deployment_id).glob(f"{stage_id}-*"))

    def is_of_this_boot(self, journal: Path) -> bool:
        """Whether the machine has not restarted since the script was about to start."""
        with contextlib.suppress(OSError):
            return self._entry(journal).read_text() == _BOOT.read_text()
        return False

    def at(self, journal: Path) -> float:
        """When the script was about to start, in seconds since 1970."""
        return self._entry(journal).stat().st_mtime

    def _entry(self, journal: Path) -> Path:
        return self._directory / journal.parent.name / journal.name
