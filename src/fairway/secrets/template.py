"""Go templates over `.encryptedSecrets` and `.attachment`: their values, their texts and their limits.

`renderer` renders them in a process of its own; `engine` is the library's part of that process.
"""

from collections.abc import Mapping

import msgspec

from fairway.secrets.secret import Secret

#: Limit of one file, and of one rendered text.
MAX_CHARACTERS = 8 * 1024 * 1024
#: Limit of all files of an application, and of all its rendered texts.
MAX_TOTAL_CHARACTERS = 16 * 1024 * 1024

#: Top-level names of a template. A mapping has names of its own; an unknown one is an error.
Data = Mapping[str, str | Mapping[str, str]]


class TemplateValues(msgspec.Struct, frozen=True):
    """What a template may refer to."""

    encrypted_secrets: Mapping[str, Secret] = {}
    attachment: Mapping[str, Secret] = {}

    def data(self) -> Data:
        """The values as a template sees them, revealed."""
        return {
            "encryptedSecrets": {name: value.reveal() for name, value in self.encrypted_secrets.items()},
            "attachment": {name: value.reveal() for name, value in self.attachment.items()},
        }


class Text(msgspec.Struct, frozen=True):
    """A text and the pieces of it that are templates; errors give the place in the whole text."""

    #: Of the file or option, for error messages.
    name: str
    text: str
    #: Start and end of each template; one for the whole text by default.
    pieces: tuple[tuple[int, int | None], ...] = ((0, None),)


class Source(msgspec.Struct, frozen=True):
    """One template in a text."""

    name: str
    text: str
    start: int = 0
    end: int | None = None

    @property
    def piece(self) -> str:
        """The part that is rendered."""
        return self.text[self.start : self.end]
