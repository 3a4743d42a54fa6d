"""The notes of a deployment and of its stages: how many bytes they have, and what is done about too many.

A note that exceeds a limit is refused. A deployment that was stored before there were limits is thinned: it loses its
largest notes, so that it can still be sent to its agent.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from fairway.model.deployment import Deployment
from fairway.model.limits import (
    DEPLOYMENT_NOTES_BYTES,
    NOTE_BYTES,
    QUOTED_REASON,
    REASON,
    SHOWN_TEXT,
    SPARE_NOTES_BYTES,
    STAGE_NOTES_BYTES,
    TooLarge,
    bytes_of,
    cut,
)
from fairway.model.stage import DISPLAY, TARGET, WAITS_FOR, Stage

#: The key, among the shared notes of a deployment, of a sentence about notes that were left out.
LEFT_OUT = "fairway/left-out"


def is_shown(key: str) -> bool:
    """Whether the note with this key is a text for people."""
    return key in {DISPLAY, WAITS_FOR} or key.startswith(TARGET)


def checked_notes(notes: Mapping[str, str], most_shown: int = SHOWN_TEXT) -> dict[str, str]:
    """New notes, with texts for people cut; TooLarge when one exceeds its limit."""
    checked = {key: cut(value, most_shown) if is_shown(key) else value for key, value in notes.items()}
    for key, value in checked.items():
        size = _size(key, value)
        if size > NOTE_BYTES and not is_shown(key):
            raise TooLarge(f"the note {cut(key, 80)!r} has {size} bytes; a note has at most {NOTE_BYTES} bytes")
    return checked


def with_stage_notes(deployment: Deployment, stage: Stage, notes: Mapping[str, str]) -> Deployment:
    """The deployment with more notes on one of its stages."""
    noted = msgspec.structs.replace(stage, metadata={**stage.metadata, **notes})
    stages = tuple(noted if each is stage else each for each in deployment.stages)
    return msgspec.structs.replace(deployment, stages=stages)


def with_plugin_notes(deployment: Deployment, plugin: str, notes: Mapping[str, str]) -> Deployment:
    """The deployment with more notes of one plugin."""
    known = deployment.plugin_metadata
    merged = {**known, plugin: {**known.get(plugin, {}), **notes}}
    return msgspec.structs.replace(deployment, plugin_metadata=merged)


def refuse_too_many_notes(deployment: Deployment, spare: int = 0) -> None:
    """Raise TooLarge when a stage, or the deployment, has more bytes of notes than its limit and `spare`."""
    total = 0
    for stage in deployment.stages:
        size = _size_of_all(stage.metadata)
        total += size
        if size > STAGE_NOTES_BYTES + spare:
            raise TooLarge(
                f"the notes of stage {stage.id} ({stage.name}) would have {size} bytes; "
                f"the notes of a stage have at most {STAGE_NOTES_BYTES} bytes"
            )
    total += sum(map(_size_of_all, _own_notes(deployment)))
    if total > DEPLOYMENT_NOTES_BYTES + spare:
        raise TooLarge(
            f"the notes of deployment {deployment.id} would have {total} bytes; "
            f"the notes of a deployment and its stages have at most {DEPLOYMENT_NOTES_BYTES} bytes"
        )


def thinned(deployment: Deployment) -> Deployment:
    """The deployment within all limits: its texts cut, its largest notes left out. Itself when it is within them."""
    cut_texts = _with_cut_texts(deployment)
    left_out = _to_leave_out(_all_notes(cut_texts))
    return _without(cut_texts, left_out) if left_out else cut_texts


def brief(deployment: Deployment) -> Deployment:
    """The deployment for lists and streams: without the notes that programs keep for themselves."""
    thin = thinned(deployment)
    return msgspec.structs.replace(
        thin,
        metadata=_public(thin.metadata),
        shared_metadata=_public(thin.shared_metadata),
        plugin_metadata={},
        stages=tuple(msgspec.structs.replace(stage, metadata=_public(stage.metadata)) for stage in thin.stages),
    )


def _public(notes: Mapping[str, str]) -> dict[str, str]:
    """The notes that have a meaning to everybody: texts for people, and short ones whose keys are Fairway's or
    PipeCD's."""
    return {
        key: value
        for key, value in notes.items()
        if is_shown(key) or (key.startswith(_PUBLIC) and len(value) <= QUOTED_REASON)
    }


#: How the keys begin that every part of Fairway, or of PipeCD, knows.
_PUBLIC = ("fairway/", "pipecd/")


