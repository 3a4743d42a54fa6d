"""Nodes → plain values: merges, tags and aliases, and the refusal of what explodes or repeats itself."""

from typing import Any, Final, NamedTuple

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from fairway.config.reader.plain_scalars import resolve_plain

#: How many values a file may have once its aliases are written out.
MOST_VALUES: Final = 100_000
#: The tags our composer gives to unquoted and to quoted scalars; every other tag was written by the author.
PLAIN: Final = "plain"
TEXT: Final = "tag:yaml.org,2002:str"


class RepeatedKey(NamedTuple):
    """A key that one mapping has twice."""

    name: str
    first: Node
    second: Node


def build_values(root: Node, *, may_have_aliases: bool) -> tuple[Any, list[RepeatedKey]]:
    """What a document says, and the keys it says twice; MarkedYAMLError for what cannot be built."""
    builder = _Builder()
    if may_have_aliases:
        builder.measure(root)
    return builder.value(root), builder.repeated


def refusal(problem: str, place: Any) -> yaml.MarkedYAMLError:
    """The error of a place in the text."""
    return yaml.MarkedYAMLError(problem=problem, problem_mark=place.start_mark)


class _Builder:
    def __init__(self) -> None:
        self.repeated: list[RepeatedKey] = []
        self._sizes: dict[int, int] = {}
        self._open: set[int] = set()

    def value(self, node: Node) -> Any:
        if isinstance(node, ScalarNode):
            if node.tag == TEXT:
                return node.value
            return resolve_plain(node.value) if node.tag == PLAIN else self._tagged(node)
        if isinstance(node, SequenceNode):
            return [self.value(item) for item in node.value]
        return self._mapping(node)

    def _mapping(self, node: Node) -> dict[str, Any]:
        result: dict[str, Any] = {}
        merged: list[Node] = []
        for key_node, value_node in node.value:
            if not isinstance(key_node, ScalarNode):
                raise refusal("a key must be text", key_node)
            key = key_node.value
            if key == "<<" and key_node.tag == PLAIN:
                merged.append(value_node)
                continue
            if key in result:
                first = next(other for other, _ in node.value if other.value == key)
                self.repeated.append(RepeatedKey(key, first, key_node))
            result[key] = self.value(value_node)
        for source in merged:
            self._merge(result, source)
        return result

    def _merge(self, result: dict[str, Any], source: Node) -> None:
        for part in source.value if isinstance(source, SequenceNode) else [source]:
            if not isinstance(part, MappingNode):
                raise refusal("`<<` merges mappings only", part)
            for key, value in self._mapping(part).items():
                result.setdefault(key, value)

    def _tagged(self, node: ScalarNode) -> Any:
        kind = node.tag.rpartition(":")[2]
        if kind in {"str", "binary", "timestamp"}:
            return node.value
        value = resolve_plain(node.value)
        wanted = {"int": int, "float": float, "bool": bool, "null": type(None)}.get(kind)
        if wanted is None or not isinstance(value, wanted):
            raise yaml.MarkedYAMLError(problem=f"the tag {node.tag!r} is not known here", problem_mark=node.start_mark)
        return value

    def measure(self, node: Node) -> int:
        """How many values a node has when aliases are written out; refuses bombs and circles."""
        if isinstance(node, ScalarNode):
            return 1
        identity = id(node)
        if identity in self._open:
            raise refusal("an alias contains itself", node)
        if identity not in self._sizes:
            self._open.add(identity)
            children = (
                node.value if isinstance(node, SequenceNode) else [child for pair in node.value for child in pair]
            )
            self._sizes[identity] = 1 + sum(self.measure(child) for child in children)
            self._open.discard(identity)
            if self._sizes[identity] > MOST_VALUES:
                problem = f"written out, the aliases make more than {MOST_VALUES:,} values"
                raise refusal(problem, node)
        return self._sizes[identity]
