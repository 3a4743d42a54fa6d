"""Whether an object that a stage waits for is still what the stage has applied, or what somebody has made of it since.

A rollout that is undone by hand becomes available, too; then it is not the commit that runs. What the stage has applied
is in the answer to it: which fields are ours, and their values. The number of replicas belongs to whoever scales, what
is added beside our values stays, and neither metadata nor how long something may take change what runs. Pure.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from fairway.kube.cluster import FIELD_MANAGER
from fairway.kube.manifest import Body, key_of
from fairway.plugins.kubernetes.marks import COMMIT, FORCE_SYNC_BY_REPLACE, SYNC_BY_REPLACE, asks_for, mark
from fairway.plugins.kubernetes.parts import part

#: The steps to a field as the cluster writes them down: `f:name`, `k:{"name":"main"}`, `v:"value"`, `i:0`.
Path = tuple[str, ...]

#: What does not say what runs: the sections of an object, and fields of its spec.
_SECTIONS: Final = frozenset({"f:metadata", "f:status"})
_FIELDS: Final = frozenset(
    ("f:spec", f"f:{name}")
    for name in ("replicas", "progressDeadlineSeconds", "minReadySeconds", "revisionHistoryLimit", "paused")
)
#: Of a definition, controllers fill in what its manifest leaves to them, such as the authority of its webhook.
_FILLED_IN: Final = frozenset({"CustomResourceDefinition"})
#: The element of a list itself, beside its fields.
_ITSELF: Final = "."
#: How many fields are named.
_NAMED: Final = 3


class _Nothing:
    """Where there is no value, not even null."""


_NOTHING: Final = _Nothing()


class Applied:
    """What a stage has applied of one object."""

    def __init__(self, answer: Body) -> None:
        self._uid = part(answer, "metadata", "uid")
        self._commit = mark(answer, COMMIT)[:7]
        self._values = {path: _value(answer, path) for path in _ours(answer)}

    def meddled_with(self, now: Body) -> str:
        """What somebody has changed since, in words; empty where it is what was applied."""
        if part(now, "metadata", "uid") != self._uid:
            return (
                f"{key_of(now)} was deleted and made anew by {_and(_makers(now))} while it was rolled out; "
                f"it is not what was applied for commit {self._commit}"
            )
        lost = [path for path, value in self._values.items() if not _is_kept(value, _value(now, path))]
        if not lost:
            return ""
        fields = [_in_words(each) for each in lost]
        more = f" and {len(fields) - _NAMED} more" if len(fields) > _NAMED else ""
        return (
            f"{key_of(now)} was changed by {_and(_takers(now, lost))} while it was rolled out: "
            f"{', '.join(fields[:_NAMED])}{more}; what runs is not commit {self._commit}"
        )


def _ours(answer: Body) -> Iterator[Path]:
    """The fields that tell what runs; of an object that is replaced, all of them are as Git says, whoever had written
    the same before."""
    if answer["kind"] in _FILLED_IN:
        return
    replaced = any(asks_for(answer, each, "enabled") for each in (SYNC_BY_REPLACE, FORCE_SYNC_BY_REPLACE))
    entries = [each for each in _entries(answer) if replaced or each.get("manager") == FIELD_MANAGER]
    for path in dict.fromkeys(path for each in entries for path in _leaves(each.get("fieldsV1") or {})):
        if path[0] not in _SECTIONS and path not in _FIELDS:
            yield path


def _entries(body: Body) -> Sequence[Mapping[str, Any]]:
    found = part(body, "metadata", "managedFields") or ()
    return [each for each in found if not each.get("subresource")]


def _leaves(fields: Mapping[str, Any], path: Path = ()) -> Iterator[Path]:
    inner = [(step, below) for step, below in fields.items() if step != _ITSELF]
    for step, below in inner:
        yield from _leaves(below, (*path, step))
    if not inner and path:
        yield path


def _value(value: Any, path: Path) -> Any:
    for step in path:
        value = _child(value, step)
    return value


def _child(value: Any, step: str) -> Any:
    sort, _, rest = step.partition(":")
    if sort == "f":
        return value.get(rest, _NOTHING) if isinstance(value, Mapping) else _NOTHING
    if not isinstance(value, list | tuple):
        return _NOTHING
    wanted = msgspec.json.decode(rest)
    if sort == "k":
        fitting = (each for each in value if isinstance(each, Mapping) and wanted.items() <= each.items())
        return next(fitting, _NOTHING)
    if sort == "v":
        return wanted if wanted in value else _NOTHING
    return value[wanted] if wanted < len(value) else _NOTHING


def _is_kept(before: Any, now: Any) -> bool:
    if isinstance(before, Mapping | list | tuple) and not before:
        # What somebody puts where Git has nothing stands beside Git's values.
        return now is not _NOTHING
    return bool(before == now)


def _takers(now: Body, lost: Sequence[Path]) -> Iterable[str]:
    """Who else manages the fields by now; nobody manages one that was taken away."""
    for entry in _entries(now):
        if entry.get("manager") != FIELD_MANAGER and any(_manages(entry.get("fieldsV1") or {}, path) for path in lost):
            yield str(entry.get("manager"))


def _manages(fields: Mapping[str, Any], path: Path) -> bool:
    for step in path:
        if step not in fields:
            return False
        fields = fields[step]
        if not fields:
            # The whole of it, with all that is below.
            return True
    return True


def _makers(now: Body) -> Iterable[str]:
    return (str(each.get("manager")) for each in _entries(now))


def _and(names: Iterable[str]) -> str:
    return " and ".join(sorted(set(names))) or "somebody"


def _in_words(path: Path) -> str:
    """A path as people write it, elements of lists by their names or keys."""
    words = ""
    for step in path:
        sort, _, rest = step.partition(":")
        if sort == "f":
            words += f".{rest}" if words else rest
        else:
            read = msgspec.json.decode(rest)
            words += f"[{','.join(map(str, read.values())) if isinstance(read, Mapping) else read}]"
    return words