class _Note(NamedTuple):
    size: int
    #: The position of a stage, the name of a plugin, or one of the two fields of the deployment.
    place: int | str | None
    key: str


#: The place of the notes of an agent of the older generation. Those for all plugins have the place `None`.
_OLDER = -1


def _size(key: str, value: str) -> int:
    return bytes_of(key) + bytes_of(value)


def _size_of_all(notes: Mapping[str, str]) -> int:
    return sum(_size(key, value) for key, value in notes.items())


def _own_notes(deployment: Deployment) -> Iterable[Mapping[str, str]]:
    """The notes of the deployment, without those of its stages."""
    return deployment.metadata, deployment.shared_metadata, *deployment.plugin_metadata.values()


def _all_notes(deployment: Deployment) -> list[_Note]:
    places: list[tuple[int | str | None, Mapping[str, str]]] = [
        (_OLDER, deployment.metadata),
        (None, deployment.shared_metadata),
        *deployment.plugin_metadata.items(),
        *((position, stage.metadata) for position, stage in enumerate(deployment.stages)),
    ]
    return [_Note(_size(key, value), place, key) for place, notes in places for key, value in notes.items()]


def _to_leave_out(notes: list[_Note]) -> set[_Note]:
    """Notes without which all limits hold."""
    if sum(note.size for note in notes) <= NOTE_BYTES:
        return set()
    left_out = {note for note in notes if note.size > NOTE_BYTES}
    kept = [note for note in notes if note not in left_out]
    for position in {note.place for note in kept if isinstance(note.place, int) and note.place != _OLDER}:
        left_out |= _largest([note for note in kept if note.place == position], STAGE_NOTES_BYTES)
    rest = [note for note in kept if note not in left_out]
    return left_out | _largest(rest, DEPLOYMENT_NOTES_BYTES)


def _largest(notes: list[_Note], most: int) -> set[_Note]:
    """The largest notes, without which the others have at most so many bytes; none where few bytes are too many."""
    excess = sum(note.size for note in notes) - most
    taken: set[_Note] = set()
    if excess <= SPARE_NOTES_BYTES:
        return taken
    for note in sorted(notes, key=lambda note: note.size, reverse=True):
        if excess <= 0:
            break
        taken.add(note)
        excess -= note.size
    return taken


def _without(deployment: Deployment, left_out: set[_Note]) -> Deployment:
    gone = {(note.place, note.key) for note in left_out}

    def kept(place: int | str | None, notes: Mapping[str, str]) -> dict[str, str]:
        return {key: value for key, value in notes.items() if (place, key) not in gone}

    size = sum(note.size for note in left_out)
    said = f"{len(left_out)} notes with {size} bytes were left out: they exceed the limits"
    stages = (
        msgspec.structs.replace(stage, metadata=kept(position, stage.metadata))
        for position, stage in enumerate(deployment.stages)
    )
    return msgspec.structs.replace(
        deployment,
        metadata=kept(_OLDER, deployment.metadata),
        shared_metadata={**kept(None, deployment.shared_metadata), LEFT_OUT: said},
        plugin_metadata={name: kept(name, notes) for name, notes in deployment.plugin_metadata.items()},
        stages=tuple(stages),
    )


def _with_cut_texts(deployment: Deployment) -> Deployment:
    commit = deployment.trigger.commit
    if len(commit.message) > SHOWN_TEXT:
        commit = msgspec.structs.replace(commit, message=cut(commit.message, SHOWN_TEXT))
        deployment = msgspec.structs.replace(
            deployment, trigger=msgspec.structs.replace(deployment.trigger, commit=commit)
        )
    stages = tuple(_with_cut_stage(stage) for stage in deployment.stages)
    changes: dict[str, Any] = {}
    if any(new is not old for new, old in zip(stages, deployment.stages, strict=True)):
        changes["stages"] = stages
    for field in ("status_reason", "summary"):
        if len(text := getattr(deployment, field)) > REASON:
            changes[field] = cut(text, REASON)
    return msgspec.structs.replace(deployment, **changes) if changes else deployment


def _with_cut_stage(stage: Stage) -> Stage:
    if len(stage.status_reason) <= REASON and len(stage.desc) <= SHOWN_TEXT:
        return stage
    return msgspec.structs.replace(
        stage, status_reason=cut(stage.status_reason, REASON), desc=cut(stage.desc, SHOWN_TEXT)
    )
