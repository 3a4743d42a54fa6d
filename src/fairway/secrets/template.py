"""Go templates over `.encryptedSecrets` and `.attachment`: what they are made of, and the one door to their engine.

The engine (`engine`) is loaded when the first template is rendered: with it come some ten megabytes that an agent
without secrets can spare.
"""

from collections.abc import Mapping

import msgspec

from fairway.secrets.secret import Secret

#: No configuration file is longer than this; what is, is a template that ran away.
MAX_CHARACTERS = 8 * 1024 * 1024


class TemplateValues(msgspec.Struct, frozen=True):
    """What a template may refer to."""

    encrypted_secrets: Mapping[str, Secret] = {}
    attachment: Mapping[str, Secret] = {}


class Source(msgspec.Struct, frozen=True):
    """A template: a file, or a piece of a text whose errors are told by their place in the whole."""

    name: str
    text: str
    start: int = 0
    end: int | None = None

    @property
    def piece(self) -> str:
        """The part that is rendered."""
        return self.text[self.start : self.end]


def render_template(source: Source, values: TemplateValues) -> str:
    """Render one template; a problem is told with its file, line, column and what to write instead."""
    from fairway.secrets.engine import render

    return render(source, values)
