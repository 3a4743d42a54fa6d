"""A decrypted value that keeps itself to itself, and the error of everything in this package.

A value that is opened travels through plans, environments and error messages; sooner or later somebody logs
the object that holds it. `Secret` shows `•••` wherever Python would show it and gives the text to a caller
that says `reveal()`, and to no other. Python cannot wipe a string from memory: this guards against accidents,
not against a debugger.
"""

import hmac
from collections.abc import Sequence
from typing import NoReturn

from fairway.errors import UserError

#: What stands in place of a secret, in logs and in error messages.
MASK = "•••"


class SecretError(UserError):
    """A sealed value, key or template that cannot be used; `problems` has a sentence for each."""

    def __init__(self, problems: str | Sequence[str]) -> None:
        self.problems: tuple[str, ...] = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("; ".join(self.problems))


class Secret:
    """A text that is shown as `•••` unless it is asked for with `reveal()`."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The text itself; never pass it to a logger or into an error message."""
        return self._value

    def __repr__(self) -> str:
        return MASK

    def __str__(self) -> str:
        return MASK

    def __format__(self, spec: str) -> str:
        return MASK

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        return hmac.compare_digest(self._value.encode(), other._value.encode())

    def __hash__(self) -> int:
        return hash(self._value)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Secret is not pickled or copied: pass the object itself, or reveal() what must be stored")
