"""Waiting for a status of a deployment, or for its end: whether it has come, can still come, and what has changed
meanwhile.

Pure. What can still come follows from the transition table that agents and server keep to, so that nobody waits for
what has become impossible.
"""

import enum
from collections.abc import Collection

from fairway.cli.cards import stage_note, stage_word
from fairway.cli.output import log_text, plain
from fairway.model.deployment import DEPLOYMENT_TRANSITIONS, Deployment, DeploymentStatus
from fairway.model.stage import Stage


class Wait(enum.Enum):
    """How waiting stands."""

    #: It may still come.
    GOES_ON = "goes on"
    #: The deployment has a status that is wanted.
    REACHED = "reached"
    #: No wanted status can follow any more, or it has ended with another.
    IN_VAIN = "in vain"


def decide_wait(found: DeploymentStatus, wanted: Collection[DeploymentStatus]) -> Wait:
    """Whether to wait on; where no status is named, to the end, whatever that has become by then."""
    if found in (wanted or {DeploymentStatus.SUCCEEDED}):
        return Wait.REACHED
    awaited = reachable(found)
    if wanted:
        awaited &= frozenset(wanted)
    return Wait.GOES_ON if awaited else Wait.IN_VAIN


def reachable(found: DeploymentStatus) -> frozenset[DeploymentStatus]:
    """Every status that may come after this one, at once or later."""
    known: frozenset[DeploymentStatus] = frozenset()
    following = DEPLOYMENT_TRANSITIONS.rows[found]
    while not following <= known:
        known |= following
        following = frozenset(after for status in following for after in DEPLOYMENT_TRANSITIONS.rows[status])
    return known


def in_vain(deployment: Deployment, wanted: Collection[DeploymentStatus]) -> str:
    """Why waiting has no sense any more."""
    if not wanted:
        return how_it_ended(deployment)
    words = " or ".join(sorted(status.value.replace("_", " ") for status in wanted))
    reason = plain(deployment.status_reason)
    found = deployment.status.value.replace("_", " ")
    return f"deployment {deployment.id} is {found} and cannot become {words}" + (f": {reason}" if reason else "")


def how_it_ended(deployment: Deployment) -> str:
    """The end of a deployment as a sentence."""
    reason = log_text(deployment.status_reason)
    said = f"deployment {deployment.id} {deployment.status.value}"
    return f"{said}: {reason}" if reason else said


def changes(before: Deployment | None, after: Deployment, *, with_waits: bool = True) -> list[str]:
    """What happened between two looks, one line each, in the order of the stages; with what running ones wait for,
    unless that is told otherwise."""
    known = {(number, stage.id): stage for number, stage in enumerate(before.stages)} if before else {}
    lines = [
        _stage_line(stage, after)
        for number, stage in enumerate(after.stages)
        if _has_news(stage, known.get((number, stage.id)), with_waits)
    ]
    if before is None or before.status is not after.status:
        reason = plain(after.status_reason)
        said = f"deployment {after.status.value.replace('_', ' ')}" + (f": {reason}" if reason else "")
        # An end comes after what led to it, a beginning before what follows from it.
        lines = [*lines, said] if after.status.is_terminal else [said, *lines]
    return lines


def _has_news(stage: Stage, before: Stage | None, with_waits: bool) -> bool:
    if stage_word(stage) != ("not_started" if before is None else stage_word(before)):
        return True
    # That it goes on is no news; what it goes on to is.
    waits = stage.waits_for if with_waits else ""
    return bool(waits) and before is not None and waits != before.waits_for


def _stage_line(stage: Stage, deployment: Deployment) -> str:
    name, word, note = plain(stage.name), stage_word(stage), plain(stage_note(stage, deployment.stages))
    if note == f"{name} is {word}":
        return note
    if note.startswith((word, "waits for ")):
        return f"{name} {note}"
    return f"{name} {word.replace('_', ' ')}" + (f": {note}" if note else "")
