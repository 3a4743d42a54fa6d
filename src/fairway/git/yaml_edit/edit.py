"""One value of a YAML file changed, and no other byte.

The file is parsed only to find where the scalar stands; the new text is spliced in there, and the result is parsed
again to see that exactly the wanted values changed. Comments, line endings, quotes, order and anchors stay as they are,
because nothing is written back from the parsed document. How a value is spelt is decided in `scalar.py`.
"""

from collections.abc import Iterator, Mapping
from itertools import product

import yaml
from msgspec import Struct

from fairway.git.yaml_edit.path import YamlEditError, YamlPath, format_path, parse_path
from fairway.git.yaml_edit.place import Place, find_place, position
from fairway.git.yaml_edit.scalar import Rewritten, Scalar, rewrite

_BOM = "\ufeff"
#: Deeper documents are an attack on the parser's stack, not a configuration.
_DEEPEST = 200


class EditOptions(Struct, frozen=True):
    """Which document of the file, and whether an alias may be followed to change the value it stands for."""

    document: int | None = None
    through_alias: bool = False


def set_scalar(text: bytes, path: YamlPath, value: Scalar, options: EditOptions | None = None) -> bytes:
    """The file with one scalar set to a new value."""
    steps = parse_path(path)
    return set_scalars(text, {steps: value}, options)


def set_scalars(text: bytes, values: Mapping[YamlPath, Scalar], options: EditOptions | None = None) -> bytes:
    """The file with several scalars set, or an error and nothing changed."""
    options = options or EditOptions()
    characters, bom = _decoded(text)
    documents = _composed(characters)
    root = _chosen(documents, options.document)
    edits = _edits(characters, root, values, options)
    for candidate in product(*(rewrite(place.written, value) for place, value in edits)):
        result = _spliced(characters, [place for place, _ in edits], candidate)
        if _only_wanted_changed(documents, result, edits, candidate):
            return (bom + result).encode()
    names = ", ".join(format_path(parse_path(path)) for path in values)
    raise YamlEditError(f"{names} cannot be set without changing something else; edit the file by hand")


def _decoded(text: bytes) -> tuple[str, str]:
    try:
        characters = text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise YamlEditError(f"the file is not UTF-8 (byte {error.start}); expected a YAML file in UTF-8") from error
    return characters.removeprefix(_BOM), _BOM if characters.startswith(_BOM) else ""


def _composed(characters: str) -> list[yaml.Node]:
    try:
        depth = 0
        for event in yaml.parse(characters, yaml.CSafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _DEEPEST:
                raise YamlEditError(
                    f"{position(event.start_mark)}: the file is nested more than {_DEEPEST} levels deep"
                )
        return list(yaml.compose_all(characters, yaml.CSafeLoader))
    except yaml.MarkedYAMLError as error:
        where = position(error.problem_mark) if error.problem_mark else "somewhere"
        raise YamlEditError(f"{where}: the file is not valid YAML: {error.problem}") from error
    except yaml.YAMLError as error:
        raise YamlEditError(f"the file is not valid YAML: {error}") from error


def _chosen(documents: list[yaml.Node], number: int | None) -> yaml.Node:
    if number is None and len(documents) > 1:
        raise YamlEditError(f"the file holds {len(documents)} documents; say which one (0 is the first)")
    if not 0 <= (number or 0) < len(documents):
        raise YamlEditError(f"the file has no document {number or 0}; it holds {len(documents)}")
    return documents[number or 0]


def _edits(
    characters: str, root: yaml.Node, values: Mapping[YamlPath, Scalar], options: EditOptions
) -> list[tuple[Place, Scalar]]:
    edits: dict[int, tuple[Place, Scalar]] = {}
    for path, value in values.items():
        place = find_place(characters, root, parse_path(path), through_alias=options.through_alias)
        earlier = edits.setdefault(place.start, (place, value))
        if (type(earlier[1]), earlier[1]) != (type(value), value):
            raise YamlEditError(f"{position(place.node.start_mark)}: two different values are asked for the same place")
    return [edits[start] for start in sorted(edits)]


def _spliced(characters: str, places: list[Place], texts: tuple[Rewritten, ...]) -> str:
    parts: list[str] = []
    done = 0
    for place, new in zip(places, texts, strict=True):
        parts += [characters[done : place.start], place.gap, new.text]
        done = place.end
    return "".join([*parts, characters[done:]])


def _only_wanted_changed(
    documents: list[yaml.Node], result: str, edits: list[tuple[Place, Scalar]], texts: tuple[Rewritten, ...]
) -> bool:
    wanted = {id(place.node): new for (place, _), new in zip(edits, texts, strict=True)}
    try:
        changed = list(yaml.compose_all(result, yaml.CSafeLoader))
    except yaml.YAMLError:
        return False
    before, after = list(_nodes(documents)), list(_nodes(changed))
    return len(before) == len(after) and all(
        _reads(new, wanted[id(old)]) if id(old) in wanted else _equal(old, new)
        for old, new in zip(before, after, strict=True)
    )


def _nodes(documents: list[yaml.Node]) -> Iterator[yaml.Node]:
    """Every node once, in the order of the file; what an alias stands for counts where it is defined."""
    seen: set[int] = set()
    waiting = documents[::-1]
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        if isinstance(node, yaml.SequenceNode):
            waiting += node.value[::-1]
        elif isinstance(node, yaml.MappingNode):
            waiting += [part for pair in node.value[::-1] for part in (pair[1], pair[0])]


def _reads(node: yaml.Node, wanted: Rewritten) -> bool:
    return isinstance(node, yaml.ScalarNode) and (node.tag, node.value) == (wanted.tag, wanted.value)


def _equal(old: yaml.Node, new: yaml.Node) -> bool:
    if type(old) is not type(new) or old.tag != new.tag:
        return False
    if isinstance(old, yaml.ScalarNode) and isinstance(new, yaml.ScalarNode):
        return bool((old.value, old.style) == (new.value, new.style))
    return len(old.value) == len(new.value)
