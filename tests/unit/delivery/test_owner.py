"""Which plugin serves a stage."""

import pytest

from fairway.delivery.owner import OwnerDecision, decide_owner
from tests.unit.delivery.builders import a_config

SERVING = {"WAIT": ("wait",), "K8S_SYNC": ("kube-1", "kube-2")}


@pytest.mark.parametrize(
    ("stage", "listed", "expected"),
    [
        pytest.param("WAIT", [], OwnerDecision(plugin="wait", reason="wait has WAIT"), id="the only one"),
        pytest.param(
            "K8S_SYNC",
            ["kube-2", "wait"],
            OwnerDecision(plugin="kube-2", reason="kube-2 has K8S_SYNC"),
            id="the one of two that is listed",
        ),
        pytest.param("ECS_SYNC", [], OwnerDecision(reason="No plugin of this agent has ECS_SYNC"), id="nobody"),
    ],
)
def test_the_plugin_of_a_stage(stage: str, listed: list[str], expected: OwnerDecision) -> None:
    assert decide_owner(stage, a_config(plugins={name: {} for name in listed}), SERVING) == expected


@pytest.mark.parametrize(
    "listed", [pytest.param([], id="none is listed"), pytest.param(["kube-1", "kube-2"], id="both are listed")]
)
def test_of_two_plugins_none_is_chosen_unless_the_application_says_which(listed: list[str]) -> None:
    decision = decide_owner("K8S_SYNC", a_config(plugins={name: {} for name in listed}), SERVING)

    assert decision == OwnerDecision(
        reason="Plugins kube-1 and kube-2 both have K8S_SYNC; "
        "list exactly one of them under spec.plugins of the application"
    )
