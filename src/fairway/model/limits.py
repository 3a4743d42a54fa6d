"""How large the things may be that plugins, agents and people hand over.

One module for all parts, so that each part can send what another part has taken. A text for people is cut, with a
mark. A note for programs is refused, because half of a note is useless.
"""

import re
from typing import Final

from fairway.errors import UserError

_KIB: Final = 1024
_MIB: Final = 1024 * _KIB

#: Characters of the reason of a stage or a deployment, and of a summary.
REASON: Final = 4 * _KIB
#: Characters of a stage's reason that the reason of its deployment quotes: the stage has the rest.
QUOTED_REASON: Final = _KIB
#: Characters of a text that is shown under a stage, of a description, and of a commit message.
SHOWN_TEXT: Final = 16 * _KIB
#: Characters of the details of a plan preview, and of the configuration of an agent.
DETAILS: Final = 256 * _KIB
#: Characters of one block of a stage's log. Plugins of Fairway send smaller blocks: SENT_TEXT, and pieces of script
#: output. A block of this size fits into one gRPC message.
LOG_TEXT: Final = 2 * _MIB
#: Characters of a text on its way from a plugin to its agent. The agent masks secrets and then cuts to the limits
#: above; a secret that is cut in half here is therefore never shown.
SENT_TEXT: Final = _MIB
#: The same for one deploy target of several.
SENT_TARGET_TEXT: Final = 64 * _KIB

#: Bytes of one note, with its key.
NOTE_BYTES: Final = 512 * _KIB
#: Bytes of all notes of one stage.
STAGE_NOTES_BYTES: Final = _MIB
#: Bytes of all notes of one deployment, those of its stages included.
DEPLOYMENT_NOTES_BYTES: Final = 2 * _MIB
#: Bytes that the server takes above both: an agent adds notes of its own to those of its plugins.
SPARE_NOTES_BYTES: Final = 64 * _KIB
#: Bytes of a new deployment, and of a plan.
PLAN_BYTES: Final = 3 * _MIB
#: Bytes of one object that a plugin keeps with an application.
OBJECT_BYTES: Final = 8 * _MIB
#: Bytes of all objects of one application.
APPLICATION_OBJECTS_BYTES: Final = 64 * _MIB
#: Deployments of one agent that have not ended.
OPEN_DEPLOYMENTS: Final = 10_000


_MARK: Final = re.compile(r"… cut \(([0-9]{1,15}) characters\)\Z")
#: Characters of the longest mark.
_LONGEST_MARK: Final = 40


class TooLarge(UserError):
    """Something that exceeds its limit."""


def refuse_large_object(key: str, value: bytes) -> None:
    """Raise TooLarge when one object exceeds its limit."""
    if len(value) > OBJECT_BYTES:
        raise TooLarge(
            f"the object {cut(key, 80)!r} has {len(value)} bytes; an object has at most {OBJECT_BYTES} bytes"
        )


def cut(text: str, most: int) -> str:
    """The text with at most so many characters; a mark says where it was cut, and how long it was.

    A text that was cut before keeps its first count.
    """
    if len(text) <= most:
        return text
    earlier = _MARK.search(text[-_LONGEST_MARK:])
    length = max(len(text), int(earlier[1]) if earlier else 0)
    mark = f"… cut ({length} characters)"
    return text[: most - len(mark)] + mark


def bytes_of(text: str) -> int:
    """How many bytes the text has as UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
