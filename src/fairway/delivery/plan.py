"""The stages of a deployment, merged from what each plugin answers into one ordered plan.

Plugins are separate programs, so their answers are checked: a stage that was not asked for, is answered twice or
not at all fails the plan, with every such finding in the reason, before anything is deployed.

Ids are made from positions, so that planning again gives the same ids. Normal stages come first and each requires
the one before it; the rollback stands at the end, in the order it would run.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

import msgspec

from fairway.config.application import ApplicationConfig, Generation, StageConfig
from fairway.config.problems import did_you_mean
from fairway.config.stage_catalogue import STAGES
from fairway.delivery.owner import Serving, decide_owner, used_plugins
from fairway.delivery.paths import PathPatterns, PatternError
from fairway.delivery.rollback import (
    ROLLBACK,
    in_rollback_order,
    plan_undo_scripts,
    plan_v0_rollback,
    saying_what_it_undoes,
)
from fairway.model.artifact import ArtifactVersion
from fairway.model.plan import Plan
from fairway.model.stage import Stage, StageStatus
from fairway.model.trigger import SyncStrategy
from fairway.model.undoing import SCRIPT_RUN_ROLLBACK


class StageRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The stages that one plugin is asked to plan; none when it is asked for a quick sync."""

    plugin: str
    stages: tuple[StageConfig, ...] = ()


class RequestDecision(msgspec.Struct, frozen=True, kw_only=True):
    """Which plugins to ask, in which order; none when the deployment cannot be planned."""

    requests: tuple[StageRequest, ...]
    reason: str
    #: Whether a plugin that has not started may change the decision.
    unsettled: bool = False


class PluginStages(msgspec.Struct, frozen=True, kw_only=True):
    """What one plugin answered."""

    plugin: str
    stages: tuple[Stage, ...]


class PlanFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the decision needs to know."""

    config: ApplicationConfig
    #: Decided; never AUTO.
    strategy: SyncStrategy
    #: Why this strategy, in words.
    strategy_reason: str
    #: A person asked for this very strategy, so no other will do.
    strategy_was_asked_for: bool = False
    #: What each plugin was asked and what it answered, in the same order.
    requests: tuple[StageRequest, ...]
    answers: tuple[PluginStages, ...]
    serving: Serving
    versions: tuple[ArtifactVersion, ...] = ()
    #: The file of the last deployment that succeeded; None before the first.
    running_config: ApplicationConfig | None = None
    running_commit_hash: str = ""
    running_config_filename: str = ""


class PlanDecision(msgspec.Struct, frozen=True, kw_only=True):
    """The plan, or `None` and the reason why there is none."""

    plan: Plan | None
    reason: str
    #: Not this strategy, but that one: ask the plugins again with it.
    instead: SyncStrategy | None = None


def decide_requests(config: ApplicationConfig, strategy: SyncStrategy, serving: Serving) -> RequestDecision:
    """Which plugin plans which stages. A quick sync asks every plugin of the application for its own."""
    unknown = [stage for stage in config.stages if stage.name not in serving.of_stage]
    if unknown:
        return RequestDecision(requests=(), reason=_nobody_has(unknown, serving.of_stage), unsettled=True)
    by_plugin: dict[str, list[StageConfig]] = {}
    for stage in config.stages:
        owner = decide_owner(stage.name, config, serving)
        if not owner.plugin:
            reason = f"{owner.reason} (stage {stage.index + 1})"
            return RequestDecision(requests=(), reason=reason, unsettled=owner.unsettled)
        by_plugin.setdefault(owner.plugin, []).append(stage)
    quick = strategy is SyncStrategy.QUICK_SYNC
    # The platform may have no stage in the pipeline, as where scripts do it all; a quick sync is its alone.
    plugins = used_plugins(config, serving) if quick else tuple(by_plugin)
    if not plugins:
        reason = "The application names no plugin: write the plugin's settings under spec.plugins, or a pipeline"
        return RequestDecision(requests=(), reason=reason)
    requests = tuple(
        StageRequest(plugin=plugin, stages=() if quick else tuple(by_plugin.get(plugin, ()))) for plugin in plugins
    )
    return RequestDecision(requests=requests, reason=f"{', '.join(plugins)} plan this application")


def _nobody_has(unknown: Sequence[StageConfig], plugins_of_stage: Mapping[str, Sequence[str]]) -> str:
    """What the agent lacks, and what to do: a stage of a plugin that is not there is not misspelt."""
    lacking = dict.fromkeys(STAGES[stage.name].plugin for stage in unknown if stage.name in STAGES)
    unheard_of = [stage.name for stage in unknown if stage.name not in STAGES]
    meant = {name: did_you_mean(name, plugins_of_stage) for name in unheard_of}
    names = ", ".join(f"{stage.name} (stage {stage.index + 1}{meant.get(stage.name, '')})" for stage in unknown)
    known = f"; it has {', '.join(sorted(plugins_of_stage)) or 'none'}" if unheard_of else ""
    remedy = f"; add the plugin {' and '.join(lacking)} to the agent's file" if lacking else ""
    return f"No plugin of this agent has {names}{known}{remedy}"


def decide_plan(facts: PlanFacts, now: datetime) -> PlanDecision:
    """One plan from all answers."""
    pipeline = facts.strategy is SyncStrategy.PIPELINE
    problems = [*facts.config.impossible, *_skip_problems(facts.config.stages)] if pipeline else []
    problems += [*_pipeline_problems(facts), *_undo_problems(facts)] if pipeline else []
    if problems:
        return PlanDecision(plan=None, reason="Planning failed: " + "; ".join(problems))
    normal = [stage for answer in facts.answers for stage in answer.stages if not stage.is_rollback]
    if pipeline:
        normal.sort(key=lambda stage: stage.index)
    if not normal:
        return _without_stages(facts)
    normal = _chained(_named(normal, facts))
    rollback = (saying_what_it_undoes(stage, normal) for stage in _rollback(normal, facts, now))
    stages = tuple(_fresh(stage, now) for stage in (*normal, *rollback))
    twice = [id for id, count in Counter(stage.id for stage in stages).items() if count > 1]
    if twice:
        reason = f"Planning failed: more than one stage has the id {', '.join(twice)}; give each its own"
        return PlanDecision(plan=None, reason=reason)
    plan = Plan(
        sync_strategy=facts.strategy,
        summary="; ".join((facts.strategy_reason, *_lost_safety(facts))),
        reason="The deployment has been planned",
        stages=stages,
        versions=facts.versions or (ArtifactVersion(version="unknown"),),
        running_commit_hash=facts.running_commit_hash,
        running_config_filename=facts.running_config_filename,
    )
    return PlanDecision(plan=plan, reason=facts.strategy_reason)


def _lost_safety(facts: PlanFacts) -> Iterator[str]:
    """What an author may have removed by mistake, and the summary therefore says."""
    config, before = facts.config, facts.running_config
    if before is not None and before.stages and not config.stages:
        count = f"{len(before.stages)} stage{'s' if len(before.stages) > 1 else ''}"
        yield f"the pipeline of the last deployment ({count}) is gone: quick sync to 100 %"
    if config.allows_unknown_fields:
        ignored = ", ".join(config.ignored_fields) or "none in this file"
        yield f"the agent allows unknown fields (allowUnknownFields); ignored: {ignored}"


def _without_stages(facts: PlanFacts) -> PlanDecision:
    """No plugin had anything to do. Where only scripts deploy, nothing knows a quick sync, and the pipeline runs."""
    if facts.config.stages and not facts.strategy_was_asked_for:
        reason = "Pipeline, because no plugin of this application has a quick sync"
        return PlanDecision(plan=None, reason=reason, instead=SyncStrategy.PIPELINE)
    return PlanDecision(plan=None, reason="Planning failed: the plugins answered with no stage at all")


def _skip_problems(stages: Sequence[StageConfig]) -> list[str]:
    """Patterns that mean nothing are found now, rather than in the middle of the deployment."""
    problems = []
    for stage in stages:
        try:
            PathPatterns(stage.skip_on.paths)
        except PatternError as error:
            problems.append(f"skipOn.paths of stage {stage.index + 1} ({stage.name}): {error}")
    return problems


def _pipeline_problems(facts: PlanFacts) -> list[str]:
    problems: list[str] = []
    for request, answer in zip(facts.requests, facts.answers, strict=True):
        asked = {stage.index: stage.name for stage in request.stages}
        forward = Counter(stage.index for stage in answer.stages if not stage.is_rollback)
        undoing = Counter(stage.index for stage in answer.stages if stage.is_rollback)
        who = f"plugin {request.plugin}"
        for index in sorted({*forward, *undoing} - set(asked)):
            problems.append(f"{who} answered with stage {index + 1}, which it was not asked for")
        for index, name in asked.items():
            stage = f"stage {index + 1} ({name})"
            if forward[index] != 1:
                count = "no stage" if not forward[index] else f"{forward[index]} stages"
                problems.append(f"{who} answered with {count} for {stage}; one was expected")
            if undoing[index] > 1:
                problems.append(f"{who} answered with {undoing[index]} rollbacks for {stage}")
    return problems


def _undo_problems(facts: PlanFacts) -> list[str]:
    """A stage with `onRollback` that nobody could undo is found now, rather than when it is to be undone."""
    undone = [f"{stage.index + 1} ({stage.name})" for stage in facts.config.stages if stage.undo]
    owner = decide_owner(SCRIPT_RUN_ROLLBACK, facts.config, facts.serving)
    if not undone or owner.plugin:
        return []
    which = f"stage {undone[0]} has" if len(undone) == 1 else f"stages {', '.join(undone)} have"
    what = f"{which} onRollback, which is run by the stage {SCRIPT_RUN_ROLLBACK}. {owner.reason}"
    remedy = "add the plugin scriptrun (url builtin:scriptrun) to the agent's file, or take onRollback away"
    return [what if SCRIPT_RUN_ROLLBACK in facts.serving.of_stage else f"{what}; {remedy}"]


def _named(normal: Sequence[Stage], facts: PlanFacts) -> list[Stage]:
    """The stages with their ids: the file's where it gives one, else made from the position."""
    if facts.strategy is SyncStrategy.QUICK_SYNC:
        return [msgspec.structs.replace(stage, id=f"sync-{n}") for n, stage in enumerate(normal)]
    written = {stage.index: stage.id for stage in facts.config.stages}
    return [msgspec.structs.replace(each, id=written[each.index] or f"stage-{each.index}") for each in normal]


