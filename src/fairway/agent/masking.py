"""Masks the secrets that were opened for a deployment, in all that is told of it.

In the log of a stage also where a line was too long for one block and a secret was cut in two. A block is safe once it
was passed on, so nothing of it can be held back. What may be the beginning of a secret at the end of a cut line is
therefore masked at once, and its rest when it comes. Whether a line was cut is told by its length.
"""

from collections.abc import Iterable

from fairway.agent.workspace import Source
from fairway.secrets.redact import Redactor
from fairway.secrets.secret import MASK, Secret

#: A last line of this length goes on in the next block.
CUT_BYTES = 64 * 1024


class Opened:
    """The secrets that were opened for one deployment, or one look at an application."""

    def __init__(self, secrets: Iterable[Secret] = ()) -> None:
        self._secrets = frozenset(secrets)
        self.redactor = Redactor(self._secrets)

    def add(self, secret: Secret) -> None:
        """Mask this one too from now on."""
        self._secrets |= {secret}
        self.redactor = Redactor(self._secrets)

    def masked(self, text: str) -> str:
        """A whole text without secrets."""
        return text if self.redactor.masks_nothing else self.redactor.redact(text)


def opened_in(*sources: Source | None) -> Opened:
    """What was opened in these files."""
    return Opened(secret for each in sources if each for secret in each.values.encrypted_secrets.values())


class LogMask:
    """The blocks of one log, in their order."""

    def __init__(self) -> None:
        #: The end of the line that goes on, as it was written.
        self._before = b""

    def masked(self, text: str, redactor: Redactor) -> str:
        """The text without secrets."""
        if redactor.masks_nothing:
            # Mostly; and a loud script's text is large.
            self._before = b""
            return text
        block = text.encode("utf-8", "surrogatepass")
        data = self._before + block
        spans = redactor.spans(data)
        cut = len(block) - (block.rfind(b"\n") + 1) >= CUT_BYTES
        if cut:
            spans.append((redactor.undecided_from(data), len(data)))
        shown = _without(data, len(self._before), spans)
        self._before = data[-CUT_BYTES:] if cut else b""
        return shown.decode("utf-8", "surrogatepass")

    @property
    def waits(self) -> bool:
        """Whether the next block goes on with the line."""
        return bool(self._before)


def _without(data: bytes, start: int, spans: Iterable[tuple[int, int]]) -> bytes:
    """The data from a place on, each run of masked bytes as one mask."""
    shown: list[bytes] = []
    position = start
    for first, last in sorted(spans):
        if last <= position or first >= last:
            continue
        if first > position or not shown or shown[-1] != _MASK:
            shown += (data[position : max(first, position)], _MASK)
        position = last
    shown.append(data[position:])
    return b"".join(shown)


_MASK = MASK.encode()
