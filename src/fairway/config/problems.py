"""What is wrong with a file, for a person: where, what was found, what was expected, what to write instead.

A problem is data; the terminal gets it with the offending line and a caret, programs get it as JSON.
"""

import difflib
import enum
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from fairway.errors import UserError

Path = tuple[str | int, ...]


class Severity(enum.Enum):
    """Whether a file with this problem can be used."""

    #: The file is refused.
    ERROR = "error"
    #: The file is read, but something in it has no effect or a better spelling.
    WARNING = "warning"


class Position(msgspec.Struct, frozen=True, order=True):
    """A place in a file, counted from 1 as editors do."""

    line: int
    column: int


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong with one file."""

    file: str
    position: Position
    message: str
    path: Path = ()
    severity: Severity = Severity.ERROR
    #: What to write instead, over several lines where that is clearer.
    advice: str = ""

    def __str__(self) -> str:
        where = f"{self.file}:{self.position.line}:{self.position.column}"
        path = f"{path_text(self.path)}: " if self.path else ""
        return f"{where}: {self.severity.value}: {path}{self.message}"


class ConfigError(UserError):
    """A configuration file that cannot be used; carries every problem."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in problems))


def path_text(path: Path) -> str:
    """spec.pipeline.stages[2].with; keys that are no plain words are quoted."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step.replace("-", "_").isidentifier():
            text += f".{step}" if text else step
        else:
            text += f'["{_printable(step)}"]'
    return text


def in_order(problems: Iterable[Problem]) -> list[Problem]:
    """As one reads the files, without repeats."""
    return sorted(dict.fromkeys(problems), key=lambda problem: (problem.file, problem.position, problem.path))


def without_consequences(later: Iterable[Problem], earlier: Sequence[Problem]) -> list[Problem]:
    """Problems of a second look, less those about a value that the first look found wrong already."""
    wrong = [problem.path for problem in earlier if problem.severity is Severity.ERROR]
    return [problem for problem in later if not any(_related(problem.path, path) for path in wrong)]


def _related(one: Path, other: Path) -> bool:
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


def did_you_mean(found: str, known: Iterable[str]) -> str:
    """A suffix that names the nearest known word, or nothing."""
    by_lower = {word.lower(): word for word in known}
    near = difflib.get_close_matches(found.lower(), by_lower, n=1, cutoff=0.6)
    return f"; did you mean {by_lower[near[0]]!r}?" if near else ""


def shown(value: Any) -> str:
    """A value as a person would recognise it, in a few words."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"the number {value}"
        case str():
            first = value.splitlines()[0] if value else ""
            line, more = _printable(first[:40]), len(first) > 40 or first != value
            return f'"{line}…"' if more else f'"{line}"'
        case list() | tuple():
            return "a list" if value else "an empty list"
        case dict():
            return "a mapping" if value else "an empty mapping"
    return str(type(value).__name__)


def _printable(text: str) -> str:
    """Without the power over a terminal that escape characters in somebody's file would have."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)
