"""An unexpected exception of a plugin, in words for the log of its stage."""

import traceback
from typing import Final

_MOST_FRAMES: Final = 20
_MOST_CHARACTERS: Final = 8_000
_LONGEST_LINE: Final = 500


def in_a_line(error: BaseException) -> str:
    """The name and the message of an exception, at most so long."""
    message = " ".join(str(error).split())
    text = f"{type(error).__name__}: {message}" if message else type(error).__name__
    return text if len(text) <= _LONGEST_LINE else f"{text[:_LONGEST_LINE]}… cut"


def traceback_of(error: BaseException) -> str:
    """The innermost calls that led to an exception, and those of its causes."""
    text = "".join(traceback.format_exception(error, limit=-_MOST_FRAMES)).rstrip("\n")
    return text if len(text) <= _MOST_CHARACTERS else f"… cut\n{text[-_MOST_CHARACTERS:]}"
