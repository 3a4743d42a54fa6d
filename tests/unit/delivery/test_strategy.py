"""All at once or through the pipeline: the order of the rules."""

from typing import Any

import pytest

from fairway.config.application import ApplicationConfig, CommitMatcher, Generation, Planner
from fairway.config.regex import Regex
from fairway.delivery.strategy import PluginAnswer, StrategyDecision, StrategyFacts, StrategyOutcome, decide_strategy
from fairway.model.trigger import SyncStrategy
from tests.unit.delivery.builders import a_config, a_pipeline
from tests.unit.model.builders import a_commit, a_trigger

QUICK, PIPELINE, AUTO = SyncStrategy.QUICK_SYNC, SyncStrategy.PIPELINE, SyncStrategy.AUTO
STAGES = a_pipeline("K8S_CANARY_ROLLOUT", "K8S_PRIMARY_ROLLOUT")
BOTH_MATCH = CommitMatcher(pipeline=Regex("^Say"), quick_sync=Regex("hello$"))


def facts(
    *, asked: SyncStrategy = AUTO, commander: str = "", message: str = "Say hello", **fields: Any
) -> StrategyFacts:
    trigger = a_trigger(sync_strategy=asked, commander=commander, commit=a_commit(message=message))
    known: dict[str, Any] = {"trigger": trigger, "config": a_config(*STAGES), "deployed_before": True}
    return StrategyFacts(**{**known, **fields})


def decided(strategy: SyncStrategy, reason: str) -> StrategyDecision:
    return StrategyDecision(outcome=StrategyOutcome.DECIDED, strategy=strategy, reason=reason)


@pytest.mark.parametrize("generation", Generation)
@pytest.mark.parametrize(
    ("known", "settings", "decision"),
    [
        pytest.param({"asked": QUICK}, {}, decided(QUICK, "Quick sync was asked for"), id="asked for quick sync"),
        pytest.param({"asked": PIPELINE}, {}, decided(PIPELINE, "Pipeline was asked for"), id="asked for pipeline"),
        pytest.param(
            {},
            {"stages": (), "planner": Planner(always_use_pipeline=True)},
            decided(QUICK, "Quick sync, because the application's file has no pipeline"),
            id="no pipeline",
        ),
        pytest.param(
            {"deployed_before": False},
            {"planner": Planner(always_use_pipeline=True), "commit_matcher": BOTH_MATCH},
            decided(PIPELINE, "Pipeline, because planner.alwaysUsePipeline is set"),
            id="always the pipeline",
        ),
        pytest.param(
            {"deployed_before": False},
            {"commit_matcher": BOTH_MATCH},
            decided(PIPELINE, "Pipeline, because the commit message matches commitMatcher.pipeline"),
            id="both matchers match",
        ),
        pytest.param(
            {},
            {"commit_matcher": CommitMatcher(pipeline=Regex("^hello"), quick_sync=Regex("hello$"))},
            decided(QUICK, "Quick sync, because the commit message matches commitMatcher.quickSync"),
            id="the quick sync matcher matches",
        ),
        pytest.param(
            {"commander": "ada", "deployed_before": False},
            {"commit_matcher": BOTH_MATCH},
            decided(QUICK, "Quick sync, because nothing has been deployed successfully yet"),
            id="matchers do not apply to commands",
        ),
    ],
)
def test_the_first_rule_with_an_answer_decides(
    generation: Generation, known: dict[str, Any], settings: dict[str, Any], decision: StrategyDecision
) -> None:
    config = a_config(**{"stages": STAGES, "generation": generation, **settings})

    assert decide_strategy(facts(config=config, **known)) == decision


def test_the_words_of_whoever_asked_are_kept() -> None:
    trigger = a_trigger(sync_strategy=QUICK, strategy_summary="To resolve the drift")

    assert decide_strategy(facts(trigger=trigger)) == decided(QUICK, "To resolve the drift")


def test_plugins_are_asked_only_when_it_comes_to_them() -> None:
    expected = StrategyDecision(outcome=StrategyOutcome.ASK_PLUGINS, reason="It depends on what has changed")

    assert decide_strategy(facts()) == expected


K8S_QUICK = PluginAnswer(plugin="kubernetes", strategy=QUICK, summary="Quick sync, only replicas changed")
TF_PIPELINE = PluginAnswer(plugin="terraform", strategy=PIPELINE)
WAIT_UNSUPPORTED = PluginAnswer(plugin="wait")
BROKEN = PluginAnswer(plugin="ecs", strategy=QUICK, error="timed out")


