"""The way to one value in a YAML document: `$.spec.images[0]["app.kubernetes.io/name"]`.

This is the notation of PipeCD's `yamlField`, plus quoted keys for names with dots. A path may also be given as a plain
sequence of keys and positions, which needs no notation at all.
"""

import re
from collections.abc import Sequence

from fairway.errors import UserError

Step = str | int
YamlPath = str | Sequence[Step]

_STEP = re.compile(
    r"""\.(?P<key>[^.\[\]"'\s]+)                # .key
      | \[(?P<position>\d+)\]                   # [0]
      | \["(?P<double>(?:[^"\\]|\\["\\])*)"\]   # ["any key"]
      | \['(?P<single>(?:[^'\\]|\\['\\])*)'\]   # ['any key']
    """,
    re.VERBOSE | re.ASCII,
)
_PLAIN_KEY = re.compile(r"""[^.\[\]"'\s\\]+""")


class YamlEditError(UserError):
    """A YAML value that cannot be set as asked; the message says where and why."""


def parse_path(path: YamlPath) -> tuple[Step, ...]:
    """The keys and positions of a path."""
    if not isinstance(path, str):
        return tuple(path)
    if not path.startswith("$"):
        raise YamlEditError(f"the path {path!r} does not start with '$'; expected something like $.spec.image[0]")
    steps: list[Step] = []
    position = 1
    while position < len(path):
        match = _STEP.match(path, position)
        if match is None:
            raise YamlEditError(
                f"the path {path!r} cannot be read from character {position + 1} ({path[position : position + 12]!r}) "
                'on; expected .key, [0] or ["any key"]'
            )
        steps.append(_step(match))
        position = match.end()
    return tuple(steps)


def _step(match: re.Match[str]) -> Step:
    if match["position"] is not None:
        return int(match["position"])
    quoted = match["double"] if match["double"] is not None else match["single"]
    return match["key"] if quoted is None else re.sub(r"\\(.)", r"\1", quoted)


def format_path(steps: Sequence[Step]) -> str:
    """The path in notation; `parse_path` reads it back."""
    return "$" + "".join(map(_format_step, steps))


def _format_step(step: Step) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    if _PLAIN_KEY.fullmatch(step):
        return f".{step}"
    return '["' + step.replace("\\", "\\\\").replace('"', '\\"') + '"]'
