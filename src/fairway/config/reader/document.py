"""Bytes → plain values and positions, in bounded time and memory.

YAML is read as Go's decoder reads it, because that is what the files were written for: `yes` and `on` are booleans,
`014` is twelve, dates and `12:30` stay text. What is not sane is refused with a sentence: duplicate keys, aliases that
explode, nesting that has no end, files that are no text. Positions are looked up only when somebody has to be told
something, so that a good file costs little more than parsing it.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec
import yaml
from yaml._yaml import CParser
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from fairway.config.problems import Path, Position, Problem, Severity
from fairway.config.reader.syntax import explain_syntax_error
from fairway.config.reader.values import DEEPEST_NESTING, MOST_VALUES, PLAIN, TEXT, TOO_DEEP, build_values, refusal
from fairway.config.terms import UNKNOWN_AGENT

#: No configuration file is larger by accident; what a person writes fits many times over.
LARGEST_FILE: Final = 1 << 20
#: Whoever reads this many problems of one document starts again anyway; hostile files have a hundred thousand.
MOST_PROBLEMS: Final = 500

#: `...` ends a document in YAML, but people (and RFCs) write it for "and so on" above an indented line.
_ELLIPSIS: Final = re.compile(r"^\.\.\.([ \t]*\r?\n[ \t]+\S)", re.MULTILINE)


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How much of somebody's text is read before it is refused."""

    #: What the text is, in a sentence that refuses it.
    name: str = "configuration file"
    bytes: int = LARGEST_FILE
    values: int = MOST_VALUES
    #: Whether `...` above an indented line may stand for something that is left out.
    may_elide: bool = True


_CONFIGURATION: Final = Limits()


class TooManyProblems(Exception):
    """Looking further at a document is pointless; what was found stands in `Document.said`."""


class _Composer(CParser):
    """Composes nodes and leaves their meaning to us, which is also what makes it fast.

    It recurses in C and would take the process with it, so depth and number are watched on the way down: nothing
    that stands in the text can get past the count, whatever it is written with.
    """

    def __init__(self, text: str, limits: Limits) -> None:
        super().__init__(text)
        self._depth = 0
        self._values = 0
        self._limits = limits

    def resolve(self, kind: type[Node], _value: str, implicit: Any) -> str:
        if kind is ScalarNode:
            return PLAIN if implicit[0] else TEXT
        return ""

    def descend_resolver(self, parent: Node | None, _index: Any) -> None:
        self._depth += 1
        self._values += 1
        if self._depth > DEEPEST_NESTING + 1:
            raise refusal(TOO_DEEP, parent)
        if self._values > self._limits.values:
            most, name = self._limits.values, self._limits.name.removesuffix(" file")
            raise refusal(f"the file has more than {most:,} values; no {name} needs as many", parent)

    def ascend_resolver(self) -> None:
        self._depth -= 1


class Document:
    """One YAML document: its values, and where each of them stands."""

    def __init__(
        self, file: str, text: str, root: Node | None, *, elided: bool = False, most_written_out: int | None = None
    ) -> None:
        self.file = file
        self.text = text
        self.terms = UNKNOWN_AGENT
        #: The unknown fields that were found, where they are allowed.
        self.ignored: list[Path] = []
        #: The author left something out with `...`: missing fields are then no mistake.
        self.elided = elided
        #: What is wrong with the document whatever it is about.
        self.problems: list[Problem] = []
        #: Every problem that somebody made with `problem`, wanted or not.
        self.said: list[Problem] = []
        self._root = root
        self._children: dict[int, dict[str, tuple[Node, Node]]] = {}
        #: `most_written_out`: how many values there may be once aliases are written out; None where there are none.
        self.value: Any = None if root is None else self._build(root, most_written_out)

    def _build(self, root: Node, most_written_out: int | None) -> Any:
        value, repeated = build_values(root, most_written_out=most_written_out)
        for repeat in repeated[:MOST_PROBLEMS]:
            message = f"the key {repeat.name!r} is given twice, first in line {repeat.first.start_mark.line + 1}"
            self.problems.append(Problem(file=self.file, position=_position(repeat.second), message=message))
        return value

    def position(self, path: Path, *, of_key: bool = False) -> Position:
        """Where a value (or its key) stands; the nearest thing above it if it is not there."""
        if self._root is None:
            return Position(1, 1)
        node, key = self._root, self._root
        for step in path:
            found = self._child(node, step)
            if found is None:
                return _position(key)
            key, node = found
        return _position(key if of_key else node)

    def at(self, path: Path) -> Any:
        """The plain value at a path, or None."""
        value = self.value
        for step in path:
            try:
                value = value[step]
            except (KeyError, IndexError, TypeError):
                return None
        return value

    def written(self, path: Path) -> str:
        """The text of a scalar as its author wrote it."""
        node = self._root
        for step in path:
            found = None if node is None else self._child(node, step)
            node = None if found is None else found[1]
        return node.value if isinstance(node, ScalarNode) else ""

    def problem(
        self, path: Path, message: str, severity: Severity = Severity.ERROR, *, of_key: bool = False
    ) -> Problem:
        """A problem at a path of this document; TooManyProblems when enough is enough."""
        if len(self.said) == MOST_PROBLEMS:
            raise TooManyProblems
        problem = Problem(
            file=self.file,
            position=self.position(path, of_key=of_key),
            path=path,
            message=message,
            severity=severity,
        )
        self.said.append(problem)
        return problem

    def unknown_field(self, path: Path, hint: str) -> Problem:
        """The problem of a field that its mapping does not have; the document decides whether it is an error."""
        if not self.terms.allow_unknown_fields:
            return self.problem(path, f"is not a field of this{hint}", of_key=True)
        self.ignored.append(path)
        return self.problem(path, f"has no effect: there is no such field{hint}", Severity.WARNING, of_key=True)

    def later_rule(self, path: Path, message: str) -> Problem:
        """The problem of a rule that is newer than the first release; files that an agent accepted before pass."""
        return self.problem(path, message, Severity.WARNING if self.terms.accepted else Severity.ERROR)

    def _child(self, node: Node, step: str | int) -> tuple[Node, Node] | None:
        if isinstance(node, MappingNode):
            if id(node) not in self._children:
                self._children[id(node)] = _children(node)
            return self._children[id(node)].get(step) if isinstance(step, str) else None
        if isinstance(node, SequenceNode) and isinstance(step, int) and 0 <= step < len(node.value):
            return node.value[step], node.value[step]
        return None


