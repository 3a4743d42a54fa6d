"""Retry: bounded, growing, jittered, and only for errors that a repetition may help."""

from dataclasses import replace

import pytest

from fairway.git.errors import GitAccessError, GitRemoteError
from fairway.git.retry import Retry


def a_retry(waits: list[float], chance: float = 1.0) -> Retry:
    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    return Retry(attempts=5, first_delay=1.0, longest_delay=3.0, sleep=sleep, chance=lambda: chance)


async def test_an_operation_is_repeated_until_it_succeeds() -> None:
    waits: list[float] = []
    failures = iter([GitRemoteError("one"), GitRemoteError("two"), None])

    async def operation() -> str:
        if error := next(failures):
            raise error
        return "done"

    assert (await a_retry(waits).run(operation), waits) == ("done", [1.0, 2.0])


@pytest.mark.parametrize(
    ("chance", "expected"),
    [pytest.param(0.0, [0.5, 1.0, 1.5, 1.5], id="shortest"), pytest.param(1.0, [1.0, 2.0, 3.0, 3.0], id="longest")],
)
async def test_waits_grow_to_a_limit_and_carry_jitter(chance: float, expected: list[float]) -> None:
    waits: list[float] = []

    async def operation() -> None:
        raise GitRemoteError("always")

    with pytest.raises(GitRemoteError, match="always"):
        await a_retry(waits, chance).run(operation)

    assert waits == expected


def test_after_days_of_failures_the_wait_is_the_longest() -> None:
    assert a_retry([]).delay(1_000_000) == 3.0


async def test_slow_failures_are_repeated_only_for_so_long() -> None:
    passed = [0.0]

    async def operation() -> None:
        passed[0] += 100.0
        raise GitRemoteError("no answer")

    retry = replace(a_retry([]), seconds=250.0, steady=lambda: passed[0])
    with pytest.raises(GitRemoteError, match="no answer"):
        await retry.run(operation)

    assert passed == [300.0]


async def test_an_error_that_no_repetition_helps_is_raised_at_once() -> None:
    waits: list[float] = []

    async def operation() -> None:
        raise GitAccessError("no entry")

    with pytest.raises(GitAccessError, match="no entry"):
        await a_retry(waits).run(operation)

    assert waits == []
