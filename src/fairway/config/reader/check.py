"""Plain values → every problem at once, against the types.

msgspec reads a good file in microseconds and stops at the first thing it dislikes; only then this walks the same types
beside the values and says all that is wrong. Another case of letters in a field's name is a warning, and an empty value
counts as a missing field. An unknown field is an error, unless the document allows unknown fields.
"""

from functools import cache
from typing import Any, Final

from msgspec import inspect

from fairway.config.problems import Path, Problem, Severity, did_you_mean, shown
from fairway.config.reader.document import Document

type_info: Final = cache(inspect.type_info)


def check(document: Document, value: Any, kind: Any, path: Path) -> tuple[Any, list[Problem]]:
    """Everything that is wrong with a value, and the value as it would be with all of it set right.

    What could not be read is replaced by something of the right type, so that the rest can be looked at further; a
    value with errors is never used for anything else.
    """
    checker = _Checker(document)
    cleaned = checker.check(value, type_info(kind), path)
    return cleaned, checker.problems


class _Checker:
    def __init__(self, document: Document) -> None:
        self._document = document
        self.problems: list[Problem] = []

    def check(self, value: Any, wanted: inspect.Type, path: Path) -> Any:
        match wanted:
            case inspect.StructType():
                return self._struct(value, wanted, path)
            case inspect.DictType():
                return self._dict(value, wanted, path)
            case inspect.VarTupleType() | inspect.ListType():
                return self._list(value, wanted, path)
            case inspect.UnionType():
                return self._union(value, wanted, path)
            case inspect.CustomType():
                return self._custom(value, wanted, path)
            case inspect.LiteralType():
                return self._choice(value, wanted, path)
        return self._scalar(value, wanted, path)

    def _say(self, path: Path, message: str, severity: Severity = Severity.ERROR, *, of_key: bool = False) -> None:
        self.problems.append(self._document.problem(path, message, severity, of_key=of_key))

    def _wrong(self, value: Any, wanted: inspect.Type, path: Path, hint: str = "") -> Any:
        self._say(path, f"found {shown(value)}, expected {described(wanted)}{hint}")
        return _stand_in(wanted)

    def _struct(self, value: Any, wanted: inspect.StructType, path: Path) -> Any:
        if not isinstance(value, dict):
            return self._wrong(value, wanted, path)
        fields = {field.encode_name: field for field in wanted.fields}
        cleaned: dict[str, Any] = {}
        for key, item in value.items():
            name = self._field_name(key, wanted, path)
            if name is None or item is None or (item == "" and _has_default_word(fields[name])):
                continue
            if name in cleaned:
                self._say((*path, key), f"is given twice, as {key!r} and {name!r}", of_key=True)
            if isinstance(item, list) and (plural := _plural(name, fields)):
                cleaned[name] = self._wrong(item, fields[name].type, (*path, key), f"; a list stands under {plural!r}")
                continue
            cleaned[name] = self.check(item, fields[name].type, (*path, key))
        for name, field in fields.items():
            if field.required and name not in cleaned:
                self._say((*path, name), f"is missing; expected {described(field.type)}")
                cleaned[name] = _stand_in(field.type)
        return cleaned

    def _field_name(self, key: str, wanted: inspect.StructType, path: Path) -> str | None:
        fields = {field.encode_name for field in wanted.fields}
        if key in fields:
            return key
        same = next((name for name in fields if name.lower() == key.lower()), None)
        if same is not None:
            self._say((*path, key), f"is spelled {same!r}", Severity.WARNING, of_key=True)
            return same
        if instead := getattr(wanted.cls, "without_effect", {}).get(key):
            self._say((*path, key), f"has no effect; {instead}", Severity.WARNING, of_key=True)
            return None
        known = did_you_mean(key, fields) or (f"; known here: {', '.join(sorted(fields))}" if len(fields) <= 12 else "")
        if "with" in fields and not did_you_mean(key, fields):
            known = "; the options of a stage stand under `with`"
        self.problems.append(self._document.unknown_field((*path, key), known))
        return None

    def _dict(self, value: Any, wanted: inspect.DictType, path: Path) -> Any:
        if not isinstance(value, dict):
            return self._wrong(value, wanted, path)
        kind = wanted.value_type
        # An empty value is what it is in Go: an empty text, or settings that say nothing.
        empty: Any = None if isinstance(kind, inspect.AnyType) else "" if isinstance(kind, inspect.StrType) else {}
        return {key: self.check(empty if item is None else item, kind, (*path, key)) for key, item in value.items()}

    def _list(self, value: Any, wanted: Any, path: Path) -> Any:
        if not isinstance(value, list):
            hint = f"; write it as `- {value}`" if isinstance(value, str) and "\n" not in value else ""
            return self._wrong(value, wanted, path, hint)
        return [self.check(item, wanted.item_type, (*path, index)) for index, item in enumerate(value)]

    def _union(self, value: Any, wanted: inspect.UnionType, path: Path) -> Any:
        members = [member for member in wanted.types if not isinstance(member, inspect.NoneType)]
        if value is None:
            return None
        for member in members:
            if len(members) == 1 or _suits(value, member):
                return self.check(value, member, path)
        return self._wrong(value, wanted, path)

    def _custom(self, value: Any, wanted: inspect.CustomType, path: Path) -> Any:
        cls: Any = wanted.cls
        try:
            cls.parse(value)
        except ValueError as error:
            reason = str(error)
            why = "" if reason.startswith("is not a ") else f", which {reason}"
            self._say(path, f"found {shown(value)}{why}; expected {cls.expected}")
            return _stand_in(wanted)
        return value

    def _choice(self, value: Any, wanted: inspect.LiteralType, path: Path) -> Any:
        if value in wanted.values:
            return value
        hint = did_you_mean(value, [str(word) for word in wanted.values]) if isinstance(value, str) else ""
        return self._wrong(value, wanted, path, hint)

    def _scalar(self, value: Any, wanted: inspect.Type, path: Path) -> Any:
        if _suits(value, wanted):
            return value
        if isinstance(wanted, inspect.IntType) and isinstance(value, float) and value.is_integer():
            return int(value)
        hint = ""
        if isinstance(wanted, inspect.StrType) and isinstance(value, bool | int | float):
            hint = f'; put it in quotes: "{self._document.written(path)}"'
        elif isinstance(wanted, inspect.BoolType) and isinstance(value, str):
            hint = "; write it without quotes" if value.lower() in {"true", "false"} else ""
        elif isinstance(wanted, inspect.IntType) and isinstance(value, str):
            hint = "; write it without quotes" if value.isdecimal() else ""
        elif isinstance(wanted, inspect.StrType) and isinstance(value, list):
            hint = "; write one text, or a block that starts with |"
        return self._wrong(value, wanted, path, hint)


