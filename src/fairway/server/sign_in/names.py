"""What people may be called, so that no two of them are ever taken for each other.

Pure. Local names are plain, lower-case, and have no @. Somebody whom a provider vouches for is `name@provider`, and a
provider's own name has no @ either: what stands behind the last @ says for ever who vouched.
"""

import re

from fairway.server.status_codes import InvalidRequest

#: What somebody local can be called, as a pattern.
LOCAL_NAME = r"[a-z0-9](?:[a-z0-9._-]{0,61}[a-z0-9])?"

_LOCAL = re.compile(LOCAL_NAME)
_PROVIDER = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?")
_MOST_VOUCHED = 150
#: What stands at the place of a provider's name in our own paths.
_RESERVED = frozenset({"link", "out", "style", "local"})


def is_local_name(text: str) -> bool:
    """Whether somebody local can be called so."""
    return _LOCAL.fullmatch(text) is not None


def refuse_bad_local_name(text: str) -> None:
    """Raise InvalidRequest for what nobody local can be called."""
    if not is_local_name(text):
        raise InvalidRequest(
            f"id is {text!r}; expected 1 to 63 of a-z, 0-9, '.', '_' and '-', with a letter or digit at both ends"
        )


def is_provider_name(text: str) -> bool:
    """Whether a sign-in provider can be called so."""
    return _PROVIDER.fullmatch(text) is not None and text not in _RESERVED


def vouched_name(name: str, provider: str) -> str | None:
    """What somebody is called here whom a provider calls so; `None` for what is no usable name."""
    plain = name.strip()
    # A slash would end a path, and what cannot be seen could be taken for somebody else's name.
    usable = 0 < len(plain) <= _MOST_VOUCHED and plain.isprintable() and "/" not in plain
    return f"{plain}@{provider}" if usable else None
