"""`patches` of a canary: single values of its manifests that differ from the primary's.

A path such as `$.spec.template.spec.containers[0].image` leads to the value; with `documentRoot` it leads through a
text field that holds YAML itself, such as the file in a ConfigMap, and nothing else of that text changes. A value keeps
the type that it has: "3" in place of a number is a number.
"""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import yaml

from fairway.config.stages import Patch, PatchOp
from fairway.errors import UserError
from fairway.git.yaml_edit.edit import set_scalar
from fairway.git.yaml_edit.path import Step, YamlEditError, parse_path
from fairway.kube.manifest import Body, Manifest
from fairway.plugins.kubernetes.parts import remade

Scalar = str | int | float | bool
#: A quoted key without brackets, as PipeCD's YAML library writes it.
_QUOTED = re.compile(r"\.('[^']*'|\"[^\"]*\")")


class BadPatch(UserError):
    """A patch that does not fit the manifest it is meant for."""


def patched(manifests: Sequence[Manifest], patches: Sequence[Patch]) -> tuple[Manifest, ...]:
    """The manifests with all patches; BadPatch says which does not fit, and why."""
    made = list(manifests)
    for patch in patches:
        kind, name = patch.target.kind, patch.target.name
        fitting = [at for at, each in enumerate(made) if each.kind == kind and each.name == name]
        if not fitting:
            there = ", ".join(sorted(f"{each.kind} {each.name}" for each in made)) or "none"
            raise BadPatch(f"a patch is for {kind} {name}, which is not among the manifests: {there}")
        at = fitting[0]
        try:
            made[at] = remade(made[at], partial(_patched, patch=patch))
        except (YamlEditError, _Misfit) as error:
            raise BadPatch(f"a patch does not fit {kind} {name}: {error}") from error
    return tuple(made)


class _Misfit(UserError):
    """A path that leads nowhere, or to something that cannot be replaced."""


def _patched(body: Body, patch: Patch) -> Body:
    root = patch.target.document_root
    if not root:
        for op in patch.ops:
            body = _set(body, _steps(op.path), op.value, op.path)
        return body
    steps = _steps(root)
    text = _at(body, steps, root)
    if not isinstance(text, str):
        raise _Misfit(f"documentRoot {root} leads to {_sort(text)}; expected a text that holds YAML")
    for op in patch.ops:
        text = _edited(text, op)
    changed: Body = _set(body, steps, text, root)
    return changed


def _steps(path: str) -> tuple[Step, ...]:
    return parse_path(_QUOTED.sub(r"[\1]", path))


def _edited(text: str, op: PatchOp) -> str:
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise _Misfit(f"the text below documentRoot is no YAML: {error}") from error
    before = _at(document, _steps(op.path), op.path)
    return set_scalar(text.encode(), _steps(op.path), _as_before(op, before)).decode()


def _at(value: Any, steps: Sequence[Step], path: str) -> Any:
    for step in steps:
        value = _child(value, step, path)
    return value


def _child(value: Any, step: Step, path: str) -> Any:
    if isinstance(step, int):
        if isinstance(value, list | tuple) and -len(value) <= step < len(value):
            return value[step]
        raise _Misfit(f"{path} leads to element {step} of {_sort(value)}")
    if isinstance(value, Mapping) and step in value:
        return value[step]
    there = f"; there {'are' if len(value) > 1 else 'is'} {', '.join(map(str, value))}" if _full(value) else ""
    raise _Misfit(f"{path} leads to {step!r} of {_sort(value)}, which is not there{there}")


def _set(value: Any, steps: Sequence[Step], new: str, path: str) -> Any:
    if not steps:
        return _as_before(PatchOp(path=path, value=new), value)
    step, *rest = steps
    inner = _set(_child(value, step, path), rest, new, path)
    if isinstance(step, int):
        changed = list(value)
        changed[step] = inner
        return changed
    return {**value, step: inner}


def _as_before(op: PatchOp, before: Any) -> Scalar:
    """The new value, of the type that the old one has."""
    if isinstance(before, str) or before is None:
        return op.value
    if isinstance(before, Mapping | list | tuple):
        raise _Misfit(f"{op.path} leads to {_sort(before)}; expected a single value")
    read = yaml.safe_load(op.value)
    number = isinstance(read, int | float) and not isinstance(read, bool)
    if isinstance(read, bool) if isinstance(before, bool) else number:
        return read  # type: ignore[no-any-return]  # just seen to be one of the three
    raise _Misfit(f"{op.path} is {before!r}; {op.value!r} is nothing of the sort")


def _full(value: Any) -> bool:
    return isinstance(value, Mapping) and bool(value)


def _sort(value: Any) -> str:
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    return "nothing" if value is None else f"the value {value!r}"
