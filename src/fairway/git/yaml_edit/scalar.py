"""How a value is written as a YAML scalar so that every reader takes it for the same thing.

Readers differ: YAML 1.1 takes `on`, `12:30` and `2026-01-02` for something else than text, Go's takes `1e3` and `0o7`
for numbers. A text that any of them would misread is quoted. The style that was there (plain, quoted, block) is kept
wherever it can carry the new value.
"""

import math
import re

from msgspec import Struct

from fairway.git.yaml_edit.path import YamlEditError

Scalar = str | int | float | bool

STRING = "tag:yaml.org,2002:str"
_TAGS = {bool: "tag:yaml.org,2002:bool", int: "tag:yaml.org,2002:int", float: "tag:yaml.org,2002:float"}
#: Anything that some YAML reader resolves to a number, a truth value, nothing, a time or a merge key.
_NOT_A_STRING = re.compile(
    r"""~|null|true|false|yes|no|on|off|y|n|=|<<
      | [-+]?\.?[0-9][0-9_]*(?:[.:eE_+-][0-9_.:eE+-]*)?   # numbers, sexagesimals, dates
      | [-+]?\.?[0-9][-0-9_.:+eETtZz \t]*                 # timestamps
      | [-+]?0[xob][0-9a-f_]+ | [-+]?\.inf | \.nan
    """,
    re.VERBOSE | re.IGNORECASE,
)
_UNPRINTABLE = re.compile("[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]|[\u2028\u2029]")
_STARTS_SOMETHING = re.compile(r"[-?:,\[\]{}#&*!|>'\"%@`]|\.\.\.")
_BLOCK_HEADER = re.compile(r"(?P<style>[|>])(?P<hints>[-+0-9]*)(?P<comment>[ \t]*(?:#[^\r\n]*)?)(?P<end>\r?\n)")
_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0", '"': '\\"', "\\": "\\\\"}


class Written(Struct, frozen=True):
    """What is in the file now: the characters, how they are read, and where they stand."""

    text: str
    tag: str
    #: '' plain, or one of ' " | >
    style: str
    in_flow: bool
    #: Whether a tag is written before it; a tag decides the type whatever the style.
    tagged: bool


class Rewritten(Struct, frozen=True):
    """What is to be in the file, and what must be read back."""

    text: str
    tag: str
    value: str


def rewrite(old: Written, value: Scalar) -> list[Rewritten]:
    """The ways to write the new value, the one nearest to the old first; the caller takes the first that reads back."""
    if isinstance(value, str):
        return _rewrite_text(old, value)
    plain = plain_number(value)
    if old.tag == STRING or old.style or old.tagged:
        # A string stays a string, and a written tag stays true.
        return _rewrite_text(old, plain)
    return [Rewritten(plain, _TAGS[type(value)], plain)]


def plain_number(value: float | bool) -> str:
    """A number or truth value as YAML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if not math.isfinite(value):
        return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
    text = repr(value)
    # YAML 1.1 wants a point and a sign: 1e16 becomes 1.0e+16.
    return text if "e" not in text or "." in text else text.replace("e", ".0e")


def _rewrite_text(old: Written, value: str) -> list[Rewritten]:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise YamlEditError(f"the new value {value!r} holds half a character pair; it cannot be written") from error
    tag = old.tag if old.style or old.tagged else STRING
    quoted = Rewritten(_double_quoted(value), tag, value)
    if not old.style and reads_the_same(value, old.tag):
        return [Rewritten(value, old.tag, value)]
    if not old.style and is_safe_plain(value, in_flow=old.in_flow):
        return [Rewritten(value, tag, value), quoted]
    if old.style == "'" and not _UNPRINTABLE.search(value) and not set(value) & {"\n", "\t"}:
        return [Rewritten("'" + value.replace("'", "''") + "'", tag, value), quoted]
    if old.style in {"|", ">"} and (block := _block(old.text, value)):
        return [Rewritten(block, tag, value), quoted_block(old.text, quoted)]
    if old.style in {"|", ">"}:
        return [quoted_block(old.text, quoted)]
    return [quoted]


def reads_the_same(text: str, tag: str) -> bool:
    """Whether a text, written plain, is the number or truth value it spells, with nothing lost (1.10 is not)."""
    if tag == _TAGS[int]:
        return bool(re.fullmatch(r"-?(?:0|[1-9][0-9]*)", text, re.ASCII))
    if tag == _TAGS[float]:
        return bool(re.fullmatch(r"-?(?:0|[1-9][0-9]*)\.(?:0|[0-9]*[1-9])", text, re.ASCII))
    return tag == _TAGS[bool] and text in {"true", "false"}


def is_safe_plain(value: str, *, in_flow: bool) -> bool:
    """Whether a text can stand without quotes and is read as text by everybody."""
    if not value or value != value.strip() or _UNPRINTABLE.search(value) or set(value) & {"\n", "\t"}:
        return False
    if _STARTS_SOMETHING.match(value) or _NOT_A_STRING.fullmatch(value):
        return False
    if ": " in value or " #" in value or value.endswith(":"):
        return False
    return not (in_flow and set(value) & set(",[]{}:?#"))


def _double_quoted(value: str) -> str:
    escaped = "".join(_ESCAPES.get(character) or character for character in value)
    return '"' + _UNPRINTABLE.sub(lambda match: _escape(ord(match[0])), escaped) + '"'


def _escape(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _block(old: str, value: str) -> str | None:
    """The value as a block scalar in the shape of the old one, or None if a block cannot carry it safely."""
    header = _BLOCK_HEADER.match(old)
    body = old[header.end() :] if header else ""
    indent = re.match(r"(?:[ \t]*\r?\n)*(?P<spaces> +)\S", body)
    if header is None or indent is None or re.search(r"\d", header["hints"]):
        return None
    lines = value.rstrip("\n").split("\n")
    trailing = len(value) - len(value.rstrip("\n"))
    if not lines[0].strip() or lines[0] != lines[0].lstrip() or _UNPRINTABLE.search(value) or not lines[-1].strip():
        return None
    style = "|" if len(lines) > 1 else header["style"]
    chomping = "-" if trailing == 0 else "" if trailing == 1 else "+"
    end = header["end"]
    written = end.join(f"{indent['spaces']}{line}" if line else "" for line in lines)
    blank = _blank_tail(body) if trailing < 2 else end * trailing
    return f"{style}{chomping}{header['comment']}{end}{written}{blank}"


def _blank_tail(body: str) -> str:
    """The line break after the last line of content, and the blank lines that follow it."""
    return body[len(body.rstrip(" \t\r\n")) :].lstrip(" \t") if body.strip() else ""


def quoted_block(old: str, quoted: Rewritten) -> Rewritten:
    """A quoted scalar in the place of a block scalar: on the header's line, with its comment and the blank lines."""
    header = _BLOCK_HEADER.match(old)
    if header is None:
        return quoted
    body = old[header.end() :]
    tail = _blank_tail(body) if body.strip() else header["end"] + body
    return Rewritten(quoted.text + header["comment"] + tail, quoted.tag, quoted.value)
