"""Which log, what is in it, and under what name it is kept.

The objects of one log stand together under `<deployment>/<stage>/<run>/`. Ids come from outside, so every character
but a letter, digit, `_` or `-` is written as `=` and its hexadecimal bytes: no id can leave its folder, hide itself
behind a dot or look like another. What the objects hold is left to `part`.
"""

import re

import msgspec

from fairway.errors import UserError
from fairway.model.log_block import LogBlock

#: File systems allow 255 bytes in a name.
_LONGEST_NAME = 200
_QUOTED = re.compile(rb"[^A-Za-z0-9_-]")
_OBJECT = re.compile(r"([^/]+)/([^/]+)/([0-9]+)/[^/]+")
_ESCAPE = re.compile(rb"=([0-9a-f]{2})")


class LogKeyError(UserError):
    """An id that names no log."""


class StageLogKey(msgspec.Struct, frozen=True, order=True):
    """One log: that of one run of one stage."""

    deployment_id: str
    stage_id: str
    retried_count: int


class StageLog(msgspec.Struct, frozen=True):
    """A log, or a page of it, as far as it has been written."""

    #: In the order of their indexes, each once.
    blocks: tuple[LogBlock, ...] = ()
    #: The agent said that no more is to come. A later run of the same stage may still add to it.
    completed: bool = False
    #: Where the next page begins; `None` when this one reaches the end of what is there.
    next_index: int | None = None


class LogGrowth(msgspec.Struct, frozen=True):
    """Something was added to a log; what it is, the log says."""

    key: StageLogKey
    #: Of what was added; what is there already may be among it.
    first_index: int


def log_folder(key: StageLogKey) -> str:
    """Where the objects of a log are, with a `/` at the end."""
    if key.retried_count < 0:
        raise LogKeyError(f"{key.retried_count} is not how often a stage was retried; expected 0 or more")
    return f"{deployment_folder(key.deployment_id)}{_quote('stage id', key.stage_id)}/{key.retried_count}/"


def deployment_folder(deployment_id: str) -> str:
    """Where the logs of a deployment are, with a `/` at the end."""
    return f"{_quote('deployment id', deployment_id)}/"


def log_key(object_name: str) -> StageLogKey | None:
    """The log that an object belongs to: `log_folder` the other way round; `None` for a file of somebody else."""
    found = _OBJECT.fullmatch(object_name)
    return StageLogKey(_unquote(found[1]), _unquote(found[2]), int(found[3])) if found else None


def _quote(what: str, identity: str) -> str:
    name = _QUOTED.sub(lambda found: b"=%02x" % found[0][0], identity.encode("utf-8", "surrogatepass")).decode()
    if not 0 < len(name) <= _LONGEST_NAME:
        shown = f"{identity[:40]!r}… of {len(identity)} characters" if identity else "an empty one"
        raise LogKeyError(f"expected a {what} of 1 to {_LONGEST_NAME} plain characters, found {shown}")
    return name


def _unquote(name: str) -> str:
    raw = _ESCAPE.sub(lambda found: bytes([int(found[1], 16)]), name.encode())
    return raw.decode("utf-8", "surrogatepass")
