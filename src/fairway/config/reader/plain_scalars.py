"""What a plain (unquoted) YAML scalar means: Go's rules, which differ from PyYAML's in a dozen ways.

`yes`, `on` and `y` are booleans, `014` and `0o14` are twelve, `1_000` and `1e3` are a thousand; dates and `12:30:45`
stay text. The commonest case, ordinary words, is decided by the first character.
"""

import math
import re
from typing import Final

_WORDS: Final[dict[str, bool | float | None]] = {
    **dict.fromkeys(["", "~", "null", "Null", "NULL"]),
    **dict.fromkeys(["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"], True),
    **dict.fromkeys(["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"], False),
    **dict.fromkeys([".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"], math.inf),
    **dict.fromkeys(["-.inf", "-.Inf", "-.INF"], -math.inf),
    **dict.fromkeys([".nan", ".NaN", ".NAN"], math.nan),
}
_NUMBER_STARTS: Final = frozenset("0123456789+-.")
_DECIMAL: Final = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_OCTAL: Final = re.compile(r"[-+]?0o?[0-7]+")
_OTHER_BASE: Final = re.compile(r"[-+]?0(x[0-9a-fA-F]+|b[01]+)")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
#: A number may be this long; longer digit runs are text, as they are in Go once 64 bits are full.
_LONGEST_NUMBER: Final = 40


def resolve_plain(text: str) -> str | int | float | bool | None:
    """The value of an unquoted scalar."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMBER_STARTS or len(text) > _LONGEST_NUMBER:
        return text
    digits = text.replace("_", "")
    if _DECIMAL.fullmatch(digits):
        return int(digits)
    if _OCTAL.fullmatch(digits):
        return int(digits.replace("o", ""), 8)
    if _OTHER_BASE.fullmatch(digits):
        return int(digits, 0)
    if _FLOAT.fullmatch(digits) and math.isfinite(number := float(digits)):
        return number
    return text
