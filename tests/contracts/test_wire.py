"""The protos say what PipeCD's agents, plugins and tools expect; the committed code says what the protos say.

`wire_facts.tsv` is the other side of the comparison: every name and number that is known of PipeCD's wire.
Both directions are compared, so that a field can neither be forgotten nor invented.
"""

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)

from fairway.rpc.gen import pipecd
from fairway.rpc.rules.violations import RULES
from tools.generate_proto import GEN_DIR, differences, generated_files

FACTS_FILE = Path(__file__).with_name("wire_facts.tsv")

#: What is compared: ("field", message, name) → (number, type, label, deprecated), and so on.
Facts = dict[tuple[str, ...], tuple[str, ...]]


def test_the_committed_code_is_what_the_protos_say() -> None:
    found = differences(generated_files(), GEN_DIR)

    assert not found, "run `make proto`:\n" + "\n".join(found)


def test_every_name_and_number_is_as_pipecd_has_it() -> None:
    known = {key: values for key, values, _ in _known_rows()}
    compiled = dict(_compiled())

    found = _disagreements(known, compiled)

    assert not found, "\n".join(found)


def test_every_rule_is_as_pipecd_has_it() -> None:
    known: Facts = {key[1:]: tuple(sorted(rules)) for key, _, rules in _known_rows() if rules}
    ours: Facts = {
        (message, field): tuple(sorted(rule.marker for rule in rules))
        for message, fields in RULES.items()
        for field, rules in fields.items()
    }

    found = _disagreements(known, ours)

    assert not found, "\n".join(found)


def test_a_disagreement_names_both_sides() -> None:
    known: Facts = {("field", "m.A", "x"): ("1",), ("field", "m.A", "y"): ("2",)}
    ours: Facts = {("field", "m.A", "x"): ("3",), ("field", "m.A", "z"): ("4",)}

    assert _disagreements(known, ours) == [
        "field m.A x: PipeCD has 1, we have 3",
        "field m.A y: PipeCD has 2, we have nothing",
        "field m.A z: PipeCD has nothing, we have 4",
    ]


def _disagreements(known: Mapping[tuple[str, ...], object], ours: Mapping[tuple[str, ...], object]) -> list[str]:
    def shown(side: Mapping[tuple[str, ...], object], key: tuple[str, ...]) -> str:
        values = side.get(key)
        return "nothing" if values is None else " ".join(values) if isinstance(values, tuple) else str(values)

    return [
        f"{' '.join(key)}: PipeCD has {shown(known, key)}, we have {shown(ours, key)}"
        for key in sorted(known.keys() | ours.keys())
        if known.get(key) != ours.get(key)
    ]


def _known_rows() -> Iterator[tuple[tuple[str, ...], tuple[str, ...], list[str]]]:
    """Key, values and rules of each line of the facts."""
    for line in FACTS_FILE.read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        kind, owner, name, number, type_, label, rules, deprecated = (line.split("\t") + [""] * 7)[:8]
        key = (kind, owner, number) if kind == "reserved" else (kind, owner, name)
        yield key, (number, type_, label, deprecated), [rule for rule in rules.split(";") if rule]


def _compiled() -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """The same keys and values, from the generated code."""
    for module in pkgutil.walk_packages(pipecd.__path__, f"{pipecd.__name__}."):
        if not module.name.endswith("_pb2"):
            continue
        file = FileDescriptorProto()
        importlib.import_module(module.name).DESCRIPTOR.CopyToProto(file)
        for message in file.message_type:
            yield from _message_rows(message, file.package)
        for enum in file.enum_type:
            yield from _enum_rows(enum, file.package)
        for service in file.service:
            for method in service.method:
                streams = method.client_streaming or method.server_streaming
                types = ("stream" if streams else "unary", method.input_type[1:], method.output_type[1:])
                deprecated = _deprecated(method.options.deprecated)
                yield ("rpc", f"{file.package}.{service.name}", method.name), (*types, deprecated)


def _message_rows(message: DescriptorProto, scope: str) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    name = f"{scope}.{message.name}"
    yield ("message", name, ""), ("", "", "", "")
    for span in message.reserved_range:
        for number in range(span.start, span.end):
            yield ("reserved", name, str(number)), (str(number), "", "", "")
    entries = {f".{name}.{nested.name}": nested for nested in message.nested_type if nested.options.map_entry}
    for field in message.field:
        values = (str(field.number), *_type_and_label(field, entries), _deprecated(field.options.deprecated))
        yield ("field", name, field.name), values
    for nested in message.nested_type:
        if not nested.options.map_entry:
            yield from _message_rows(nested, name)
    for enum in message.enum_type:
        yield from _enum_rows(enum, name)


def _enum_rows(enum: EnumDescriptorProto, scope: str) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    name = f"{scope}.{enum.name}"
    yield ("enum", name, ""), ("", "", "", "")
    for span in enum.reserved_range:
        for number in range(span.start, span.end + 1):
            yield ("reserved", name, str(number)), (str(number), "", "", "")
    for value in enum.value:
        yield ("value", name, value.name), (str(value.number), "", "", "")


def _type_and_label(field: FieldDescriptorProto, entries: Mapping[str, DescriptorProto]) -> tuple[str, str]:
    if entry := entries.get(field.type_name):
        return ",".join(_type(part) for part in entry.field), "map"
    if field.proto3_optional or field.HasField("oneof_index"):
        return _type(field), "oneof"
    return _type(field), "repeated" if field.label == FieldDescriptorProto.LABEL_REPEATED else "single"


def _type(field: FieldDescriptorProto) -> str:
    scalar = FieldDescriptorProto.Type.Name(field.type).removeprefix("TYPE_").lower()
    return field.type_name.removeprefix(".") or scalar


def _deprecated(flag: bool) -> str:
    return "deprecated" if flag else ""
