"""A fact from outside, such as a new image, that agents may write into Git.

Events with the same name and labels share a key; of those the newest counts.
"""

import enum
import hashlib
from collections.abc import Mapping
from datetime import datetime

import msgspec


class EventStatus(enum.Enum):
    """What became of an event. All but waiting are terminal."""

    #: No agent has acted on it yet.
    WAITING = "waiting"
    #: Written into Git, or already there.
    SUCCEEDED = "succeeded"
    #: It could not be written; the description says why.
    FAILED = "failed"
    #: A newer event with the same key came, or nobody acted in time.
    OUTDATED = "outdated"


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """One fact from outside."""

    id: str
    name: str
    data: str
    project_id: str
    #: `event_key` of name and labels.
    key: str
    created_at: datetime
    updated_at: datetime
    labels: dict[str, str] = {}
    status: EventStatus = EventStatus.WAITING
    status_description: str = ""
    #: Written as trailers into the commit that the event leads to.
    contexts: dict[str, str] = {}
    #: The commit, often of another repository, that caused the event.
    trigger_commit_hash: str = ""
    handled_at: datetime | None = None


def event_key(name: str, labels: Mapping[str, str]) -> str:
    """What equal events share; the same bytes as PipeCD hashes, so that both find each other's events."""
    text = name + "".join(f"/{label}:{labels[label]}" for label in sorted(labels))
    return hashlib.sha256(text.encode()).hexdigest()