@pytest.mark.parametrize(
    ("answers", "decision"),
    [
        pytest.param([K8S_QUICK, TF_PIPELINE], decided(PIPELINE, "Pipeline, because terraform asks for it"), id="one"),
        pytest.param([WAIT_UNSUPPORTED, K8S_QUICK], decided(QUICK, "Quick sync, only replicas changed"), id="quick"),
        pytest.param(
            [K8S_QUICK, BROKEN],
            decided(QUICK, "Quick sync, only replicas changed (no answer from ecs: timed out)"),
            id="one broken",
        ),
        pytest.param(
            [WAIT_UNSUPPORTED],
            decided(PIPELINE, "Pipeline, the careful choice, because no plugin could tell"),
            id="none supports it",
        ),
        pytest.param(
            [BROKEN],
            decided(PIPELINE, "Pipeline, the careful choice, because no plugin could tell (ecs: timed out)"),
            id="all broken",
        ),
        pytest.param(
            [], decided(PIPELINE, "Pipeline, the careful choice, because no plugin could tell"), id="no plugin"
        ),
    ],
)
def test_the_first_plugin_that_wants_the_pipeline_gets_it(
    answers: list[PluginAnswer], decision: StrategyDecision
) -> None:
    assert decide_strategy(facts(answers=tuple(answers))) == decision


def test_a_pipeline_that_does_not_exist_cannot_be_asked_for() -> None:
    decision = decide_strategy(facts(asked=PIPELINE, config=a_config()))

    reason = "The pipeline was asked for, but the application's file has no pipeline.stages"
    assert decision == StrategyDecision(outcome=StrategyOutcome.FAILED, reason=reason)


SCRIPTS = a_pipeline("SCRIPT_RUN", "WAIT")
LAMBDA = {"generation": Generation.V0, "kind": "LambdaApp", "plugins": {"lambda": {}}}
ONLY_STAGES = "this agent has no plugin lambda, so only the stages of the pipeline run"


@pytest.mark.parametrize(
    ("known", "settings", "reason"),
    [
        pytest.param({"deployed_before": False}, {}, f"Pipeline, because {ONLY_STAGES}", id="a first deployment"),
        pytest.param({}, {}, f"Pipeline, because {ONLY_STAGES}", id="a later one, of which no plugin is asked"),
        pytest.param(
            {},
            {"commit_matcher": CommitMatcher(quick_sync=Regex("hello$"))},
            f"Pipeline, because {ONLY_STAGES}",
            id="the commit asks for a quick sync",
        ),
        pytest.param(
            {},
            {"planner": Planner(always_use_pipeline=True)},
            f"Pipeline, because {ONLY_STAGES}",
            id="always the pipeline",
        ),
        pytest.param({"asked": PIPELINE}, {}, f"Pipeline was asked for; {ONLY_STAGES}", id="asked for the pipeline"),
    ],
)
def test_where_the_agent_lacks_the_platform_and_no_stage_needs_it_the_stages_run(
    known: dict[str, Any], settings: dict[str, Any], reason: str
) -> None:
    config = a_config(*SCRIPTS, **LAMBDA, **settings)

    assert decide_strategy(facts(config=config, absent=("lambda",), **known)) == decided(PIPELINE, reason)


@pytest.mark.parametrize(
    ("config", "asked", "decision"),
    [
        pytest.param(
            a_config(*SCRIPTS, **LAMBDA), QUICK, decided(QUICK, "Quick sync was asked for"), id="a quick sync asked for"
        ),
        pytest.param(
            a_config(**LAMBDA),
            AUTO,
            decided(QUICK, "Quick sync, because the application's file has no pipeline"),
            id="no pipeline",
        ),
        pytest.param(
            a_config(*a_pipeline("SCRIPT_RUN", "LAMBDA_SYNC"), **LAMBDA),
            AUTO,
            decided(QUICK, "Quick sync, because nothing has been deployed successfully yet"),
            id="a stage needs it",
        ),
        pytest.param(
            a_config(*SCRIPTS, plugins={"lambda": {}, "kubernetes": {}}),
            AUTO,
            decided(QUICK, "Quick sync, because nothing has been deployed successfully yet"),
            id="another plugin of the application is there",
        ),
    ],
)
def test_what_only_the_platform_could_do_is_not_left_out(
    config: ApplicationConfig, asked: SyncStrategy, decision: StrategyDecision
) -> None:
    known = facts(config=config, asked=asked, deployed_before=False, absent=("lambda",))

    assert decide_strategy(known) == decision
