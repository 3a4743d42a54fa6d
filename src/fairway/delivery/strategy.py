"""All at once, or through the pipeline: which strategy a deployment uses, and why.

The first rule that has an answer decides:

    1. the strategy that was asked for        5. commitMatcher.pipeline
    2. no pipeline in the file: quick sync    6. commitMatcher.quickSync
    3. the agent lacks the platform, and no   7. nothing runs yet: quick sync
       stage needs it: pipeline               8. the plugins: the first that wants the pipeline,
    4. planner.alwaysUsePipeline                 else quick sync

Matchers are left out when a person asked for the deployment. Plugins are asked only when it comes to them; when
none of them can tell, the pipeline is used, because it is the careful one of the two.
"""

import enum

import msgspec

from fairway.config.application import ApplicationConfig
from fairway.config.stage_catalogue import STAGES
from fairway.model.trigger import SyncStrategy, Trigger


class StrategyOutcome(enum.Enum):
    """Whether the strategy is known."""

    #: It is.
    DECIDED = "decided"
    #: Ask the plugins of the application and decide again.
    ASK_PLUGINS = "ask_plugins"
    #: It cannot be known; the deployment fails.
    FAILED = "failed"


class PluginAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What one plugin says about the strategy."""

    plugin: str
    #: AUTO when the plugin cannot tell.
    strategy: SyncStrategy = SyncStrategy.AUTO
    summary: str = ""
    #: Why there is no answer; empty when the plugin answered.
    error: str = ""


class StrategyFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the decision needs to know."""

    trigger: Trigger
    config: ApplicationConfig
    #: Whether a deployment of this application has succeeded before.
    deployed_before: bool
    #: The plugins that the application names and its agent does not have.
    absent: tuple[str, ...] = ()
    #: In the order of the plugins; `None` before they were asked.
    answers: tuple[PluginAnswer, ...] | None = None


class StrategyDecision(msgspec.Struct, frozen=True, kw_only=True):
    """Which strategy a deployment uses."""

    outcome: StrategyOutcome
    reason: str
    strategy: SyncStrategy = SyncStrategy.AUTO


def decide_strategy(facts: StrategyFacts) -> StrategyDecision:
    """Which strategy one deployment uses."""
    asked = facts.trigger.sync_strategy
    if asked is SyncStrategy.PIPELINE and not facts.config.stages:
        return _failed("The pipeline was asked for, but the application's file has no pipeline.stages")
    alone = _stages_alone(facts)
    if asked is not SyncStrategy.AUTO:
        reason = facts.trigger.strategy_summary or f"{_words(asked)} was asked for"
        return _decided(asked, f"{reason}; {alone}" if alone and asked is SyncStrategy.PIPELINE else reason)
    if not facts.config.stages:
        return _decided(SyncStrategy.QUICK_SYNC, "Quick sync, because the application's file has no pipeline")
    if alone:
        return _decided(SyncStrategy.PIPELINE, f"Pipeline, because {alone}")
    if facts.config.planner.always_use_pipeline:
        return _decided(SyncStrategy.PIPELINE, "Pipeline, because planner.alwaysUsePipeline is set")
    by_message = None if facts.trigger.commander else _by_message(facts)
    if by_message is not None:
        return by_message
    if not facts.deployed_before:
        return _decided(SyncStrategy.QUICK_SYNC, "Quick sync, because nothing has been deployed successfully yet")
    if facts.answers is None:
        return StrategyDecision(outcome=StrategyOutcome.ASK_PLUGINS, reason="It depends on what has changed")
    return _by_plugins(facts.answers)


def _stages_alone(facts: StrategyFacts) -> str:
    """Why only the stages run; empty where the platform can do its part, or would be missed.

    It would be where one of the stages is its own, or where another plugin of the application is there: whoever wrote
    that one may wait for both.
    """
    absent = facts.absent
    needed = {STAGES[stage.name].plugin for stage in facts.config.stages if stage.name in STAGES}
    if not absent or set(facts.config.plugins) != set(absent) or needed & set(absent):
        return ""
    plugins = "plugin" if len(absent) == 1 else "plugins"
    return f"this agent has no {plugins} {' and '.join(absent)}, so only the stages of the pipeline run"


def _by_message(facts: StrategyFacts) -> StrategyDecision | None:
    matcher = facts.config.commit_matcher
    for name, expression, strategy in (
        ("pipeline", matcher.pipeline, SyncStrategy.PIPELINE),
        ("quickSync", matcher.quick_sync, SyncStrategy.QUICK_SYNC),
    ):
        if expression and expression.found_in(facts.trigger.commit.message):
            return _decided(strategy, f"{_words(strategy)}, because the commit message matches commitMatcher.{name}")
    return None


def _by_plugins(answers: tuple[PluginAnswer, ...]) -> StrategyDecision:
    told = [answer for answer in answers if not answer.error and answer.strategy is not SyncStrategy.AUTO]
    for answer in told:
        if answer.strategy is SyncStrategy.PIPELINE:
            return _decided(SyncStrategy.PIPELINE, answer.summary or f"Pipeline, because {answer.plugin} asks for it")
    errors = "; ".join(f"{answer.plugin}: {answer.error}" for answer in answers if answer.error)
    if told:
        reason = told[-1].summary or f"Quick sync, because {told[-1].plugin} finds it enough"
        return _decided(SyncStrategy.QUICK_SYNC, f"{reason} (no answer from {errors})" if errors else reason)
    reason = "Pipeline, the careful choice, because no plugin could tell"
    return _decided(SyncStrategy.PIPELINE, f"{reason} ({errors})" if errors else reason)


def _words(strategy: SyncStrategy) -> str:
    return "Quick sync" if strategy is SyncStrategy.QUICK_SYNC else "Pipeline"


def _decided(strategy: SyncStrategy, reason: str) -> StrategyDecision:
    return StrategyDecision(outcome=StrategyOutcome.DECIDED, strategy=strategy, reason=reason)


def _failed(reason: str) -> StrategyDecision:
    return StrategyDecision(outcome=StrategyOutcome.FAILED, reason=reason)
