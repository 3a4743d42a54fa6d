"""Which paths a list of patterns means, in the manner of .dockerignore: compile once, ask many times.

    *        anything but a slash            [a-z] [^a-z]  one character of a set, or not of it
    ?        one character but a slash       \\x           the character x itself
    **       any number of directories       !pattern      what is never meant, whatever else matches

Patterns start at the root of the repository; a leading `/` or `./` changes nothing. A pattern that matches a
directory matches everything below it. The order of the patterns does not matter.
"""

import posixpath
import re

from fairway.errors import UserError

#: Stands for any characters of one name; a star that is meant literally is escaped.
_STAR = "*"
#: Where a name ends: a matched directory means everything below it.
_END = r"(?:/|\Z)"


class PatternError(UserError):
    """A path pattern that means nothing."""


class PathPatterns:
    """A list of patterns, compiled."""

    __slots__ = ("_excluded", "_included", "patterns")

    def __init__(self, patterns: tuple[str, ...]) -> None:
        self.patterns = patterns
        written = [text.strip() for text in patterns if text.strip()]
        self._included = _any_of([text for text in written if not text.startswith("!")])
        self._excluded = _any_of([text for text in written if text.startswith("!")])

    def beginnings(self) -> frozenset[str]:
        """The directories or files below which alone the patterns can match; "" when that is everywhere."""
        return frozenset(_fixed(text) for text in self.patterns if text.strip() and not text.strip().startswith("!"))

    def match(self, path: str) -> bool:
        """Whether the patterns mean this path."""
        path = _normal(path)
        if self._included is None or self._included.match(path) is None:
            return False
        return self._excluded is None or self._excluded.match(path) is None


def _any_of(patterns: list[str]) -> re.Pattern[str] | None:
    """One expression for all patterns; `None` when there is none."""
    return re.compile("|".join(_expression(pattern) for pattern in patterns)) if patterns else None


def _normal(path: str) -> str:
    return posixpath.normpath(path.lstrip("/")) if path.startswith(("/", "./")) or "//" in path else path


def _expression(pattern: str) -> str:
    """An expression for the pattern, or for a directory that the pattern means, at the beginning of a path.

    Patterns come from whoever may write to a repository, so none may take long to match. Names that stand between
    two `**` can be looked for from the left and, once found, need not be looked for again; the same holds for
    characters between two `*`. Atomic groups say so, and keep the time proportional to the length of the path.
    """
    blocks: list[list[str]] = [[]]
    names = [name for name in _body(pattern).split("/") if name]
    if not names:
        return ""
    for position, name in enumerate(names):
        tokens = _tokens(name, pattern)
        whole = all(token == _STAR for token in tokens) and len(tokens) > 1
        if tokens[:2] == [_STAR, _STAR]:
            blocks.append([])
        if not whole:
            blocks[-1].append(_name(tokens))
        if not whole and tokens[-2:] == [_STAR, _STAR] and position < len(names) - 1:
            blocks.append([])
    first, *others = ("".join(f"{name}/" for name in block) for block in blocks)
    if not others:
        return first.removesuffix("/") + _END
    *middle, last = others
    found = "".join(f"(?>(?:[^/]+/)*?{block})" for block in middle if block)
    return first + found + (f"(?:[^/]+/)*?{last.removesuffix('/')}{_END}" if last else "")


def _name(tokens: list[str]) -> str:
    """An expression for one name of a path: what stands before the first star, between stars, after the last."""
    parts = [""]
    for before, token in zip(["", *tokens], tokens, strict=False):
        if token != _STAR:
            parts[-1] += token
        elif before != _STAR:
            parts.append("")
    if len(parts) == 1:
        return parts[0]
    first, *middle, last = parts
    return first + "".join(f"(?>[^/]*?{part})" for part in middle) + f"[^/]*{last}"


def _tokens(name: str, pattern: str) -> list[str]:
    """One expression for each character that a name has; stars stay stars."""
    tokens: list[str] = []
    position = 0
    while position < len(name):
        character = name[position]
        if character == "[":
            expression, position = _set(name, position, pattern)
            tokens.append(expression)
            continue
        if character == "\\":
            position += 1
            if position == len(name):
                raise PatternError(f'"{pattern}" ends with a "\\"; write the character it stands before, or drop it')
            tokens.append(re.escape(name[position]))
        else:
            tokens.append({"*": _STAR, "?": "[^/]"}.get(character, re.escape(character)))
        position += 1
    return tokens


def _body(pattern: str) -> str:
    """The pattern without its "!" and its ways of saying "from here"; "" for the root itself."""
    written = pattern.strip().removeprefix("!").strip()
    if not written:
        raise PatternError(f'"{pattern}" names no path; write one, from the root of the repository')
    body = posixpath.normpath(written.lstrip("/") or ".")
    if body == ".." or body.startswith("../"):
        raise PatternError(f'"{pattern}" leaves the repository; patterns start at its root')
    return "" if body == "." else body


def _fixed(pattern: str) -> str:
    fixed: list[str] = []
    for part in _body(pattern).split("/"):
        if any(character in part for character in "*?[\\"):
            break
        fixed.append(part)
    return "/".join(fixed)


def _set(body: str, start: int, pattern: str) -> tuple[str, int]:
    """The expression for the set that starts at `[`, and the position after its `]`."""
    position = start + 1
    negated = body[position : position + 1] in {"^", "!"}
    position += negated
    members: list[str] = []
    while position < len(body) and body[position] != "]":
        low, position = _member(body, position, pattern)
        high = low
        if body[position : position + 1] == "-" and body[position + 1 : position + 2] not in {"]", ""}:
            high, position = _member(body, position + 1, pattern)
        if low > high:
            raise PatternError(f'"{pattern}" has the range {low}-{high} the wrong way round; write {high}-{low}')
        members.append(re.escape(low) if low == high else f"{re.escape(low)}-{re.escape(high)}")
    if position >= len(body) or not members:
        raise PatternError(
            f'"{pattern}" opens a set that it does not fill and close; write [abc], or \\[ for a bracket'
        )
    # A set never stands for the slash between two directories.
    return f"(?!/)[{'^' if negated else ''}{''.join(members)}]", position + 1


def _member(body: str, position: int, pattern: str) -> tuple[str, int]:
    escaped = body[position] == "\\"
    if escaped and position + 1 == len(body):
        raise PatternError(f'"{pattern}" ends with a "\\" inside a set; write the character it stands before')
    return body[position + escaped], position + escaped + 1
