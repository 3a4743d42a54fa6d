"""What a request says in its body, from bytes into one of our types, or a refusal that names everything that is wrong.

msgspec reads a good body in microseconds and stops at the first thing it dislikes; only then the same types are walked
beside the values, so that whoever wrote the body learns of every mistake at once. Fields that nobody knows are refused:
a misspelt one that is ignored would look as if it had worked.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, TypeVar

import msgspec
from litestar import Request
from msgspec import inspect

from fairway.config.problems import Path, did_you_mean, path_text, shown
from fairway.errors import UserError
from fairway.server.status_codes import InvalidRequest

#: Longest body in bytes.
MOST_BYTES = 1024 * 1024

T = TypeVar("T")


class Body(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the types of bodies have in common."""


class Nothing(Body, frozen=True):
    """The body of a request whose path says it all."""


class WrongMediaType(UserError):
    """A body in a form that is not read here."""


async def refuse_bad_body(request: Request[Any, Any, Any]) -> None:
    """Raise InvalidRequest or WrongMediaType unless the body is what the route takes."""
    field = request.route_handler.parsed_data_field
    content = await request.body()
    if not content and (field is None or field.has_default):
        return
    named = request.headers.get("content-type", "")
    if content and named.partition(";")[0].strip().lower() != "application/json":
        raise WrongMediaType(f"the content type of the body is {named!r}; expected application/json")
    read_body(content, Nothing if field is None else field.annotation)


def read_body(content: bytes, kind: type[T]) -> T:
    """The body as the type that the route takes; InvalidRequest with everything that is wrong with it."""
    if not content:
        raise InvalidRequest("the body is missing; expected JSON")
    try:
        value = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidRequest(f"the body is no JSON that can be read ({error}); check it, it must be UTF-8") from error
    if unstorable := list(_unstorable(value, ())):
        raise InvalidRequest("; ".join(unstorable))
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        found = list(_problems(value, inspect.type_info(kind), ()))
        raise InvalidRequest("; ".join(found) or str(error)) from error


def _unstorable(value: Any, path: Path) -> Iterator[str]:
    """Texts with a character that a database cannot hold."""
    match value:
        case str() if "\0" in value:
            yield f"{_at(path)} has a NUL character; expected a text without one"
        case dict():
            for key, item in value.items():
                yield from _unstorable(key, path)
                yield from _unstorable(item, (*path, key))
        case list():
            for index, item in enumerate(value):
                yield from _unstorable(item, (*path, index))


def _problems(value: Any, wanted: inspect.Type, path: Path) -> Iterator[str]:
    """Everything that is wrong with a value."""
    match wanted:
        case inspect.StructType() if isinstance(value, dict):
            yield from _problems_of_fields(value, wanted, path)
        case inspect.DictType() if isinstance(value, dict):
            for key, item in value.items():
                yield from _problems(key, wanted.key_type, path)
                yield from _problems(item, wanted.value_type, (*path, key))
        case inspect.VarTupleType() | inspect.ListType() if isinstance(value, list):
            for index, item in enumerate(value):
                yield from _problems(item, wanted.item_type, (*path, index))
        case inspect.UnionType() if value is not None:
            for member in wanted.types:
                if not isinstance(member, inspect.NoneType):
                    yield from _problems(value, member, path)
        case _ if not _fits(value, wanted):
            near = did_you_mean(value, _words(wanted)) if isinstance(value, str) else ""
            yield f"{_at(path)} is {shown(value)}; expected {_expected(wanted)}{near}"


def _problems_of_fields(value: dict[str, Any], wanted: inspect.StructType, path: Path) -> Iterator[str]:
    fields = {field.encode_name: field for field in wanted.fields}
    for name in value:
        if name not in fields:
            known = did_you_mean(name, fields) or f"; expected {', '.join(fields) or 'none'}"
            yield f"{_at((*path, name))} is no field here{known}"
    for name, field in fields.items():
        if name in value:
            yield from _problems(value[name], field.type, (*path, name))
        elif field.required:
            yield f"{_at((*path, name))} is missing; expected {_expected(field.type)}"


def _fits(value: Any, wanted: inspect.Type) -> bool:
    try:
        msgspec.convert(value, _plain(wanted))
    except msgspec.ValidationError:
        return False
    return True


def _plain(wanted: inspect.Type) -> Any:
    """A type that accepts the same, for one that has no parts."""
    match wanted:
        case inspect.EnumType() | inspect.StructType():
            return wanted.cls
        case inspect.StrType():
            meta = msgspec.Meta(min_length=wanted.min_length, max_length=wanted.max_length, pattern=wanted.pattern)
            return Annotated[str, meta]
        case inspect.IntType():
            return Annotated[int, msgspec.Meta(ge=wanted.ge, le=wanted.le)]
    return _PLAIN[type(wanted)]


def _words(wanted: inspect.Type) -> list[str]:
    return [str(member.value) for member in wanted.cls] if isinstance(wanted, inspect.EnumType) else []


def _expected(wanted: inspect.Type) -> str:
    """What a type is called in a sentence."""
    match wanted:
        case inspect.EnumType():
            return f"one of {', '.join(_words(wanted))}"
        case inspect.StrType():
            return _expected_text(wanted)
        case inspect.IntType() if wanted.ge is not None and wanted.le is not None:
            return f"a whole number from {wanted.ge} to {wanted.le}"
        case inspect.UnionType():
            return " or ".join(_expected(part) for part in wanted.types if not isinstance(part, inspect.NoneType))
    return _CALLED[type(wanted)]


def _expected_text(wanted: inspect.StrType) -> str:
    least, most = wanted.min_length or 0, wanted.max_length
    length = f" of {least} to {most} characters" if most is not None else " that is not empty" if least else ""
    return f"a text{length}" + (f" that fits {wanted.pattern}" if wanted.pattern else "")


def _at(path: Path) -> str:
    return path_text(path) or "the body"


_PLAIN: dict[type[inspect.Type], Any] = {
    inspect.BoolType: bool,
    inspect.FloatType: float,
    inspect.DateTimeType: datetime,
    inspect.DictType: dict,
    inspect.ListType: list,
    inspect.VarTupleType: list,
    inspect.UnionType: None,
}
_CALLED: dict[type[inspect.Type], str] = {
    inspect.BoolType: "true or false",
    inspect.IntType: "a whole number",
    inspect.FloatType: "a number",
    inspect.DateTimeType: "a time such as 2026-01-31T12:00:00Z",
    inspect.DictType: "a mapping",
    inspect.StructType: "a mapping",
    inspect.ListType: "a list",
    inspect.VarTupleType: "a list",
}
