"""Who gets a connection."""

from collections import Counter

import pytest

from fairway.plugins.process.decide import Route
from fairway.plugins.process.splitter import Splitter


def a_splitter(**shares: float) -> Splitter:
    """A splitter with two instances for each variant."""
    splitter = Splitter()
    routes = [Route(variant=name, share=share, instances=(f"{name}-1", f"{name}-2")) for name, share in shares.items()]
    splitter.route(routes, {id: 9000 for route in routes for id in route.instances})
    return splitter


@pytest.mark.parametrize("canary", [0, 1, 10, 33, 50, 99, 100])
def test_of_a_hundred_connections_the_canary_gets_exactly_its_share(canary: int) -> None:
    splitter = a_splitter(primary=100 - canary, canary=canary)

    first = [next(splitter.candidates()).partition("-")[0] for _ in range(100)]

    assert Counter(first) == +Counter({"primary": 100 - canary, "canary": canary})


def test_the_instances_of_a_variant_take_turns() -> None:
    splitter = a_splitter(primary=100)

    assert Counter(next(splitter.candidates()) for _ in range(10)) == Counter({"primary-1": 5, "primary-2": 5})


def test_whoever_cannot_be_reached_is_followed_by_all_others_that_have_a_share() -> None:
    splitter = a_splitter(primary=90, canary=10, baseline=0)

    candidates = list(splitter.candidates())

    assert candidates[0].startswith("primary")
    assert sorted(candidates) == ["canary-1", "canary-2", "primary-1", "primary-2"]
