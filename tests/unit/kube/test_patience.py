"""Patience: however long a cluster is away, there is a next attempt."""

from fairway.kube.calls import Patience


def test_after_days_of_failures_the_wait_is_the_longest() -> None:
    assert Patience(longest_delay=5.0, chance=lambda: 1.0).delay(1_000_000) == 5.0
