"""Pipelines of Kubernetes that can never end well."""

from typing import Any

import pytest

from fairway.config.application import ApplicationConfig
from fairway.config.problems import Severity
from fairway.config.read import Reading
from tests.unit.config.test_compatibility import read

CANARY, BASELINE = {"name": "K8S_CANARY_ROLLOUT"}, {"name": "K8S_BASELINE_ROLLOUT"}
CANARY_CLEAN = {"name": "K8S_CANARY_CLEAN"}
SPLIT = (
    "sends Primary: 50%, Canary: 50%, Baseline: 0%, but a Service selects the primary or the canary; "
    "write `all: primary` or `all: canary`, or set trafficRouting.method to istio or smi"
)
SAME = "is 'new', as that of stage 1 (K8S_CANARY_ROLLOUT) is; expected another, because both are there at once"


def routing(**shares: Any) -> dict[str, Any]:
    return {"name": "K8S_TRAFFIC_ROUTING", "with": shares}


def called(stage: dict[str, Any], suffix: str) -> dict[str, Any]:
    return {**stage, "with": {"suffix": suffix}}


def a_pipeline(*stages: dict[str, Any], **spec: Any) -> Reading:
    return read("KubernetesApp", {"pipeline": {"stages": list(stages)}, **spec})


def warnings(reading: Reading) -> list[str]:
    return [each.message for each in reading.problems if each.severity is Severity.WARNING]


@pytest.mark.parametrize(
    ("reading", "said"),
    [
        pytest.param(a_pipeline(CANARY, routing(canary=50)), [SPLIT], id="a split by a selector"),
        pytest.param(
            a_pipeline(routing(all="baseline")),
            [SPLIT.replace("Primary: 50%, Canary: 50%, Baseline: 0%", "Primary: 0%, Canary: 0%, Baseline: 100%")],
            id="all to the baseline by a selector",
        ),
        pytest.param(a_pipeline(routing(all="canary"), routing(canary=100), routing(canary=0)), [], id="one gets all"),
        pytest.param(
            a_pipeline(routing(canary=50), trafficRouting={"method": "istio", "istio": {"host": "web"}}),
            [],
            id="a split by a mesh",
        ),
        pytest.param(a_pipeline(called(CANARY, "new"), called(BASELINE, "new")), [SAME], id="one suffix for both"),
        pytest.param(
            a_pipeline(called(CANARY, "new"), CANARY_CLEAN, called(BASELINE, "new")), [], id="one after the other"
        ),
        pytest.param(a_pipeline(CANARY, BASELINE, CANARY), [], id="each with its own"),
        pytest.param(
            read("Application", {"pipeline": {"stages": [routing(canary=50)]}, "plugins": {"kubernetes": {}}}),
            [SPLIT],
            id="the newer generation",
        ),
        pytest.param(
            read("Application", {"pipeline": {"stages": [routing(canary=50)]}, "plugins": {"mine": {}}}),
            [],
            id="a plugin whose settings nobody knows",
        ),
    ],
)
def test_what_can_never_end_well_is_told_and_the_file_is_read_all_the_same(reading: Reading, said: list[str]) -> None:
    """What runs may have such a pipeline, which a quick sync never used; it must stay readable."""
    assert isinstance(reading.config, ApplicationConfig)
    assert (warnings(reading), [each.split(": ", 1)[1] for each in reading.config.impossible]) == (said, said)
