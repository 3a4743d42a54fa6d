"""Masks secrets in a stream of log bytes, in whatever chunks it arrives.

A byte is masked when it lies in any shape (`forms.py`) of any secret; each run of masked bytes becomes one
`•••`. That rule does not mention chunks, so the result is the same however the stream is cut. A chunk is
held back only from the point where it could still be the beginning of a shape: never past a line break, and
never as long as the longest shape.

A whole text may be YAML, which breaks long lines at a space; there a secret is found across lines too.

For speed each shape is looked for by a byte of it that ordinary logs seldom have, and the two bytes after it:
one regular expression finds those, and only there the shape itself is compared.
"""

import bisect
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

import msgspec

from fairway.secrets.forms import forms_of
from fairway.secrets.secret import MASK, Secret

_MASK = MASK.encode()
#: From the most to the least frequent byte of ordinary logs; bytes that are not listed are rarer still.
_FREQUENT_FIRST = b" etaoinsr0l1dc2h5u3m46p789-:.g/fyb\nw,v=\"TkIx_[]SADEN'ROCjZzqLPF(){}MUGWBHVYKXJQ|<>+*&;@#!?%$\\~^`"
_FREQUENCY = {byte: 1 / rank for rank, byte in enumerate(_FREQUENT_FIRST, start=1)}
_RARE = 1 / (2 * len(_FREQUENT_FIRST))
_ANCHOR_LENGTH = 3
#: Where YAML breaks a long text at a space, in a file or in a difference of two.
_FOLD = re.compile(rb"\n[-+]? +")


class _Place(msgspec.Struct, frozen=True):
    """A shape, and where in it its anchor stands."""

    shape: bytes
    offset: int


class Redactor:
    """What to mask, prepared once; each stream of output gets its own `stream()`."""

    def __init__(self, secrets: Iterable[Secret]) -> None:
        shapes = frozenset[bytes]().union(*(forms_of(secret.reveal()) for secret in secrets))
        self._sorted = sorted(shapes)
        self._longest = max(map(len, shapes), default=0)
        self._places: dict[bytes, list[_Place]] = defaultdict(list)
        for place in _anchored(self._sorted):
            self._places[place.shape[place.offset : place.offset + _ANCHOR_LENGTH]].append(place)
        self._anchors = _starts(self._places, b"")
        # At the very end of the data the second byte may not have arrived yet.
        self._heads = _starts({shape[:2] for shape in shapes}, rb"|\Z")

    @property
    def masks_nothing(self) -> bool:
        """Whether there is no secret to mask."""
        return not self._places

    def stream(self) -> "RedactedStream":
        """A fresh stream over the same secrets."""
        return RedactedStream(self)

    def redact(self, text: str) -> str:
        """Mask one whole text, in which a space of a secret may also be where YAML has broken the line."""
        data = text.encode("utf-8", "surrogatepass")
        shown: list[bytes] = []
        position = 0
        for start, end in _merged([*self.spans(data), *self._folded(data)]):
            shown += (data[position:start], _MASK)
            position = end
        shown.append(data[position:])
        return b"".join(shown).decode("utf-8", "surrogatepass")

    def spans(self, data: bytes) -> list[tuple[int, int]]:
        """The runs of bytes that lie in a shape, in order, apart from each other."""
        if not self._places:
            return []
        found: list[tuple[int, int]] = []
        for match in self._anchors.finditer(data):
            at = match.start()
            for place in self._places[data[at : at + _ANCHOR_LENGTH]]:
                start = at - place.offset
                if start >= 0 and data.startswith(place.shape, start):
                    found.append((start, start + len(place.shape)))
        return _merged(found)

    def _folded(self, data: bytes) -> Iterator[tuple[int, int]]:
        """The runs that lie in a shape when the lines are one again."""
        if not any(b" " in shape for shape in self._sorted):
            return
        spaces: list[int] = []
        gone = [0]
        for fold in _FOLD.finditer(data):
            spaces.append(fold.start() - gone[-1])
            gone.append(gone[-1] + len(fold[0]) - 1)
        for start, end in self.spans(_FOLD.sub(b" ", data)) if spaces else ():
            last = end - 1
            yield start + gone[bisect.bisect_left(spaces, start)], last + gone[bisect.bisect_left(spaces, last)] + 1

    def undecided_from(self, data: bytes) -> int:
        """The first position from which `data` could be the beginning of a shape that is not complete yet."""
        start = max(data.rfind(b"\n") + 1, len(data) - self._longest + 1)
        if not self._places or start == len(data):
            return len(data)
        for match in self._heads.finditer(data, start):
            tail = data[match.start() :]
            next_up = bisect.bisect_right(self._sorted, tail)
            if next_up < len(self._sorted) and self._sorted[next_up].startswith(tail):
                return match.start()
        return len(data)


class RedactedStream:
    """One stream of output: feed it what arrives, pass on what it gives back, flush it at the end."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._held = b""
        #: How many of the held bytes are known to be masked already.
        self._held_masked = 0
        #: Whether the last byte that was passed on was a masked one, so that its run gets no second mask.
        self._in_run = False

    def feed(self, chunk: bytes) -> bytes:
        """Take some output; give back all of it that is decided, masked."""
        data = self._held + chunk
        return self._pass_on(data, self._redactor.undecided_from(data))

    def flush(self) -> bytes:
        """The output has ended: give back the rest."""
        return self._pass_on(self._held, len(self._held))

    def _pass_on(self, data: bytes, until: int) -> bytes:
        spans = self._redactor.spans(data)
        if self._held_masked:
            spans = _merged([(0, self._held_masked), *spans])
        out: list[bytes] = []
        position = 0
        for start, end in spans:
            if start >= until:
                break
            if start > position or not self._in_run:
                out += (data[position:start], _MASK)
            self._in_run = True
            position = end
        if position < until:
            out.append(data[position:until])
            self._in_run = False
        self._held = data[until:]
        self._held_masked = max(position, self._held_masked, until) - until
        return b"".join(out)


def _anchored(shapes: Iterable[bytes]) -> Iterator[_Place]:
    """Choose where to look for each shape, with few and rare bytes for all of them together."""
    left = {shape: shape[: len(shape) - _ANCHOR_LENGTH + 1] for shape in shapes}
    while left:
        uses = Counter(byte for usable in left.values() for byte in set(usable))
        best = min(uses, key=lambda byte: (_FREQUENCY.get(byte, _RARE) / uses[byte], byte))
        for shape in [shape for shape, usable in left.items() if best in usable]:
            yield _Place(shape, left.pop(shape).index(best))


def _starts(grams: Iterable[bytes], or_else: bytes) -> re.Pattern[bytes]:
    """Match the first byte of each gram and look ahead at the rest, so that overlapping ones are found."""
    rest: dict[bytes, list[bytes]] = defaultdict(list)
    for gram in sorted(grams):
        rest[gram[:1]].append(re.escape(gram[1:]))
    branches = (re.escape(first) + b"(?=" + b"|".join(tails) + or_else + b")" for first, tails in rest.items())
    return re.compile(b"|".join(branches))


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same positions as runs that neither overlap nor touch."""
    runs: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if runs and start <= runs[-1][1]:
            runs[-1] = (runs[-1][0], max(end, runs[-1][1]))
        else:
            runs.append((start, end))
    return runs
