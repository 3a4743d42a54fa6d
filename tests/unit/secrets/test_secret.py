import copy
import json
import pickle
from collections.abc import Callable

import msgspec
import pytest

from fairway.secrets.secret import MASK, Secret, SecretError


@pytest.mark.parametrize(
    "show",
    [
        pytest.param(repr, id="repr"),
        pytest.param(str, id="str"),
        pytest.param("{}".format, id="format"),
        pytest.param("{:>3}".format, id="format with a width"),
        pytest.param(lambda secret: f"{secret!r}{secret}", id="f-string"),
        pytest.param(lambda secret: "%s %r" % (secret, [secret]), id="percent, inside a list"),  # noqa: UP031 - the point
        pytest.param(lambda secret: str({"password": secret}), id="inside a dict"),
    ],
)
def test_a_secret_never_shows_its_text(show: Callable[[Secret], str]) -> None:
    shown = show(Secret("hunter2"))

    assert MASK in shown
    assert "hunter2" not in shown


@pytest.mark.parametrize(
    "leave",
    [
        pytest.param(pickle.dumps, id="pickle"),
        pytest.param(copy.deepcopy, id="deepcopy"),
        pytest.param(json.dumps, id="json"),
        pytest.param(msgspec.json.encode, id="msgspec"),
        pytest.param(vars, id="vars"),
    ],
)
def test_a_secret_does_not_leave_by_a_side_door(leave: Callable[[Secret], object]) -> None:
    with pytest.raises(TypeError) as caught:
        leave(Secret("hunter2"))

    assert "hunter2" not in str(caught.value)


def test_secrets_are_equal_by_their_text() -> None:
    assert Secret("grün") == Secret("grün")
    assert Secret("one") != Secret("two")
    assert Secret("one") != "one"
    assert {Secret("one"), Secret("one")} == {Secret("one")}


def test_reveal_gives_the_text() -> None:
    assert Secret("hunter2").reveal() == "hunter2"


def test_an_error_lists_every_problem_and_where_the_next_begins() -> None:
    error = SecretError(["first", "second"])

    assert (error.problems, str(error), error.retry) == (("first", "second"), "first; second", False)
