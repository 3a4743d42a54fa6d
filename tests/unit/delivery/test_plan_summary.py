"""The summary of a plan says which safety a file has lost."""

from typing import Any

import msgspec
import pytest

from fairway.delivery.owner import Serving
from fairway.delivery.plan import PlanFacts, PluginStages, StageRequest, decide_plan
from fairway.model.trigger import SyncStrategy
from tests.unit.delivery.builders import a_config, a_pipeline
from tests.unit.model.builders import LATER, a_stage

CANARY, PRIMARY = a_pipeline("K8S_CANARY_ROLLOUT", "K8S_PRIMARY_ROLLOUT")


def quick_facts(**fields: Any) -> PlanFacts:
    return PlanFacts(
        **{
            "config": a_config(),
            "strategy": SyncStrategy.QUICK_SYNC,
            "strategy_reason": "Quick sync, because the application's file has no pipeline",
            "serving": Serving(of_stage={}),
            "requests": (StageRequest(plugin="kubernetes"),),
            "answers": (PluginStages(plugin="kubernetes", stages=(a_stage("", name="K8S_SYNC"),)),),
            **fields,
        }
    )


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        pytest.param({}, "", id="a first deployment"),
        pytest.param({"running_config": a_config()}, "", id="there was no pipeline"),
        pytest.param(
            {"running_config": a_config(CANARY, PRIMARY)},
            "; the pipeline of the last deployment (2 stages) is gone: quick sync to 100 %",
            id="the pipeline disappeared",
        ),
        pytest.param(
            {"config": msgspec.structs.replace(a_config(), allows_unknown_fields=True)},
            "; the agent allows unknown fields (allowUnknownFields); ignored: none in this file",
            id="unknown fields are allowed",
        ),
        pytest.param(
            {
                "config": msgspec.structs.replace(
                    a_config(), allows_unknown_fields=True, ignored_fields=("spec.piepline",)
                )
            },
            "; the agent allows unknown fields (allowUnknownFields); ignored: spec.piepline",
            id="an unknown field was ignored",
        ),
    ],
)
def test_the_summary_says_which_safety_is_gone(fields: dict[str, Any], said: str) -> None:
    facts = quick_facts(**fields)

    plan = decide_plan(facts, LATER).plan

    assert plan is not None
    assert plan.summary == f"{facts.strategy_reason}{said}"
