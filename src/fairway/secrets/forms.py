"""The shapes in which a secret turns up in output, so that masking does not stop at the plain text.

A script that prints its environment shows the plain text; `set -x` shows it quoted for the shell, a JSON
logger escapes it, curl encodes it into an address, and Kubernetes stores it as base64, alone or in the middle
of a longer value. This module lists those shapes as byte strings; `redact.py` finds them.

No shape contains a line break: a text of several lines is looked for line by line. So nothing that ends in a
line break can be the beginning of a shape, which is what lets log lines through without delay.
"""

import base64
import json
import re
import shlex
from collections.abc import Iterator
from urllib.parse import quote, quote_plus

#: Shorter texts are not masked: `1`, `on` or `yes` as a "secret" would black out half of every log, and the
#: places where it is blacked out would tell what it is.
MINIMUM_LENGTH = 4

#: Longer shapes are cut. Each place of a log may be compared with a whole shape, so its length is a factor of the work.
MAXIMUM_LENGTH = 1024

#: How many characters mix in bits of what is encoded before the text, by the length of that, modulo 3.
_LEADING = (0, 2, 3)
#: The widths at which `base64` and `openssl` break their lines.
_WRAP_WIDTHS = (76, 64)
_LINE_BREAK = re.compile(r"[\r\n]+")
#: What YAML's emitters escape, told to write only ASCII, and told not to. They take an emoji for unprintable.
_YAML_NOT_ASCII = re.compile(r'[^ -~]|["\\]')
_YAML_NOT_PRINTED = re.compile(r'[^ -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]|["\\]')
_YAML_NAMES = dict(zip('\0\a\b\t\n\v\f\r\x1b"\\\x85\xa0\u2028\u2029', '0abtnvfre"\\N_LP', strict=True))
_URLSAFE = bytes.maketrans(b"+/", b"-_")


def forms_of(text: str) -> frozenset[bytes]:
    """Every shape of one secret, from `MINIMUM_LENGTH` to `MAXIMUM_LENGTH` long and without a line break."""
    whole = text.strip()
    if len(whole) < MINIMUM_LENGTH:
        return frozenset()
    lines = {line.strip() for line in _LINE_BREAK.split(whole)}
    escaped = {shape for line in lines for shape in _escaped(line)} | set(_one_line(whole))
    shapes = {shape.encode("utf-8", "surrogatepass") for shape in escaped}
    encoded = set(_base64(whole.encode("utf-8", "surrogatepass")))
    return frozenset(
        piece
        for shape in shapes | encoded
        if len(shape) >= MINIMUM_LENGTH and b"\n" not in shape and b"\r" not in shape
        for piece in _pieces(shape)
    )


def _pieces(shape: bytes) -> Iterator[bytes]:
    """A long shape in pieces that cover it, each of which is masked by itself."""
    for start in range(0, len(shape) - MAXIMUM_LENGTH, MAXIMUM_LENGTH):
        yield shape[start : start + MAXIMUM_LENGTH]
    yield shape[-MAXIMUM_LENGTH:]


def _escaped(line: str) -> Iterator[str]:
    """One line as it is, and as shells, YAML, addresses and JSON write it."""
    if len(line) < MINIMUM_LENGTH:
        return
    yield line
    yield line.replace("'", "''")  # inside single quotes of YAML
    yield from _shell(line)
    yield from _one_line(line)


def _one_line(text: str) -> Iterator[str]:
    """The ways of writing a text, even one of several lines, in a single line."""
    yield from _url(text)
    yield from _json(text)
    yield from _yaml(text)


def _shell(line: str) -> Iterator[str]:
    yield shlex.quote(line).removeprefix("'").removesuffix("'")
    yield line.replace("'", r"'\''")  # inside single quotes, as `set -x` prints it
    yield re.sub(r'(["$`\\])', r"\\\1", line)  # inside double quotes
    yield re.sub(r"([^\w@%+=:,./-])", r"\\\1", line)  # without quotes, as `printf %q` prints it


def _url(text: str) -> Iterator[str]:
    raw = text.encode("utf-8", "surrogatepass")
    for encoded in (quote(raw, safe=""), quote(raw), quote_plus(raw), quote(raw, safe="!'()*")):
        yield encoded
        yield re.sub("%..", lambda escape: escape[0].lower(), encoded)


def _json(text: str) -> Iterator[str]:
    for ascii_only in (True, False):
        escaped = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
        yield escaped
        yield escaped.replace("/", r"\/")
        # Go's encoder also escapes what HTML would read.
        yield escaped.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")


def _yaml(text: str) -> Iterator[str]:
    """Inside double quotes, where YAML writes what cannot be printed in ways of its own."""
    for escaped in (_YAML_NOT_ASCII, _YAML_NOT_PRINTED):
        yield escaped.sub(lambda found: _yaml_escape(found[0]), text)


def _yaml_escape(character: str) -> str:
    code = ord(character)
    number = f"x{code:02X}" if code < 0x100 else f"u{code:04X}" if code < 0x10000 else f"U{code:08X}"
    return "\\" + _YAML_NAMES.get(character, number)


def _base64(raw: bytes) -> Iterator[bytes]:
    """The characters that are certain wherever the text stands, and the last ones if it stands at the end."""
    for before, leading in enumerate(_LEADING):
        encoded = base64.b64encode(bytes(before) + raw)
        unpadded = encoded.rstrip(b"=")
        certain = unpadded if encoded == unpadded else unpadded[:-1]
        for shape in {encoded, unpadded, unpadded + b"=", certain}:
            yield shape[leading:]
            yield shape[leading:].translate(_URLSAFE)
    alone = base64.b64encode(raw)
    for width in _WRAP_WIDTHS:
        for start in range(0, len(alone), width):
            yield alone[start : start + width]
