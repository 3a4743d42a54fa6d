"""Where in a YAML file the scalar at a path stands, or why there is none.

PyYAML gives the position of every node, but not of the scalar behind its anchor and tag, and it replaces an alias by
the node it stands for without a trace. Both are worked out here: the first from the text, the second from the order of
positions, because an alias always points backwards.
"""

import difflib
import re
from collections.abc import Sequence

import yaml
from msgspec import Struct

from fairway.git.yaml_edit.path import Step, YamlEditError, format_path
from fairway.git.yaml_edit.scalar import Written

#: Anchors and tags before a scalar, with whatever separates them from it.
_PROPERTIES = re.compile(r"(?:[&!]\S*(?:\s+(?:#[^\r\n]*\r?\n\s*)*)?)*")
_MERGE = "tag:yaml.org,2002:merge"


class Place(Struct, frozen=True):
    """The characters of one scalar."""

    node: yaml.ScalarNode
    start: int
    end: int
    written: Written
    #: What must stand between the colon and a value where there was none.
    gap: str = ""


def position(mark: yaml.Mark) -> str:
    """Line and column as people count them."""
    return f"line {mark.line + 1}, column {mark.column + 1}"


def find_place(characters: str, root: yaml.Node, steps: Sequence[Step], *, through_alias: bool) -> Place:
    """The scalar at the end of a path."""
    node, in_flow = root, False
    for depth, step in enumerate(steps):
        in_flow = in_flow or bool(getattr(node, "flow_style", False))
        child, is_alias = _child(node, steps[: depth + 1], step)
        if is_alias and not through_alias:
            raise YamlEditError(
                f"{format_path(steps[: depth + 1])} is an alias of the value at {position(child.start_mark)}; changing "
                "it there changes every place that uses it: name that place, or allow edits through aliases"
            )
        if is_alias:
            in_flow = True  # the definition may stand anywhere: written for the stricter surroundings
        node = child
    if not isinstance(node, yaml.ScalarNode):
        raise YamlEditError(
            f"{position(node.start_mark)}: {format_path(steps)} is {_kind(node)}; expected a single value"
        )
    return _place(characters, node, in_flow=in_flow)


def _place(characters: str, node: yaml.ScalarNode, *, in_flow: bool) -> Place:
    start, end = node.start_mark.index, node.end_mark.index
    if properties := _PROPERTIES.match(characters, start, end):
        start = properties.end()
    empty = start == end and not node.style
    before = characters[start - 1 : start]
    gap = " " if empty and before not in {"", " ", "\n"} else ""
    tagged = "!" in characters[node.start_mark.index : start]
    return Place(node, start, end, Written(characters[start:end], node.tag, node.style or "", in_flow, tagged), gap)


def _child(node: yaml.Node, path: Sequence[Step], step: Step) -> tuple[yaml.Node, bool]:
    if isinstance(step, int) and isinstance(node, yaml.SequenceNode):
        return _item(node, path, step)
    if isinstance(step, str) and isinstance(node, yaml.MappingNode):
        return _value(node, path, step)
    expected = "a list" if isinstance(step, int) else "a mapping"
    raise YamlEditError(f"{position(node.start_mark)}: {format_path(path[:-1])} is {_kind(node)}; expected {expected}")


def _item(node: yaml.SequenceNode, path: Sequence[Step], step: int) -> tuple[yaml.Node, bool]:
    if not 0 <= step < len(node.value):
        raise YamlEditError(
            f"{position(node.start_mark)}: {format_path(path)} does not exist; the list has {len(node.value)} items"
        )
    reached = node.start_mark.index
    for item in node.value[:step]:
        reached = max(reached, item.end_mark.index)
    item = node.value[step]
    return item, item.start_mark.index < reached or item is node


def _value(node: yaml.MappingNode, path: Sequence[Step], step: str) -> tuple[yaml.Node, bool]:
    pairs = [(key, value) for key, value in node.value if isinstance(key, yaml.ScalarNode) and key.value == step]
    if len(pairs) > 1:
        first, second = (position(key.start_mark) for key, _ in pairs[:2])
        raise YamlEditError(f"{format_path(path)} is there twice, at {first} and {second}; remove one of them")
    if not pairs:
        raise _absent(node, path, step)
    key, value = pairs[0]
    return value, value.start_mark.index < key.end_mark.index


def _absent(node: yaml.MappingNode, path: Sequence[Step], step: str) -> YamlEditError:
    where = f"{position(node.start_mark)}: {format_path(path)}"
    for key, merged in _merged(node):
        if isinstance(key, yaml.ScalarNode) and key.value == step:
            return YamlEditError(
                f"{where} is not written there: a merge key (<<) brings it from {position(merged.start_mark)}; "
                "set it there"
            )
    keys = [str(key.value) for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
    near = difflib.get_close_matches(step, keys, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"the keys there are {', '.join(keys[:10]) or 'none'}"
    return YamlEditError(f"{where} does not exist; {hint}")


def _merged(node: yaml.MappingNode) -> list[tuple[yaml.Node, yaml.Node]]:
    """The pairs that merge keys bring in, also those of merged mappings themselves."""
    found: list[tuple[yaml.Node, yaml.Node]] = []
    waiting = [node]
    seen = {id(node)}
    while waiting:
        for key, value in waiting.pop().value:
            if key.tag != _MERGE:
                continue
            for source in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                if isinstance(source, yaml.MappingNode) and id(source) not in seen:
                    seen.add(id(source))
                    found += source.value
                    waiting.append(source)
    return found


def _kind(node: yaml.Node) -> str:
    if isinstance(node, yaml.MappingNode):
        return "a mapping"
    return "a list" if isinstance(node, yaml.SequenceNode) else "a single value"