def read_documents(data: bytes, file: str, limits: Limits = _CONFIGURATION) -> tuple[list[Document], list[Problem]]:
    """Every document of a file. Where the text is no YAML, no documents and the problems."""
    refusal = _refuse_unreadable(data, file, limits)
    if refusal is not None:
        return [], [refusal]
    text = data.decode("utf-8-sig")
    elision = _ELLIPSIS.search(text) if limits.may_elide else None
    text = _ELLIPSIS.sub(r"#..\1", text) if elision else text
    documents: list[Document] = []
    try:
        most = limits.values if "*" in text and "&" in text else None
        for root in _compose_all(text, limits):
            documents.append(Document(file, text, root, elided=elision is not None, most_written_out=most))
    except yaml.MarkedYAMLError as error:
        return [], [explain_syntax_error(error, text, file)]
    except yaml.reader.ReaderError as error:
        return [], [_control_character(error, text, file)]
    problems = [problem for document in documents for problem in document.problems]
    if elision is not None and documents:
        problems.append(_elision(text.count("\n", 0, elision.start()) + 1, file))
    return documents or [Document(file, text, None)], problems


def too_large(size: int, file: str, limits: Limits = _CONFIGURATION) -> Problem:
    """The refusal of a file that nobody has to read to know that it is not what it should be."""
    return _whole_file(
        file,
        f"the file has {size / (1 << 20):.1f} MiB, a {limits.name} may have {limits.bytes >> 20} MiB",
    )


def _refuse_unreadable(data: bytes, file: str, limits: Limits) -> Problem | None:
    if len(data) > limits.bytes:
        return too_large(len(data), file, limits)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _whole_file(file, "the file is UTF-16; save it as UTF-8")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = len(data[data.rfind(b"\n", 0, error.start) + 1 : error.start].decode("utf-8", "replace")) + 1
        found = f"byte 0x{data[error.start]:02x} is not UTF-8"
        return Problem(file=file, position=Position(line, column), message=f"{found}; save the file as UTF-8")
    return None


def _control_character(error: yaml.reader.ReaderError, text: str, file: str) -> Problem:
    # The parser counts bytes of its own buffer; looking for the character is surer.
    place = text.find(chr(error.character)) if isinstance(error.character, int) else -1
    before = text[: max(place, 0)]
    position = Position(before.count("\n") + 1, len(before) - before.rfind("\n"))
    return Problem(
        file=file,
        position=position,
        message=f"found the control character U+{ord(text[place]):04X}; remove it",
    )


def _whole_file(file: str, message: str) -> Problem:
    return Problem(file=file, position=Position(1, 1), message=message)


def _elision(line: int, file: str) -> Problem:
    message = "`...` ends a YAML document; it is read as “something is left out here” because the next line is indented"
    return Problem(file=file, position=Position(line, 1), message=message, severity=Severity.WARNING)


def _compose_all(text: str, limits: Limits) -> Iterator[Node]:
    composer = _Composer(text, limits)
    try:
        while composer.check_node():
            node = composer.get_node()
            if node is not None:
                yield node
    finally:
        composer.dispose()


def _position(node: Node) -> Position:
    return Position(node.start_mark.line + 1, node.start_mark.column + 1)


def _children(mapping: Node) -> dict[str, tuple[Node, Node]]:
    """Key and value nodes by key, the first where a key is repeated; its own before those it merges."""
    children: dict[str, tuple[Node, Node]] = {}
    for key, value in mapping.value:
        children.setdefault(key.value, (key, value))
    for key, value in mapping.value:
        if key.value == "<<" and key.tag == PLAIN:
            for source in value.value if isinstance(value, SequenceNode) else [value]:
                children = _children(source) | children
    return children
