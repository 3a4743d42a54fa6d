"""Ctrl-C while `fairway up` works, and while it stops."""

import os
import signal
from collections.abc import Iterator

import pytest

from fairway.cli.up.patience import Patience

NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture(autouse=True)
def _handlers_as_they_were() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in NUMBERS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_ends_the_work_and_each_further_one_only_a_wait(number: signal.Signals) -> None:
    patience = Patience()
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), number)

    os.kill(os.getpid(), number)

    patience.wait_while(lambda: True, seconds=1e9)
    looks = iter([True, False])
    patience.wait_while(lambda: next(looks), seconds=1e9)
    assert next(looks, None) is None


def test_a_closed_terminal_ends_the_work_and_no_wait_however_often_it_says_so() -> None:
    patience = Patience()
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGHUP)

    os.kill(os.getpid(), signal.SIGHUP)

    looks = iter([True, False])
    patience.wait_while(lambda: next(looks), seconds=1e9)
    assert next(looks, None) is None


def test_nothing_is_interrupted_once_things_are_being_stopped() -> None:
    patience = Patience()

    patience.begin()

    os.kill(os.getpid(), signal.SIGINT)


def test_a_wait_has_an_end() -> None:
    Patience().wait_while(lambda: True, seconds=0)
