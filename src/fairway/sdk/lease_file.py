"""The file in which an agent tells its plugins how long its lease lasts, and under which fencing token.

    line 1   deadlines for SIGTERM and SIGKILL, in whole seconds of `/proc/uptime`
    line 2   fencing token of the lease

The agent overwrites the file in place at each renewal, so that it needs no free disk space. A reader may see half of
a write: two equal reads in a row are one consistent state. No file means no lease: no other agent can take over.
"""

from pathlib import Path
from typing import NamedTuple

UPTIME = Path("/proc/uptime")
_MOST_READS = 10


class LeaseFile(NamedTuple):
    """The content of the file."""

    #: When work gets SIGTERM, and SIGKILL, unless the lease is renewed.
    asked: int
    made: int
    #: None in a file of an agent that writes none.
    fencing_token: int | None

    def is_over(self, uptime: float) -> bool:
        """Whether work under this lease must end."""
        return uptime >= min(self.asked, self.made)


def read_lease(path: Path | None) -> LeaseFile | None:
    """The lease of this machine's agent; None without one."""
    if path is None:
        return None
    text = ""
    for _ in range(_MOST_READS):
        before = text
        try:
            text = path.read_text()
        except OSError:
            return None
        if text == before:
            break
    return _parsed(text)


def lease_text(asked: int, made: int, fencing_token: int) -> str:
    """The content for these values; always of the same length."""
    return f"{max(0, asked):15} {max(0, made):15}\n{fencing_token:15}\n"


def uptime() -> float:
    """Seconds since the machine started, including suspend."""
    return float(UPTIME.read_text().split()[0])


def _parsed(text: str) -> LeaseFile | None:
    words = text.split()
    if len(words) not in (2, 3) or not all(word.isdigit() for word in words):
        return None
    asked, made, *token = map(int, words)
    return LeaseFile(asked, made, token[0] if token else None)
