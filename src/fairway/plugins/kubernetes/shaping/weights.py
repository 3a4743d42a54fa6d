"""Shares of the traffic as weights, which are whole numbers: each as near as can be, together what there is, and none
that is asked for left without any while there is room."""

from collections.abc import Sequence
from typing import Final

_VARIANTS: Final = ("primary", "canary", "baseline")
_WHOLE: Final = 100
#: Numbers that are so near each other are the same, however they were reckoned.
_SAME: Final = 1e-6


def weights(shares: Sequence[float], left: int) -> list[int]:
    """The weight of each variant, of what is left for them; what shares leave over is for the first with any."""
    wanted = exactly(shares, left)
    given = [int(each) for each in wanted]
    for at in sorted(range(len(wanted)), key=lambda at: given[at] - wanted[at])[: left - sum(given)]:
        given[at] += 1
    for at, share in enumerate(shares):
        richest = max(given)
        if share > 0 and not given[at] and richest > 1:
            given[given.index(richest)] -= 1
            given[at] = 1
    return given


def exactly(shares: Sequence[float], left: int) -> list[float]:
    """The same before it is rounded."""
    first = next((at for at, share in enumerate(shares) if share > 0), 0)
    wanted = [share * left / _WHOLE for share in shares]
    return [*wanted[:first], left - sum(wanted[first + 1 :]), *wanted[first + 1 :]]


def rounding(name: str, shares: Sequence[float], given: Sequence[int]) -> str:
    """What the weights of a route are, where they are not just the shares; else nothing."""
    left = sum(given)
    if all(abs(one - other) < _SAME for one, other in zip(given, exactly(shares, left), strict=True)):
        return ""
    to = [f"{weight} to the {variant}" for weight, variant in zip(given, _VARIANTS, strict=True) if weight]
    of = f" of the {left} that are not for others" if left < _WHOLE else ""
    return f"{name}: weights are whole numbers, so{of} there go {', '.join(to) or 'none to any variant'}"