def _chained(stages: Sequence[Stage]) -> list[Stage]:
    before: tuple[str, ...] = ()
    chained = []
    for stage in stages:
        chained.append(msgspec.structs.replace(stage, requires=before))
        before = (stage.id,)
    return chained


def _fresh(stage: Stage, now: datetime) -> Stage:
    """Plugins have clocks of their own, and some leave the times out; a plan has one time."""
    return msgspec.structs.replace(
        stage, status=StageStatus.NOT_STARTED, created_at=now, updated_at=now, completed_at=None
    )


def _rollback(normal: Sequence[Stage], facts: PlanFacts, now: datetime) -> list[Stage]:
    answered = [stage for answer in facts.answers for stage in answer.stages if stage.is_rollback]
    pipeline = facts.config.stages if facts.strategy is SyncStrategy.PIPELINE else ()
    ids = [stage.id for stage in normal][: len(pipeline)]
    if facts.config.generation is Generation.V0 and not answered:
        planned = plan_v0_rollback(pipeline, ids, now)
        # Where no plugin of the application has anything to undo, there may be nobody who knows how to; another
        # platform's plugin certainly does not.
        others = not set(facts.serving.of_stage.get(ROLLBACK, ())) & set(facts.config.plugins)
        unknown = {ROLLBACK} if others else set()
        return [stage for stage in planned if stage.name in facts.serving.of_stage and stage.name not in unknown]
    ordered = in_rollback_order([*answered, *plan_undo_scripts(pipeline, ids, now)])
    return [msgspec.structs.replace(stage, id=f"rollback-{n}", requires=()) for n, stage in enumerate(ordered)]
