"""Whether an object has moved from one application's manifests to another's, so that the other may have it. Pure."""

import enum
from collections.abc import Sequence
from typing import NamedTuple

from fairway.kube.manifest import Key
from fairway.plugins.kubernetes.whose.alive import Wants


class Moving(enum.Enum):
    """What an application that has an object says of it in Git."""

    #: Nothing any more: whoever wants it may have it.
    GIVEN_UP = "given up"
    #: It wants it, and did so at the very commit by which another wants it.
    WANTED = "wanted"
    #: It wanted it at another commit, which may be an older one.
    WANTED_THEN = "wanted then"
    #: Nobody has asked yet.
    UNKNOWN = "unknown"


class MovingDecision(NamedTuple):
    """The same, and at which commit it wants the object."""

    moving: Moving
    commit: str = ""


def decide_moving(wants: Sequence[Wants] | None, key: Key, commit: str) -> MovingDecision:
    """What is to be thought of an object that another application wants at a commit, by what is known of the one that
    has it, at all its deploy targets."""
    if wants is None:
        return MovingDecision(Moving.UNKNOWN)
    commits = [each.commit for each in wants if key in each.objects()]
    if not commits:
        return MovingDecision(Moving.GIVEN_UP)
    return (
        MovingDecision(Moving.WANTED, commit) if commit in commits else MovingDecision(Moving.WANTED_THEN, commits[0])
    )
