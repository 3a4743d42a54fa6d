"""An unexpected exception of a plugin, in words for the log of its stage."""

import traceback
from typing import Final

from fairway.model.limits import cut

_MOST_FRAMES: Final = 20
_MOST_CHARACTERS: Final = 16_000
_LONGEST_LINE: Final = 500
#: Characters of one frame, or of one message, in a traceback.
_LONGEST_ENTRY: Final = 2_000


def in_a_line(error: BaseException) -> str:
    """The name and the message of an exception; a long message is cut."""
    message = " ".join(str(error).split())
    return cut(f"{type(error).__name__}: {message}" if message else type(error).__name__, _LONGEST_LINE)


def traceback_of(error: BaseException) -> str:
    """The innermost frames of an exception and of its causes. Long messages are cut; a long chain keeps its end."""
    entries = traceback.format_exception(error, limit=-_MOST_FRAMES)
    text = "\n".join(cut(entry.removesuffix("\n"), _LONGEST_ENTRY) for entry in entries)
    if len(text) <= _MOST_CHARACTERS:
        return text
    return f"… cut ({len(text)} characters)\n{text[-_MOST_CHARACTERS:]}"
