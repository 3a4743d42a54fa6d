"""Nodes → plain values: merges, tags and aliases, and the refusal of what explodes or repeats itself."""

import base64
from sys import intern
from typing import Any, Final, NamedTuple

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from fairway.config.reader.plain_scalars import resolve_plain

#: How many values a file may have, as it stands and once its aliases are written out.
MOST_VALUES: Final = 100_000
#: How deep lists and mappings may stand in each other, again with the aliases written out.
DEEPEST_NESTING: Final = 100
TOO_DEEP: Final = f"this is nested more than {DEEPEST_NESTING} levels deep"
#: The tags our composer gives to unquoted and to quoted scalars; every other tag was written by the author.
PLAIN: Final = "plain"
TEXT: Final = "tag:yaml.org,2002:str"
_YAML_TAGS: Final = "tag:yaml.org,2002:"
_PLAIN_COLLECTIONS: Final = frozenset({f"{_YAML_TAGS}map", f"{_YAML_TAGS}seq"})


class RepeatedKey(NamedTuple):
    """A key that one mapping has twice."""

    name: str
    first: Node
    second: Node


class _Measure(NamedTuple):
    """How much there is at and below a node."""

    values: int
    depth: int


_SCALAR: Final = _Measure(values=1, depth=0)


def build_values(root: Node, *, most_written_out: int | None) -> tuple[Any, list[RepeatedKey]]:
    """What a document says, and the keys it says twice; MarkedYAMLError for what cannot be built.

    `most_written_out`: how many values there may be once aliases are written out; None where there are no aliases.
    """
    builder = _Builder(most_written_out or 0)
    if most_written_out is not None:
        builder.measure(root)
    return builder.value(root), builder.repeated


def refusal(problem: str, place: Node | None) -> yaml.MarkedYAMLError:
    """The error of a place in the text, or of the whole text."""
    return yaml.MarkedYAMLError(problem=problem, problem_mark=None if place is None else place.start_mark)


class _Builder:
    def __init__(self, most_values: int) -> None:
        self._most_values = most_values
        self.repeated: list[RepeatedKey] = []
        self._measures: dict[int, _Measure] = {}
        self._open: set[int] = set()

    def value(self, node: Node) -> Any:
        if isinstance(node, ScalarNode):
            if node.tag == TEXT:
                return node.value
            return resolve_plain(node.value) if node.tag == PLAIN else self._tagged(node)
        if node.tag and node.tag not in _PLAIN_COLLECTIONS:
            raise _unknown_tag(node)
        if isinstance(node, SequenceNode):
            return [self.value(item) for item in node.value]
        return self._mapping(node)

    def _mapping(self, node: Node) -> dict[str, Any]:
        result: dict[str, Any] = {}
        merged: list[Node] = []
        repeated: list[Node] = []
        for key_node, value_node in node.value:
            if not isinstance(key_node, ScalarNode):
                raise refusal("a key must be text", key_node)
            # Many files have the same few keys, and what they say is kept.
            key = intern(key_node.value)
            if key == "<<" and key_node.tag == PLAIN:
                merged.append(value_node)
                continue
            if key in result:
                repeated.append(key_node)
            result[key] = self.value(value_node)
        if repeated:
            self._remember(node, repeated)
        for source in merged:
            self._merge(result, source)
        return result

    def _remember(self, node: Node, repeated: list[Node]) -> None:
        first: dict[str, Node] = {}
        for key_node, _ in node.value:
            first.setdefault(key_node.value, key_node)
        self.repeated += [RepeatedKey(key_node.value, first[key_node.value], key_node) for key_node in repeated]

    def _merge(self, result: dict[str, Any], source: Node) -> None:
        for part in source.value if isinstance(source, SequenceNode) else [source]:
            if not isinstance(part, MappingNode):
                raise refusal("`<<` merges mappings only", part)
            for key, value in self._mapping(part).items():
                result.setdefault(key, value)

    def _tagged(self, node: ScalarNode) -> Any:
        kind = node.tag.rpartition(":")[2] if node.tag.startswith(_YAML_TAGS) else ""
        if kind in {"str", "timestamp"}:
            return node.value
        if kind == "binary":
            return _decoded(node)
        value = resolve_plain(node.value)
        if kind == "float" and type(value) is int:
            return float(value)
        wanted = {"int": int, "float": float, "bool": bool, "null": type(None)}.get(kind)
        if wanted is None or not isinstance(value, wanted):
            raise _unknown_tag(node)
        return value

    def measure(self, node: Node) -> _Measure:
        """How much a node is when aliases are written out; refuses bombs and circles."""
        if isinstance(node, ScalarNode):
            return _SCALAR
        identity = id(node)
        if identity in self._open:
            raise refusal("an alias contains itself", node)
        if identity not in self._measures:
            self._open.add(identity)
            children = (
                node.value if isinstance(node, SequenceNode) else [child for pair in node.value for child in pair]
            )
            measures = [self.measure(child) for child in children]
            self._open.discard(identity)
            found = _Measure(
                values=1 + sum(measure.values for measure in measures),
                depth=1 + max((measure.depth for measure in measures), default=0),
            )
            if found.values > self._most_values:
                raise refusal(f"written out, the aliases make more than {self._most_values:,} values", node)
            if found.depth > DEEPEST_NESTING:
                raise refusal(f"written out, {TOO_DEEP}", node)
            self._measures[identity] = found
        return self._measures[identity]


def _unknown_tag(node: Node) -> yaml.MarkedYAMLError:
    return refusal(f"the tag {node.tag!r} is not known here", node)


def _decoded(node: ScalarNode) -> str:
    try:
        return base64.b64decode("".join(node.value.split()), validate=True).decode("utf-8")
    except ValueError:
        raise refusal("this is tagged !!binary, but it is no text in base64", node) from None
