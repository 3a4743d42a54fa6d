"""Text → objects: every document of a file or of a tool's output, `List`s written out, with the line of each.

All that is wrong is said at once. A parser stops at the first place that is no YAML; then the documents are read one by
one, so that a mistake in one does not hide those in the others.
"""

import itertools
import re
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import msgspec

from fairway.config.problems import ConfigError, Path, Position, Problem, Severity, in_order, shown
from fairway.config.reader.document import Document, Limits, TooManyProblems, read_documents
from fairway.kube.manifest import Manifest, Where
from fairway.plugins.kubernetes.manifests.checks import check_body, is_list
from fairway.plugins.kubernetes.manifests.tidying import tidied

#: Bundles of CustomResourceDefinitions have megabytes; nothing that people write has more than this.
LIMITS: Final = Limits(name="manifest file", bytes=8 << 20, values=1_000_000, may_elide=False)
#: Documents of a file that is no YAML are read one by one, up to so many letters in all.
_MOST_REREAD: Final = 32 << 20
#: Where a document begins; inside a text, even a quoted one, YAML allows no such line.
_DOCUMENT: Final = re.compile(r"^---(?=[ \t\r\n]|\Z)", re.MULTILINE)
#: Warnings that are shown in the log of each stage.
_MOST_NOTES: Final = 20
_SOURCE: Final = re.compile(r"^# Source: (\S.*?)\s*$")


#: Which objects, by their bodies.
Choice = Callable[[dict[str, Any]], bool]


def _no_object(_body: dict[str, Any]) -> bool:
    return False


class BadManifests(ConfigError):
    """Manifests that cannot be used; carries every problem."""


class Parsed(NamedTuple):
    """What a text holds, and what is wrong with it."""

    manifests: list[Manifest]
    problems: list[Problem]

    def checked(self) -> list[Manifest]:
        """The manifests; BadManifests when anything is wrong."""
        wrong = [each for each in self.problems if each.severity is Severity.ERROR]
        if wrong:
            raise BadManifests(in_order(wrong))
        return self.manifests

    def notes(self) -> tuple[str, ...]:
        """The warnings, for the log of a stage."""
        found = [str(each) for each in self.problems if each.severity is Severity.WARNING]
        more = [f"{len(found) - _MOST_NOTES} more warnings"] if len(found) > _MOST_NOTES else []
        return (*found[:_MOST_NOTES], *more)


class Part(NamedTuple):
    """One document of a text, as it stands there."""

    #: How many lines stand before it.
    line: int
    text: str


def parse_file(data: bytes, file: str) -> Parsed:
    """The manifests of a file."""
    parsed = _parse(data, file)
    if parsed.problems and file.endswith(".json"):
        return _json(data, file) or parsed
    return parsed


def parse_output(data: bytes, tool: str, unchecked: Choice = _no_object) -> Parsed:
    """The manifests that a tool wrote; each is said to stand where the tool says it came from.

    `unchecked`: an object that nobody will apply, so nothing is wrong with it.
    """
    manifests, problems = _parse(data, f"{tool}, its output", rendered_by=tool, unchecked=unchecked)
    lines = data.decode("utf-8", "replace").splitlines() if problems else []
    return Parsed(manifests, [_traced(each, lines, tool) for each in problems])


def split(text: str) -> list[Part]:
    """The documents of a text, the line `---` with what follows it; put together they are the text."""
    starts = [match.start() for match in _DOCUMENT.finditer(text)]
    edges = sorted({0, *starts, len(text)})
    parts: list[Part] = []
    line = 0
    for start, end in itertools.pairwise(edges):
        part = Part(line, text[start:end])
        line += part.text.count("\n")
        if parts and _only_directives(parts[-1].text):
            part = Part(parts[-1].line, parts.pop().text + part.text)
        parts.append(part)
    return parts


