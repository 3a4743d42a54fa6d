"""The words between launcher and agent, which a launcher of any version must understand from an agent of any other."""

import os
from collections.abc import Callable

import pytest

from fairway.agent.launcher.link import Link


@pytest.mark.parametrize(
    ("say", "words"),
    [
        pytest.param(Link.ready, b'{"ready":true}\n', id="ready"),
        pytest.param(Link.restart, b'{"restart":true}\n', id="restart"),
        pytest.param(
            lambda link: link.switch("7.0-ab", 120.0, 30.0),
            b'{"switch":"7.0-ab","ready_seconds":120.0,"settle_seconds":30.0}\n',
            id="switch",
        ),
    ],
)
def test_an_agent_says_what_every_launcher_understands(say: Callable[[Link], None], words: bytes) -> None:
    heard, pipe = os.pipe()
    try:
        say(Link(pipe))

        assert os.read(heard, 1000) == words
    finally:
        os.close(heard)
        os.close(pipe)


def test_the_pipe_is_found_by_the_variable_that_every_launcher_sets_and_goes_no_further() -> None:
    heard, pipe = os.pipe()
    lock = os.dup(pipe)
    environment = {"FAIRWAY_LAUNCHER": f"{pipe},{lock}", "PATH": "/bin"}
    try:
        link = Link.of(environment)

        assert (link.is_launched, environment) == (True, {"PATH": "/bin"})
        assert [os.get_inheritable(each) for each in (pipe, lock)] == [False, False]
    finally:
        for each in (heard, pipe, lock):
            os.close(each)
