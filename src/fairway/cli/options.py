"""Options that several commands share, and how their text is read."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated

import typer

from fairway.cli.call import UsageError

Limit = Annotated[int, typer.Option(min=1, max=10_000, help="How many at most.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Timeout = Annotated[str, typer.Option(help="Give up after this long, such as 90s or 10m; without it, never.")]
Labels = Annotated[list[str] | None, typer.Option("--label", help="key:value; may be repeated.")]


def key_values(option: str, texts: Sequence[str] | None) -> dict[str, str]:
    """What is written as `key:value`; a value may hold colons of its own."""
    found: dict[str, str] = {}
    for text in texts or ():
        key, colon, value = text.partition(":")
        if not (key and colon):
            raise UsageError(f"--{option} is {text!r}; expected key:value")
        if key in found:
            raise UsageError(f"--{option} {key} is given twice; expected each key once")
        found[key] = value
    return found


def length_of_time(option: str, text: str) -> timedelta | None:
    """What is written as 90s, 10m or 1h30m; None for nothing."""
    from fairway.config.scalars import Duration

    if not text:
        return None
    try:
        length = Duration.parse(text)
    except ValueError as error:
        raise UsageError(f"--{option} {text!r} {error}; expected {Duration.expected}") from error
    if length <= timedelta(0):
        raise UsageError(f"--{option} is {text!r}; expected more than nothing")
    return length


def confirm(question: str, yes: bool) -> None:
    """Ask before what others will feel; a program says --yes."""
    if yes:
        return
    import sys

    if not sys.stdin.isatty():
        raise UsageError("this needs a yes, and there is no terminal to ask on; say --yes")
    typer.confirm(question, abort=True, err=True)
