"""The types of the configuration as JSON Schema, for editors that complete and check while one writes.

msgspec can make schemas too, but not of defaults that are our own scalars; and a schema made here can say for each
stage name what its `with` may hold.
"""

from typing import Any, Final

from msgspec import NODEFAULT, inspect

from fairway.config.application import UndoScript
from fairway.config.application_file import KINDS
from fairway.config.read import KIND_TYPES, Metadata, api_versions
from fairway.config.reader.check import type_info
from fairway.config.regex import Regex
from fairway.config.scalars import Duration, Percentage, Replicas
from fairway.config.stage_catalogue import EVERYWHERE, STAGES
from fairway.config.stages import StageEntry, StageOptions

_Schema = dict[str, Any]
_SCALARS: Final[dict[Any, _Schema]] = {
    Duration: {"type": ["string", "integer"], "description": Duration.expected},
    Percentage: {"type": ["string", "number"], "description": Percentage.expected},
    Replicas: {"type": ["string", "integer"], "description": Replicas.expected},
    Regex: {"type": "string", "description": Regex.expected},
}


def file_schema(kind: str) -> _Schema:
    """The schema of a whole file of one kind."""
    writer = _Writer(kind)
    properties = {
        "apiVersion": {"enum": list(api_versions(kind))},
        "kind": {"const": kind},
        "metadata": writer.write(type_info(Metadata)),
        "spec": writer.write(type_info(KIND_TYPES[kind])),
    }
    # Kubernetes' fields are Kubernetes' business.
    writer.definitions[Metadata.__name__]["additionalProperties"] = True
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Fairway: {kind}",
        "type": "object",
        "required": ["apiVersion", "kind", "spec"],
        "properties": properties,
        "$defs": writer.definitions,
    }


class _Writer:
    def __init__(self, kind: str) -> None:
        self._kind = kind
        self.definitions: dict[str, _Schema] = {}

    def write(self, wanted: inspect.Type) -> _Schema:
        match wanted:
            case inspect.StructType():
                return self._reference(wanted)
            case inspect.DictType():
                return {"type": "object", "additionalProperties": self.write(wanted.value_type)}
            case inspect.VarTupleType():
                return {"type": "array", "items": self.write(wanted.item_type)}
            case inspect.UnionType():
                return {"anyOf": [self.write(member) for member in wanted.types]}
            case inspect.LiteralType():
                return {"enum": list(wanted.values)}
            case inspect.CustomType():
                return _SCALARS[wanted.cls]
            case inspect.NoneType():
                return {"type": "null"}
        return _PLAIN[type(wanted)]

    def _reference(self, wanted: inspect.StructType) -> _Schema:
        name = wanted.cls.__name__
        if name not in self.definitions:
            schema: _Schema = {"type": "object", "description": (wanted.cls.__doc__ or "").strip()}
            self.definitions[name] = schema
            schema["properties"] = {field.encode_name: self._field(field) for field in wanted.fields}
            if issubclass(wanted.cls, StageOptions):
                # Every stage may say in its `with` how it is undone, though its own options do not have that.
                self.write(type_info(UndoScript))
                undo = self.definitions[UndoScript.__name__]["properties"]
                schema["properties"] = {**undo, **schema["properties"]}
            schema["required"] = [field.encode_name for field in wanted.fields if field.required]
            schema["additionalProperties"] = False
            if wanted.cls is StageEntry:
                self._stage_options(schema)
        return {"$ref": f"#/$defs/{name}"}

    def _field(self, field: inspect.Field) -> _Schema:
        schema = self.write(field.type)
        if not field.required and schema:
            # A field with nothing behind its colon is as if it were not there.
            schema = {"anyOf": [schema, {"type": "null"}]}
        default = field.default
        if default is NODEFAULT or not isinstance(default, str | int | float | Duration | Replicas) or default == "":
            return schema
        return {**schema, "default": default if isinstance(default, bool | int | float) else str(default)}

    def _stage_options(self, entry: _Schema) -> None:
        """An entry with this name has these options."""
        names = [name for name in STAGES if _may_write(self._kind, name)]
        entry["allOf"] = [
            {
                "if": {"properties": {"name": {"const": name}}},
                "then": {"properties": {"with": self.write(type_info(STAGES[name].options))}},
            }
            for name in names
        ]
        if self._kind in KINDS:
            entry["properties"]["name"] = {"enum": names}


_PLAIN: Final[dict[type, _Schema]] = {
    inspect.StrType: {"type": "string"},
    inspect.BoolType: {"type": "boolean"},
    inspect.IntType: {"type": "integer"},
    inspect.FloatType: {"type": "number"},
    inspect.AnyType: {},
}


def _may_write(kind: str, stage: str) -> bool:
    known = STAGES[stage]
    if kind not in KINDS:
        return known.in_v1
    return known.in_v0 and known.plugin in EVERYWHERE | {KINDS[kind].plugin}
