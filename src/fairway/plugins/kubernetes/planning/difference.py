"""How two bodies differ: place by place, and as text for people.

Elements of a list that have names or other keys are compared with those of the same key, as the API server does; other
lists by position, as PipeCD does. What is secret is masked before anything is made into text, so that no
way of showing a difference can show it; that it differs is still seen.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
import yaml

from fairway.kube.manifest import Body
from fairway.plugins.kubernetes.parts import part

Path = tuple[str | int, ...]

MASK: Final = "*****"
_BEFORE, _AFTER = f"{MASK} (before)", f"{MASK} (after)"
#: Where kubectl keeps a copy of what it applied.
LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
_SECRET_FIELDS: Final = ("data", "stringData")
_FIRST: Final = {"apiVersion": 0, "kind": 1, "metadata": 2}
#: What elements of lists are known by, with what it means where it is not written; the first that fits counts.
_KEYS: Final[tuple[Mapping[str, Any], ...]] = (
    {"name": None},
    {"containerPort": None, "protocol": "TCP"},
    {"port": None, "protocol": "TCP"},
    {"mountPath": None},
    {"devicePath": None},
    {"topologyKey": None, "whenUnsatisfiable": "DoNotSchedule"},
    {"ip": None},
    {"uid": None},
    {"type": None},
)


class Absent(msgspec.Struct, frozen=True):
    """In the place of a value that is not there."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent()


class Change(msgspec.Struct, frozen=True):
    """One place where two bodies differ."""

    path: Path
    before: Any
    after: Any

    @property
    def dotted(self) -> str:
        """The place as settings such as `ignoreFields` write it."""
        return ".".join(map(str, self.path))


class Tolerance(msgspec.Struct, frozen=True, kw_only=True):
    """What does not count as a difference."""

    #: 1 and "1" are the same.
    numbers_as_texts: bool = False
    #: An empty value is the same as none.
    empty_is_absent: bool = False
    #: What only the first body has is passed over: a cluster adds much by itself.
    more_before: bool = False


STRICT: Final = Tolerance()


def differences(before: Any, after: Any, tolerance: Tolerance = STRICT, numbered: Any = None) -> tuple[Change, ...]:
    """Every place where two values differ, in order; the innermost one each time.

    An element with a key has the place that it has in `numbered`, or else in the second value.
    """
    return tuple(_differences(before, after, (), tolerance, numbered))


def _differences(before: Any, after: Any, path: Path, tolerance: Tolerance, numbered: Any) -> Iterator[Change]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in sorted({**before, **after}):
            missing_after = key not in after
            if missing_after and tolerance.more_before:
                continue
            pair = before.get(key, ABSENT), after.get(key, ABSENT)
            yield from _differences(*pair, (*path, key), tolerance, part(numbered, key))
    elif _is_list(before) and _is_list(after):
        yield from _in_lists(before, after, path, tolerance, numbered if _is_list(numbered) else ())
    elif not _same(before, after, tolerance):
        yield Change(path, before, after)


def _in_lists(
    before: Sequence[Any], after: Sequence[Any], path: Path, tolerance: Tolerance, numbered: Sequence[Any]
) -> Iterator[Change]:
    keyed = _by_key(before, after, numbered)
    if keyed is None:
        for index in range(max(len(before), len(after))):
            one, other = (each[index] if index < len(each) else ABSENT for each in (before, after))
            like = numbered[index] if index < len(numbered) else None
            yield from _differences(one, other, (*path, index), tolerance, like)
        return
    old, new, likes = keyed
    if [key for key in old if key in new] != [key for key in new if key in old]:
        # The same elements in another order, which may mean another thing.
        yield Change(path, before, after)
        return
    for index, key in enumerate({**likes, **new, **old}):
        if (key not in old and key not in new) or (key not in new and tolerance.more_before):
            continue
        pair = old.get(key, ABSENT), new.get(key, ABSENT)
        yield from _differences(*pair, (*path, index), tolerance, likes.get(key))


def _by_key(*lists: Sequence[Any]) -> list[dict[Any, Any]] | None:
    """The elements of each list by what they are known by; None where they have no keys, or not one each."""
    for names in _KEYS:
        found = [{_key(each, names): each for each in some} for some in lists]
        if all(None not in keyed and len(keyed) == len(some) for keyed, some in zip(found, lists, strict=True)):
            return found
    return None