def _only_directives(text: str) -> bool:
    """Whether a part says only how the next one is to be read."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return bool(lines) and all(line.startswith("%") for line in lines)


def _parse(data: bytes, file: str, rendered_by: str = "", unchecked: Choice = _no_object) -> Parsed:
    documents, problems = read_documents(data, file, LIMITS)
    if not documents:
        return _one_by_one(data, file, problems)
    manifests: list[Manifest] = []
    for document in documents:
        lines = document.text.splitlines() if rendered_by else []
        for path, body in _bodies(document, problems, unchecked):
            line = document.position(path).line
            where = Where(_source(lines, line, rendered_by), 0) if rendered_by else Where(file, line)
            manifests.append(Manifest(body, where))
    return Parsed(manifests, problems)


def _one_by_one(data: bytes, file: str, problems: list[Problem]) -> Parsed:
    """What is wrong with a text that is no YAML as a whole."""
    try:
        parts = split(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return Parsed([], problems)
    read = sum(part.line for part in parts) + len(data)
    if len(parts) == 1 or read > _MOST_REREAD or len(data) > LIMITS.bytes:
        return Parsed([], problems)
    found: list[Problem] = []
    for part in parts:
        # Line ends in the place of what stands before: positions are then those in the file.
        documents, wrong = read_documents(b"\n" * part.line + part.text.encode(), file, LIMITS)
        found += wrong
        for document in documents:
            list(_bodies(document, found))
    # Whatever the parts say alone, the whole is no YAML.
    return Parsed([], found if any(each.severity is Severity.ERROR for each in found) else [*problems, *found])


def _json(data: bytes, file: str) -> Parsed | None:
    """The manifests of a JSON file that only YAML's rules refuse, such as one with escaped pairs; else None."""
    documents, _ = read_documents(data, file, LIMITS)
    if documents or len(data) > LIMITS.bytes:
        return None
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    document = Document(file, "", None)
    document.value = value
    problems: list[Problem] = []
    manifests = [Manifest(body, Where(file, 1)) for _, body in _bodies(document, problems)]
    return Parsed(manifests, problems)


def _bodies(
    document: Document, problems: list[Problem], unchecked: Choice = _no_object
) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The objects of a document and where in it they stand, without those that have something wrong."""
    try:
        for path, body in written_out(document, document.value, (), problems):
            if unchecked(body):
                yield path, body
                continue
            wrong = check_body(document, body, path)
            problems += wrong
            if not wrong:
                yield path, _tidied(document, body, path, problems)
    except TooManyProblems:
        enough = "has too many problems; the rest is not shown"
        problems.append(Problem(file=document.file, position=Position(1, 1), message=enough))


def _tidied(document: Document, body: dict[str, Any], path: Path, problems: list[Problem]) -> dict[str, Any]:
    """The object as it is applied. Warnings have no limit: they keep no file from being used."""
    made = tidied(body)
    for below, message in made.warnings:
        place = (*path, *below)
        position = document.position(place, of_key=True)
        warning = Problem(file=document.file, position=position, path=place, message=message, severity=Severity.WARNING)
        problems.append(warning)
    return made.body


def written_out(
    document: Document, value: Any, path: Path, problems: list[Problem]
) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The objects of a value, those of a `List` one by one."""
    if value is None and not path:
        return
    if not isinstance(value, dict):
        message = f"found {shown(value)}, expected a mapping with apiVersion, kind and metadata"
        problems.append(document.problem(path, message))
        return
    if not is_list(value):
        yield path, value
        return
    items = value.get("items")
    if not isinstance(items, list | None):
        problems.append(document.problem((*path, "items"), f"found {shown(items)}, expected a list of objects"))
        return
    single = {} if value["kind"] == "List" else {"kind": value["kind"][:-4], "apiVersion": value.get("apiVersion")}
    for index, item in enumerate(items or ()):
        # The items of a list of one kind need not say what they are.
        item = {**single, **item} if isinstance(item, dict) and single else item
        yield from written_out(document, item, (*path, "items", index), problems)


def _traced(problem: Problem, lines: list[str], tool: str) -> Problem:
    """A problem of a tool's output with what that was made of, which is where it is to be mended."""
    source = _source(lines, problem.position.line, tool)
    if source == tool:
        return problem
    return msgspec.structs.replace(
        problem, message=f"{problem.message}; it comes from {source.removesuffix(f' ({tool})')}"
    )


def _source(lines: list[str], line: int, tool: str) -> str:
    """What a tool says of where the object came from that begins in a line of its output."""
    for number in range(min(line, len(lines)) - 1, -1, -1):
        found = _SOURCE.match(lines[number])
        if found is not None:
            return f"{found[1]} ({tool})"
        if lines[number].startswith("---"):
            break
    return tool
