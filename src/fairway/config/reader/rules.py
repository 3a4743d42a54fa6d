"""Rules that types cannot express: asks every mapping what is wrong with it, and finds the place of each answer.

Which types have rules, and through which fields they are reached, is worked out once for each type, so that a file
without rules to check costs nothing.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final, NamedTuple, TypeVar

from msgspec import inspect

from fairway.config.problems import Path, Problem, Severity, without_consequences
from fairway.config.reader.check import type_info
from fairway.config.reader.convert import convert_checked
from fairway.config.reader.document import Document
from fairway.config.settings import Problems, Settings

_STEP: Final = re.compile(r"\.?([^.\[\]]+)|\[(\d+)\]")


S = TypeVar("S", bound=Settings)


class _Plan(NamedTuple):
    """What is to be asked of a value of one type."""

    has_rules: bool
    #: Attribute, name in the file; only those that lead to something with rules.
    fields: tuple[tuple[str, str], ...]


def broken_rules(document: Document, settings: Any, path: Path) -> list[Problem]:
    """Everything the mappings at and below a value find wrong with themselves."""
    return list(_ask(document, settings, path))


def read_settings(document: Document, value: Any, kind: type[S], path: Path) -> tuple[S, list[Problem]]:
    """A mapping as settings, with everything that its type and its rules find wrong."""
    settings, problems = convert_checked(document, value, kind, path)
    rules = broken_rules(document, settings, path)
    return settings, problems + without_consequences(rules, problems)


def at(document: Document, path: Path, found: Problems, severity: Severity = Severity.ERROR) -> Iterator[Problem]:
    """Sentences of a mapping as problems of a document."""
    for below, sentence in found:
        yield document.problem((*path, *_steps(below)), sentence, severity)


def _ask(document: Document, value: Any, path: Path) -> Iterator[Problem]:
    if isinstance(value, Settings):
        plan = _plan(type(value))
        if plan.has_rules:
            yield from at(document, path, value.problems())
            yield from at(document, path, value.warnings(), Severity.WARNING)
            for field, kind in value.variants().items():
                below = (*path, *_steps(field))
                _, problems = read_settings(document, document.at(below) or {}, kind, below)
                yield from problems
        for attribute, name in plan.fields:
            yield from _ask(document, getattr(value, attribute), (*path, name))
    elif isinstance(value, tuple):
        for index, item in enumerate(value):
            yield from _ask(document, item, (*path, index))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _ask(document, item, (*path, key))


@cache
def _plan(kind: type[Settings]) -> _Plan:
    asks = ("problems", "warnings", "variants")
    has_rules = any(getattr(kind, name) is not getattr(Settings, name) for name in asks)
    info = type_info(kind)
    fields = info.fields if isinstance(info, inspect.StructType) else ()
    return _Plan(has_rules, tuple((field.name, field.encode_name) for field in fields if _leads_to_rules(field.type)))


def _leads_to_rules(wanted: inspect.Type) -> bool:
    match wanted:
        case inspect.StructType():
            plan = _plan(wanted.cls)
            return plan.has_rules or bool(plan.fields)
        case inspect.VarTupleType():
            return _leads_to_rules(wanted.item_type)
        case inspect.DictType():
            return _leads_to_rules(wanted.value_type)
        case inspect.UnionType():
            return any(_leads_to_rules(member) for member in wanted.types)
    return False


def _steps(below: str) -> Path:
    return tuple(int(match[2]) if match[2] else match[1] for match in _STEP.finditer(below))
