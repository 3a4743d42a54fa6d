"""How a process ended, in words."""

import pytest

from fairway.plugins.process.instance import _how


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (None, "exit status unknown"),
        (3, "exit status 3"),
        (-9, "signal SIGKILL"),
        # One of those for which there is no name; the keeper, and with it the whole application, ended by it.
        (-40, "signal 40"),
    ],
)
def test_every_end_has_words(status: int | None, words: str) -> None:
    assert _how(status) == words