def _key(element: Any, names: Mapping[str, Any]) -> tuple[str, ...] | None:
    if not isinstance(element, Mapping):
        return None
    values = [element.get(name, default) for name, default in names.items()]
    return tuple(map(str, values)) if all(isinstance(each, str | int) for each in values) else None


def _same(before: Any, after: Any, tolerance: Tolerance) -> bool:
    if tolerance.empty_is_absent and _is_empty(before) and _is_empty(after):
        return True
    if isinstance(before, bool) or isinstance(after, bool):
        return before is after
    if tolerance.numbers_as_texts and isinstance(before, int | float | str) and isinstance(after, int | float | str):
        return before == after or (_number(before) is not None and _number(before) == _number(after))
    return type(before) is type(after) and bool(before == after)


def _number(value: float | str) -> float | None:
    try:
        return float(value)
    except ValueError:
        return None


def _is_empty(value: Any) -> bool:
    return value in (None, ABSENT, "", 0, False) or (isinstance(value, Mapping | list | tuple) and not value)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def masked_pair(before: Body | None, after: Body | None) -> tuple[Body | None, Body | None]:
    """Two forms of an object with what is secret in them hidden; values that differ still do."""
    if not any(each is not None and _is_secret(each) for each in (before, after)):
        return before, after
    one, other = (None if each is None else _without_copies(each) for each in (before, after))
    return (
        None if one is None else _masked(one, other, _BEFORE),
        None if other is None else _masked(other, one, _AFTER),
    )


def _is_secret(body: Body) -> bool:
    return body.get("kind") == "Secret" and body.get("apiVersion") == "v1"


def _without_copies(body: Body) -> Body:
    annotations = part(body, "metadata", "annotations")
    if not isinstance(annotations, Mapping) or LAST_APPLIED not in annotations:
        return body
    kept = {key: value for key, value in annotations.items() if key != LAST_APPLIED}
    return {**body, "metadata": {**body["metadata"], "annotations": kept}}


def _masked(body: Body, other: Body | None, changed: str) -> Body:
    hidden: dict[str, Any] = {}
    for field in _SECRET_FIELDS:
        values, others = body.get(field), None if other is None else other.get(field)
        if isinstance(values, Mapping):
            known = others if isinstance(others, Mapping) else {}
            hidden[field] = {
                key: changed if key in known and known[key] != value else MASK for key, value in values.items()
            }
        elif values is not None:
            hidden[field] = MASK
    return {**body, **hidden}


def yaml_lines(body: Body) -> list[str]:
    """An object as YAML, the same for the same object whatever the order in which it was written."""
    ordered = dict(sorted(body.items(), key=lambda item: (_FIRST.get(item[0], 3), item[0])))
    return _dump({key: _sorted(value) for key, value in ordered.items()}).splitlines()


def outline(changes: Iterable[Change], *, mask: bool = False) -> str:
    """The changes as a tree of places, each with its lines; the form that PipeCD shows drift in.

    `mask` hides the values themselves.
    """
    lines: list[str] = []
    shown: Path = ()
    for change in sorted(changes, key=lambda each: tuple(map(_order, each.path))):
        parents = change.path[:-1]
        same = next((at for at, pair in enumerate(zip(shown, parents, strict=False)) if pair[0] != pair[1]), None)
        start = min(len(shown), len(parents)) if same is None else same
        for depth in range(start, len(parents)):
            step = parents[depth]
            lines.append("  " * (depth + 1) + (f"{step}:" if isinstance(step, str) else "-"))
        shown = parents
        indent = "  " * (len(parents) + 1)
        lines.append(f"{indent}#{change.dotted}")
        for sign, value in (("-", change.before), ("+", change.after)):
            if value is not ABSENT:
                lines += [f"{sign}{indent[1:]}{line}" for line in _value_lines(change.path, value, mask=mask)]
        lines.append("")
    return "\n".join(lines)


def _value_lines(path: Path, value: Any, *, mask: bool) -> list[str]:
    value = MASK if mask else _sorted(value)
    last = path[-1] if path else ""
    return _dump([value] if isinstance(last, int) else {last: value}).splitlines()


def _order(step: str | int) -> tuple[int, int, str]:
    return (0, step, "") if isinstance(step, int) else (1, 0, step)


def _sorted(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(each) for each in value] if _is_list(value) else value


class _Dumper(yaml.CSafeDumper):
    """Texts of several lines as blocks, which is how people write them."""

    def ignore_aliases(self, _data: Any) -> bool:
        return True


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)


def _dump(value: Any) -> str:
    return str(yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1 << 20))
