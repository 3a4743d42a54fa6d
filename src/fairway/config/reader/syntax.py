"""Text that is no YAML: the parser's complaint turned into the place where the author went wrong and what to write.

The parser stops where it no longer understands, which is often after the mistake. The usual mistakes are few: a double
quote inside double quotes, a tab, a colon or a brace in plain text, a quote that is never closed.
"""

import re
from collections.abc import Callable
from typing import Final, NamedTuple

import yaml

from fairway.config.problems import Position, Problem

#: Where the parser begins to count a new line; not all of them are line ends in Python.
_LINE_END: Final = re.compile("\r\n|[\n\r\u0085\u2028\u2029]")
#: What Git writes where two changes could not be put together.
_CONFLICT: Final = re.compile(r"<{7}( |\Z)")


class _Place(NamedTuple):
    """Where the parser stopped."""

    line: int
    column: int
    #: The text of that line, without its end.
    text: str
    complaint: str


class _Finding(NamedTuple):
    column: int
    message: str
    advice: str = ""


def explain_syntax_error(error: yaml.MarkedYAMLError, text: str, file: str) -> Problem:
    """The problem a person would name."""
    complaint = error.problem or "this is not YAML"
    mark = error.problem_mark or error.context_mark
    # A scalar that runs to the end of the file began where the context says; that is where to look.
    if error.context_mark is not None and "end of stream" in complaint and "scalar" in (error.context or ""):
        mark = error.context_mark
    if mark is None:
        return Problem(file=file, position=Position(1, 1), message=complaint)
    lines = _LINE_END.split(text)
    conflict = next((number for number, each in enumerate(lines) if _CONFLICT.match(each)), None)
    if conflict is not None:
        message = "two changes were merged and could not be put together here; resolve the conflict"
        return _problem(file, conflict, _Finding(0, message))
    line = min(mark.line, len(lines) - 1)
    place = _Place(line, mark.column, lines[line], complaint)
    for explain in _EXPLANATIONS:
        finding = explain(place)
        if finding is not None:
            return _problem(file, line, finding)
    context = f" ({error.context})" if error.context else ""
    return _problem(file, line, _Finding(mark.column, f"{complaint}{context}"))


def _problem(file: str, line: int, finding: _Finding) -> Problem:
    position = Position(line + 1, finding.column + 1)
    return Problem(file=file, position=position, message=finding.message, advice=finding.advice)


def _tab(place: _Place) -> _Finding | None:
    indent = place.text[: len(place.text) - len(place.text.lstrip())]
    if "\t" not in indent:
        return None
    return _Finding(indent.index("\t"), "found a tab in the indentation; YAML is indented with spaces only")


_QUOTED_ENTRY: Final = re.compile(r"^(?P<indent>\s*(?:- +)*)(?P<key>[\w.\"'-]+: +)?(?P<open>\")(?P<body>.*)\"\s*$")


def _quote_inside_quotes(place: _Place) -> _Finding | None:
    entry = _QUOTED_ENTRY.match(place.text)
    before = place.text[: place.column]
    if entry is None or not before.rstrip().endswith('"') or place.column <= entry.start("body"):
        return None
    closing = before.rstrip().rindex('"')
    left = place.text[place.column :]
    shown_rest = left if len(left) <= 24 else left[:24] + "…"
    message = (
        f"the double quotes opened at column {entry.start('open') + 1} are closed here, by a quote meant to be part "
        f'of the text; what follows (`{shown_rest}`) is no YAML. Write that quote as \\" or use a block'
    )
    head = f"{entry['indent']}{entry['key'] or ''}"
    body_indent = " " * (len(entry["indent"]) if not entry["key"] else len(entry["indent"]) + 2)
    advice = f"{head}|-\n{body_indent}{entry['body']}"
    return _Finding(closing, message, advice)


def _unclosed_quote(place: _Place) -> _Finding | None:
    if "end of stream" not in place.complaint:
        return None
    quote = place.text[place.column : place.column + 1]
    return _Finding(place.column, f"the quote {quote} that opens here is never closed")


def _template(place: _Place) -> _Finding | None:
    start = place.text.find("{{")
    value = re.search(r"(?::|-) +\{\{", place.text)
    if value is None:
        return None
    return _Finding(start, "a value that starts with {{ must be quoted", _with_quotes(place.text, start))


def _with_quotes(text: str, start: int) -> str:
    """The line with quotes around what begins there, or in braces around each template; empty where neither is YAML."""
    before, rest = text[:start], text[start:].rstrip()
    for quoted in (
        _quoted(rest),
        re.sub(r"\{\{(?:(?!\{\{).)*?\}\}[^,}\]]*", lambda template: _quoted(template[0]), rest),
    ):
        try:
            # By its events: a tree of somebody's thousand braces would be too deep.
            list(yaml.parse(f"{before}{quoted}", yaml.CSafeLoader))
        except yaml.YAMLError:
            continue
        return f"{before}{quoted}"
    return ""


def _quoted(text: str) -> str:
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


def _colon_in_text(place: _Place) -> _Finding | None:
    if "mapping values are not allowed" not in place.complaint:
        return None
    entry = re.match(r"^(\s*(?:- +)*(?:[\w.-]+: +)?)(.*)$", place.text)
    advice = f'{entry[1]}"{entry[2]}"' if entry and '"' not in entry[2] else ""
    return _Finding(place.column, "found `: ` inside a text without quotes; put the text in quotes", advice)


def _reserved_start(place: _Place) -> _Finding | None:
    character = place.text[place.column : place.column + 1]
    if "cannot start any token" not in place.complaint or character not in {"@", "`", "%"}:
        return None
    return _Finding(place.column, f"a value cannot start with {character}; put it in quotes")


def _bad_escape(place: _Place) -> _Finding | None:
    if "unknown escape character" not in place.complaint:
        return None
    message = (
        "a backslash in double quotes starts an escape, and this one is not known; write \\\\ or use single quotes"
    )
    return _Finding(place.column, message)


def _unknown_alias(place: _Place) -> _Finding | None:
    if "undefined alias" not in place.complaint:
        return None
    name = re.split(r"[\s,\]}]", place.text[place.column :], maxsplit=1)[0]
    return _Finding(
        place.column, f"{name} refers to an anchor that is not defined above; quote it if it is meant as text"
    )


def _bad_indent(place: _Place) -> _Finding | None:
    if place.complaint not in {"did not find expected key", "did not find expected '-' indicator"}:
        return None
    if place.text[: place.column].strip():
        return None
    return _Finding(place.column, "this line is indented differently from the lines it belongs to")


_EXPLANATIONS: Final[tuple[Callable[[_Place], _Finding | None], ...]] = (
    _tab,
    _quote_inside_quotes,
    _unclosed_quote,
    _template,
    _colon_in_text,
    _reserved_start,
    _bad_escape,
    _unknown_alias,
    _bad_indent,
)
