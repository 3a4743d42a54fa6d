"""Plain values → typed settings: fast where the file is good, and thorough where it is not."""

from typing import Any, TypeVar

import msgspec

from fairway.config.problems import Path, Problem
from fairway.config.reader.check import check
from fairway.config.reader.document import Document

T = TypeVar("T")


def parse_scalar(kind: Any, value: Any) -> Any:
    """msgspec's hook for our own scalars."""
    return kind.parse(value)


def convert_checked(document: Document, value: Any, kind: type[T], path: Path) -> tuple[T, list[Problem]]:
    """The settings, and everything there is to say about the values. With an error among it, look but do not use."""
    try:
        return msgspec.convert(value, kind, dec_hook=parse_scalar), []
    except msgspec.ValidationError:
        cleaned, problems = check(document, value, kind, path)
    return msgspec.convert(cleaned, kind, dec_hook=parse_scalar), problems
