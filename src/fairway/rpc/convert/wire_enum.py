"""Our words for the numbers on the wire, one table for each enum.

A number that a table lacks comes from a newer agent, plugin or server. It is refused rather than guessed at:
a status read wrongly would be stored as the truth.
"""

import enum
from typing import Generic, TypeVar

import msgspec

from fairway.errors import UserError

E = TypeVar("E", bound=enum.Enum)
N = TypeVar("N", bound=int)


class WireError(UserError):
    """A message that cannot be put into our words, or words that the wire has no number for."""


class WireEnum(msgspec.Struct, Generic[E, N], frozen=True):
    """One enum of ours beside one of the wire's."""

    #: What it is, in words: "deployment status".
    noun: str
    numbers: dict[E, N]

    def to_wire(self, member: E) -> N:
        """The number; WireError when the wire has none for this member."""
        if member not in self.numbers:
            known = ", ".join(str(known.value) for known in self.numbers)
            raise WireError(f"{self.noun} {member.value} cannot be sent; this message knows {known}")
        return self.numbers[member]

    def from_wire(self, number: int) -> E:
        """Our word; WireError when the number is not known here."""
        for member, known in self.numbers.items():
            if known == number:
                return member
        listed = ", ".join(f"{known} ({member.value})" for member, known in self.numbers.items())
        raise WireError(
            f"{self.noun} {number} is not known, only {listed}; "
            "the sender may be newer than this version of Fairway: update Fairway, or send a known number"
        )
