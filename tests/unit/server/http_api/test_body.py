"""Bodies: what is read, and what is said of the rest."""

import contextlib
import enum
import json
from typing import Annotated, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.server.http_api.body import Body, read_body
from fairway.server.status_codes import InvalidRequest


class Colour(enum.Enum):
    RED = "red"
    GREEN = "green"


class Wanted(Body, frozen=True, kw_only=True):
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=9)]
    colour: Colour = Colour.RED
    labels: dict[str, str] | None = None
    places: dict[str, tuple[str, ...]] = {}
    disabled: bool | None = None
    hours: Annotated[int, msgspec.Meta(ge=1, le=9)] = 1


def test_a_body_in_order_is_read_with_its_defaults() -> None:
    body = b'{"name": "cart", "labels": {"env": "prod"}, "places": {"k8s": ["eu"]}, "colour": "green"}'

    read = read_body(body, Wanted)

    assert read == Wanted(name="cart", labels={"env": "prod"}, places={"k8s": ("eu",)}, colour=Colour.GREEN)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        pytest.param(
            {"nam": "x"},
            [
                "nam is no field here; did you mean 'name'?",
                "name is missing; expected a text of 1 to 9 characters",
            ],
            id="misspelt",
        ),
        pytest.param(
            {"name": "x", "zzz": 1},
            ["zzz is no field here; expected name, colour, labels, places, disabled, hours"],
            id="far from all",
        ),
        pytest.param(
            {"name": "x", "colour": "gren"},
            ["colour is \"gren\"; expected one of red, green; did you mean 'green'?"],
            id="a misspelt word",
        ),
        pytest.param({"name": 1}, ["name is the number 1; expected a text of 1 to 9 characters"], id="a number"),
        pytest.param({"name": ""}, ['name is ""; expected a text of 1 to 9 characters'], id="an empty text"),
        pytest.param({"name": None}, ["name is nothing; expected a text of 1 to 9 characters"], id="null"),
        pytest.param({"name": "x", "labels": {"a": 1}}, ["labels.a is the number 1; expected a text"], id="a label"),
        pytest.param({"name": "x", "labels": []}, ["labels is an empty list; expected a mapping"], id="no mapping"),
        pytest.param(
            {"name": "x", "places": {"k": ["a", 2]}}, ["places.k[1] is the number 2; expected a text"], id="deep"
        ),
        pytest.param(
            {"name": "x", "disabled": "yes"}, ['disabled is "yes"; expected true or false'], id="a word for a bool"
        ),
        pytest.param(
            {"name": "x", "hours": 0}, ["hours is the number 0; expected a whole number from 1 to 9"], id="too small"
        ),
        pytest.param([], ["the body is an empty list; expected a mapping"], id="no mapping at all"),
        pytest.param({"name": "a\0b"}, ["name has a NUL character; expected a text without one"], id="NUL"),
        pytest.param(
            {"name": 1, "hours": "x"},
            [
                "name is the number 1; expected a text of 1 to 9 characters",
                'hours is "x"; expected a whole number from 1 to 9',
            ],
            id="two mistakes",
        ),
    ],
)
def test_everything_that_is_wrong_is_named(body: object, said: list[str]) -> None:
    with pytest.raises(InvalidRequest) as refused:
        read_body(json.dumps(body).encode(), Wanted)

    assert str(refused.value) == "; ".join(said)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b'{"name": "x"', id="cut off"),
        pytest.param(b'{"name": "\xff"}', id="not UTF-8"),
        pytest.param(b'{"name": "\\ud800"}', id="half of a pair"),
        pytest.param(b"[" * 100_000, id="too deep"),
        pytest.param(b'{"name": 1e999}', id="a number too large"),
    ],
)
def test_what_is_no_json_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidRequest, match="no JSON that can be read"):
        read_body(body, Wanted)


def test_a_body_that_is_missing_is_said_to_be() -> None:
    with pytest.raises(InvalidRequest, match="the body is missing; expected JSON"):
        read_body(b"", Wanted)


_NAMES = st.sampled_from([*Wanted.__struct_fields__, "x"])
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner),
)


@given(_JSON)
def test_whatever_comes_is_read_or_refused_in_words(value: Any) -> None:
    body = json.dumps(value).encode()

    with contextlib.suppress(InvalidRequest):
        assert isinstance(read_body(body, Wanted), Wanted)
