"""Who manages which field, when kubectl's become ours."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.plugins.kubernetes.applying.adoption import can_be_taken_over, is_by_hand, taken_over


def an_entry(manager: str, fields: dict[str, Any], operation: str = "Update", **more: Any) -> dict[str, Any]:
    return {"manager": manager, "operation": operation, "apiVersion": "apps/v1", "fieldsV1": fields, **more}


A: dict[str, Any] = {"f:spec": {"f:a": {}}}
B: dict[str, Any] = {"f:spec": {"f:b": {}}}


def test_what_kubectl_has_applied_becomes_ours() -> None:
    status = an_entry("kube-controller-manager", {"f:status": {}}, subresource="status")

    made = taken_over([an_entry("kubectl-client-side-apply", A), status])

    assert made == [an_entry("fairway", A, "Apply"), status]


def test_what_was_ours_already_stays_ours() -> None:
    made = taken_over([an_entry("fairway", A, "Apply"), an_entry("kubectl-client-side-apply", B)])

    assert made == [an_entry("fairway", {"f:spec": {"f:a": {}, "f:b": {}}}, "Apply")]


def test_what_we_have_replaced_becomes_what_we_apply() -> None:
    assert taken_over([an_entry("fairway", A)]) == [an_entry("fairway", A, "Apply")]


def test_fields_of_two_versions_are_not_put_together() -> None:
    made = taken_over([an_entry("fairway", A, "Apply"), an_entry("kubectl", B, apiVersion="apps/v1beta1")])

    assert made == [an_entry("fairway", A, "Apply")]


@pytest.mark.parametrize(
    ("entry", "can"),
    [
        pytest.param(an_entry("kubectl-client-side-apply", A), True, id="applied by kubectl"),
        pytest.param(an_entry("kubectl", A, "Apply"), True, id="applied by kubectl at the server"),
        pytest.param(an_entry("kubectl", A, subresource="scale"), False, id="scaled by kubectl"),
        pytest.param(an_entry("kubectl-edit", A), False, id="edited by hand"),
        pytest.param(an_entry("fairway", A, "Apply"), False, id="ours"),
        pytest.param(an_entry("helm", A), False, id="somebody else's"),
    ],
)
def test_only_what_kubectl_applies_as_a_whole_is_taken_over(entry: dict[str, Any], can: bool) -> None:
    assert can_be_taken_over([entry]) is can


@pytest.mark.parametrize(
    ("manager", "by_hand"),
    [("kubectl-edit", True), ("kubectl", True), ("kube-controller-manager", False), ("helm", False)],
)
def test_people_use_kubectl(manager: str, by_hand: bool) -> None:
    assert is_by_hand(manager) is by_hand


_MANAGERS = st.sampled_from(["kubectl-client-side-apply", "kubectl", "fairway", "helm", "kubectl-edit"])
_ENTRIES = st.builds(an_entry, _MANAGERS, st.sampled_from([A, B]), st.sampled_from(["Update", "Apply"]))


@given(st.lists(_ENTRIES, max_size=6))
def test_afterwards_nothing_is_left_to_take_over_and_others_keep_theirs(entries: list[dict[str, Any]]) -> None:
    made = taken_over(entries)

    assert not can_be_taken_over(made)
    others = [each for each in entries if each["manager"] in ("helm", "kubectl-edit")]
    assert [each for each in made if each["manager"] != "fairway"] == others
    assert len([each for each in made if each["manager"] == "fairway"]) <= 1
