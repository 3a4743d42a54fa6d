"""Regular expressions that repositories bring along: Go's syntax, in linear time.

They are written by whoever may write to a repository and run inside an agent that serves many of them, so an expression
must not be able to take long. RE2 is the engine PipeCD uses, so an expression means the same here.
"""

from typing import Any, Final, Self

import re2  # type: ignore[import-untyped]  # it ships no types

_OPTIONS: Final = re2.Options()
_OPTIONS.log_errors = False


class Regex:
    """A compiled expression that knows how it was written."""

    __slots__ = ("_compiled", "text")
    expected = "a regular expression in Go's syntax"

    def __init__(self, text: str) -> None:
        self.text = text
        self._compiled = re2.compile(text, options=_OPTIONS)

    @classmethod
    def parse(cls, value: Any) -> Self:
        """Read an expression; ValueError says what is wrong with it."""
        if not isinstance(value, str):
            raise ValueError("is not a text")
        try:
            return cls(value)
        except re2.error as error:
            (reason,) = error.args
            raise ValueError(f"is wrong: {reason.decode() if isinstance(reason, bytes) else reason}") from error

    def found_in(self, text: str) -> bool:
        """Whether some part of the text matches."""
        return self._compiled.search(text) is not None

    def __bool__(self) -> bool:
        """An empty expression is as if it were not there."""
        return bool(self.text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Regex) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Regex({self.text!r})"

    def __str__(self) -> str:
        return self.text
