"""Which status may follow which: one table type, so that agent, server and documentation read the same rows.

The tables themselves stand beside their statuses (`deployment.py`, `stage.py`); `docs/states.md` is generated
from them. A change that a table does not list is refused with an error that says what is allowed.
"""

import enum
from typing import Generic, TypeVar

import msgspec

from fairway.errors import UserError

S = TypeVar("S", bound=enum.Enum)


class InvalidTransition(UserError):
    """A status change that the table does not allow."""

    def __init__(self, subject: str, found: enum.Enum, wanted: enum.Enum, allowed: frozenset[enum.Enum]) -> None:
        self.found = found
        self.wanted = wanted
        self.allowed = allowed
        if allowed:
            rule = f"from {found.value} it may only become {_one_of(allowed)}"
        else:
            rule = f"{found.value} is final, so a later report changes nothing"
        change = f"{subject} is {found.value} and cannot become {wanted.value}"
        super().__init__(f"{change}: {rule}; read it again and go on from there")


class TransitionTable(msgspec.Struct, Generic[S], frozen=True):
    """For each status, the statuses that may come next."""

    #: What has these statuses, in words: "deployment", "stage".
    noun: str
    #: Every status has a row; a row without an entry is terminal.
    rows: dict[S, frozenset[S]]

    @property
    def terminal(self) -> frozenset[S]:
        """The statuses that nothing follows."""
        return frozenset(status for status, following in self.rows.items() if not following)

    def allows(self, found: S, wanted: S) -> bool:
        """Whether `wanted` may be reported while `found` is stored; a repeat always may."""
        return found is wanted or wanted in self.rows[found]

    def check(self, subject: str, found: S, wanted: S) -> None:
        """Raise InvalidTransition, about `subject`, unless the table allows the change."""
        if not self.allows(found, wanted):
            raise InvalidTransition(subject, found, wanted, frozenset(self.rows[found]))


def _one_of(statuses: frozenset[enum.Enum]) -> str:
    words = sorted(str(status.value) for status in statuses)
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
