"""Lines of a file as they may be shown: what a Secret holds is nobody's business, least of all that of a CI log.

Told by the text alone, because a file with a mistake in it may be no YAML.
"""

import re
from collections.abc import Sequence

import msgspec

from fairway.config.problems import Problem

MASK = "•••"
_SECRET = re.compile(r"\bkind[\"']?\s*:\s*[\"']?Secret(?!\w)")
_DOCUMENT = re.compile(r"---(?=\s|\Z)")
#: What comes before the value in a line: indentation and a key.
_BEFORE = re.compile(r"\s*(?:- +)*(?:[\w.-]+:(?:\s+|\Z))?")
#: Where the explanation of a text that is no YAML, or not ours, repeats some of it.
_REPEATED = re.compile(r"(?<=`)[^`]+(?=`)|(?<!\S)\*\S+|'![^']+'")


def is_secret(lines: Sequence[str], number: int) -> bool:
    """Whether a line, counted from 1, stands in a document that describes a Secret."""
    first = next((at for at in range(number - 1, 0, -1) if _DOCUMENT.match(lines[at])), 0)
    last = next((at for at in range(number, len(lines)) if _DOCUMENT.match(lines[at])), len(lines))
    return any(_SECRET.search(line) for line in lines[first:last])


def masked_line(line: str) -> str:
    """The line without its value."""
    found = _BEFORE.match(line)
    before = found[0] if found else ""
    return f"{before}{MASK}" if line[len(before) :].strip() else line


def masked_problem(problem: Problem, line: str) -> Problem:
    """The problem without what it repeats of the line."""
    shown = masked_line(line)
    value = line.removeprefix(shown.removesuffix(MASK))

    def mask(repeated: re.Match[str]) -> str:
        return MASK if repeated[0].removesuffix("…").strip("'") in value else repeated[0]

    return msgspec.structs.replace(problem, message=_REPEATED.sub(mask, problem.message), advice="")