def _has_default_word(field: inspect.Field) -> bool:
    """Whether an empty text means the default, as it does for Go's words."""
    return isinstance(field.type, inspect.LiteralType) and "" not in field.type.values and not field.required


def _plural(name: str, fields: dict[str, inspect.Field]) -> str:
    """The field beside a text that takes a list of such, as `runs` beside `run`; nothing where there is none."""
    several = fields.get(f"{name}s")
    is_list = several is not None and isinstance(several.type, inspect.VarTupleType | inspect.ListType)
    return f"{name}s" if is_list and isinstance(fields[name].type, inspect.StrType) else ""


def _suits(value: Any, wanted: inspect.Type) -> bool:
    match wanted:
        case inspect.AnyType():
            return True
        case inspect.StrType():
            return isinstance(value, str)
        case inspect.BoolType():
            return isinstance(value, bool)
        case inspect.IntType():
            return isinstance(value, int) and not isinstance(value, bool)
        case inspect.FloatType():
            return isinstance(value, int | float) and not isinstance(value, bool)
        case inspect.VarTupleType() | inspect.ListType():
            return isinstance(value, list)
        case inspect.StructType() | inspect.DictType():
            return isinstance(value, dict)
    return False


def _stand_in(wanted: inspect.Type) -> Any:
    """Some value of a type, for the place of one that could not be read."""
    match wanted:
        case inspect.StructType():
            return {field.encode_name: _stand_in(field.type) for field in wanted.fields if field.required}
        case inspect.LiteralType():
            return wanted.values[0]
        case inspect.UnionType():
            optional = any(isinstance(member, inspect.NoneType) for member in wanted.types)
            return None if optional else _stand_in(wanted.types[0])
        case inspect.CustomType():
            return "0"  # every scalar of ours reads it
        case inspect.DictType():
            return {}
        case inspect.VarTupleType() | inspect.ListType():
            return []
        case inspect.StrType():
            return ""
        case inspect.BoolType():
            return False
        case inspect.NoneType():
            return None
    return 0


def described(wanted: inspect.Type) -> str:
    """What a type is called in a sentence."""
    match wanted:
        case inspect.StrType():
            return "a text"
        case inspect.BoolType():
            return "true or false"
        case inspect.IntType():
            return "a whole number"
        case inspect.FloatType():
            return "a number"
        case inspect.VarTupleType() | inspect.ListType():
            return "a list"
        case inspect.LiteralType():
            return f"one of {', '.join(str(word) for word in wanted.values if word)}"
        case inspect.CustomType():
            return str(getattr(wanted.cls, "expected", wanted.cls.__name__))
        case inspect.UnionType():
            return " or ".join(described(part) for part in wanted.types if not isinstance(part, inspect.NoneType))
    return "a mapping"
