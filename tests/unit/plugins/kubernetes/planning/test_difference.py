"""How two bodies differ, and that secrets are never shown."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.plugins.kubernetes.planning.difference import (
    ABSENT,
    Change,
    Tolerance,
    differences,
    masked_pair,
    outline,
    yaml_lines,
)

LOOSE = Tolerance(numbers_as_texts=True, empty_is_absent=True, more_before=True)


def test_each_place_is_a_change_the_innermost_one() -> None:
    before = {"a": {"b": 1, "c": 2}, "list": [{"x": 1}, 2], "old": 0}
    after = {"a": {"b": 1, "c": 3}, "list": [{"x": 5}], "new": {"y": 1}}

    assert differences(before, after) == (
        Change(("a", "c"), 2, 3),
        Change(("list", 0, "x"), 1, 5),
        Change(("list", 1), 2, ABSENT),
        Change(("new",), ABSENT, {"y": 1}),
        Change(("old",), 0, ABSENT),
    )


@pytest.mark.parametrize(
    ("before", "after", "strict", "loose"),
    [
        pytest.param(1, "1", True, False, id="a number as text"),
        pytest.param("1.0", 1, True, False, id="a text as number"),
        pytest.param(True, 1, True, True, id="true is no number"),
        pytest.param(True, "true", True, True, id="true is no text"),
        pytest.param("a", "b", True, True, id="texts"),
        pytest.param({"a": None}, {}, True, False, id="nothing and not there"),
        pytest.param({}, {"a": {}}, True, False, id="not there and empty"),
        pytest.param({}, {"a": 0}, True, False, id="not there and zero"),
        pytest.param({}, {"a": 1}, True, True, id="not there and something"),
        pytest.param({"a": 1}, {}, True, False, id="more than was asked for"),
        pytest.param([1, 2], [1], True, True, id="a longer list"),
        pytest.param({"a": [1]}, {"a": {"0": 1}}, True, True, id="a list and a mapping"),
    ],
)
def test_what_counts_as_a_difference_is_a_choice(before: Any, after: Any, strict: bool, loose: bool) -> None:
    assert bool(differences(before, after)) is strict
    assert bool(differences(before, after, LOOSE)) is loose


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param(
            [{"name": "side", "image": "b"}, {"name": "web", "image": "a"}],
            [{"name": "web", "image": "a"}],
            (Change((1,), {"name": "side", "image": "b"}, ABSENT),),
            id="one more, before the other",
        ),
        pytest.param(
            [{"name": "web", "image": "a"}],
            [{"name": "side", "image": "b"}, {"name": "web", "image": "c"}],
            (Change((0,), ABSENT, {"name": "side", "image": "b"}), Change((1, "image"), "a", "c")),
            id="one less, and a change",
        ),
        pytest.param(
            [{"port": 53, "protocol": "UDP", "x": 1}, {"port": 53, "x": 1}],
            [{"port": 53, "protocol": "TCP", "x": 1}],
            (Change((0, "protocol"), ABSENT, "TCP"), Change((1,), {"port": 53, "protocol": "UDP", "x": 1}, ABSENT)),
            id="a key of two, of which one was not written",
        ),
        pytest.param(
            [{"name": "a"}, {"name": "b"}],
            [{"name": "b"}, {"name": "a"}],
            (Change((), [{"name": "a"}, {"name": "b"}], [{"name": "b"}, {"name": "a"}]),),
            id="another order",
        ),
        pytest.param(
            [{"name": "a", "x": 1}, {"name": "a", "x": 2}],
            [{"name": "a", "x": 1}],
            (Change((1,), {"name": "a", "x": 2}, ABSENT),),
            id="a name that two have is no key",
        ),
    ],
)
def test_elements_that_have_a_key_are_compared_by_it(before: Any, after: Any, expected: tuple[Change, ...]) -> None:
    assert differences(before, after) == expected


def test_an_element_that_only_the_first_has_may_be_passed_over() -> None:
    assert differences([{"name": "side"}, {"name": "web"}], [{"name": "web"}], LOOSE) == ()


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", min_size=1, max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(VALUES, VALUES)
def test_the_changes_lead_from_one_to_the_other(before: Any, after: Any) -> None:
    assert differences(before, before) == ()
    assert differences(after, after, LOOSE) == ()
    back = [Change(each.path, each.after, each.before) for each in differences(after, before)]
    assert list(differences(before, after)) == back


def a_secret(**fields: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "it"}, **fields}


def test_a_secret_is_masked_and_still_seen_to_change() -> None:
    """Defect 6: also `stringData`, and the copy that kubectl keeps."""
    copy = {"kubectl.kubernetes.io/last-applied-configuration": '{"stringData": "hunter2"}'}
    before = a_secret(data={"a": "aHVudGVyMg==", "b": "c2FtZQ=="}, stringData={"c": "hunter2"})
    before["metadata"] = {"name": "it", "annotations": copy}
    after = a_secret(data={"a": "bmV3", "b": "c2FtZQ==", "d": "eA=="}, stringData={"c": "hunter3"})

    old, new = masked_pair(before, after)

    assert old is not None
    assert new is not None
    assert old["data"] == {"a": "***** (before)", "b": "*****"}
    assert new["data"] == {"a": "***** (after)", "b": "*****", "d": "*****"}
    assert (old["stringData"], new["stringData"]) == ({"c": "***** (before)"}, {"c": "***** (after)"})
    assert "hunter" not in repr((old, new))


@pytest.mark.parametrize("field", ["data", "stringData"])
@pytest.mark.parametrize("value", [{"a": "hunter2"}, "hunter2", ["hunter2"], {"a": {"b": "hunter2"}}])
def test_whatever_stands_in_a_secret_is_masked(field: str, value: Any) -> None:
    body = a_secret(**{field: value})

    assert "hunter2" not in repr((masked_pair(None, body), masked_pair(body, None), masked_pair(body, body)))


def test_what_is_no_secret_is_left_alone() -> None:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"}}

    assert masked_pair(body, None) == (body, None)


def test_yaml_is_the_same_whatever_the_order() -> None:
    one = {"spec": {"b": 1, "a": "x\ny\n"}, "kind": "K", "metadata": {"name": "n"}, "apiVersion": "v1"}
    other = {"apiVersion": "v1", "metadata": {"name": "n"}, "kind": "K", "spec": {"a": "x\ny\n", "b": 1}}

    expected = ["apiVersion: v1", "kind: K", "metadata:", "  name: n"]
    expected += ["spec:", "  a: |", "    x", "    y", "  b: 1"]
    assert yaml_lines(one) == yaml_lines(other) == expected


def test_changes_are_outlined_as_a_tree() -> None:
    image = ("spec", "template", "containers", 0, "image")
    changes = [Change(image, "a:1", "a:2"), Change(("spec", "replicas"), 2, 3), Change(("data", "x"), ABSENT, {"b": 1})]

    assert outline(changes).splitlines() == [
        "  data:",
        "    #data.x",
        "+   x:",
        "+     b: 1",
        "",
        "  spec:",
        "    #spec.replicas",
        "-   replicas: 2",
        "+   replicas: 3",
        "",
        "    template:",
        "      containers:",
        "        -",
        "          #spec.template.containers.0.image",
        "-         image: a:1",
        "+         image: a:2",
    ]


def test_the_values_of_an_outline_can_be_hidden() -> None:
    assert "hunter2" not in outline([Change(("data", "x"), "hunter2", {"y": "hunter2"})], mask=True)
