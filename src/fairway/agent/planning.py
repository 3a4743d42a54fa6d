"""Settles what a deployment will do: asks the plugins what `delivery` wants to know, and lets it decide.

Nothing here waits for ever or stays silent: whatever goes wrong becomes the reason of a failed plan, except where the
plugin's process is away, which is worth another try and is raised.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

import msgspec

from fairway.agent.masking import Opened, opened_in
from fairway.agent.plugins.client import PluginClient, PluginGone, PluginRefused, Sources
from fairway.config.application import ApplicationConfig
from fairway.config.built_in import ALWAYS
from fairway.delivery.owner import Serving, decide_owner, used_plugins
from fairway.delivery.plan import (
    PlanDecision,
    PlanFacts,
    PluginStages,
    RequestDecision,
    StageRequest,
    decide_plan,
    decide_requests,
)
from fairway.delivery.strategy import PluginAnswer, StrategyDecision, StrategyFacts, StrategyOutcome, decide_strategy
from fairway.delivery.targets import Placed, lacking
from fairway.model.artifact import ArtifactVersion
from fairway.model.deployment import Deployment
from fairway.model.limits import REASON, cut
from fairway.model.trigger import SyncStrategy


class Plugins(Protocol):
    """The plugins of an agent, by what they are needed for."""

    @property
    def plugins_of_stage(self) -> Mapping[str, Sequence[str]]:
        """Stage name → the plugins that serve it."""
        ...

    @property
    def silent(self) -> Sequence[str]:
        """The plugins that are starting and have never named their stages."""
        ...

    def missing(self) -> str:
        """Which plugins have not started, and why; empty when all have. PluginGone while that may change soon."""
        ...

    async def settled(self) -> None:
        """Wait until each plugin has answered, or has failed to start several times."""
        ...

    def client(self, name: str) -> PluginClient:
        """The plugin of that name; PluginRefused when this agent has none."""
        ...

    async def reached(self, name: str) -> PluginClient:
        """The plugin as it was last seen; one that is starting once it answers, PluginGone when it does not."""
        ...

    async def back(self, name: str) -> PluginClient:
        """The plugin once its process answers again; PluginGone when it does not come back."""
        ...


class Planning(msgspec.Struct, frozen=True, kw_only=True):
    """What a plan is made from."""

    deployment: Deployment
    config: ApplicationConfig
    #: Its files, and those of what runs: they may still be being written, and most questions are not about them.
    sources: asyncio.Future[Sources]
    plugins: Plugins
    #: What ran until now; empty on a first deployment.
    running_config: ApplicationConfig | None = None
    running_commit: str = ""
    running_config_filename: str = ""


def serving_for(placed: Placed, plugins: Plugins) -> Serving:
    """What is known of the plugins that may serve an application, or a deployment of one."""
    return Serving(
        of_stage=plugins.plugins_of_stage, targets=tuple(placed.deploy_targets_by_plugin), silent=plugins.silent
    )


class Served(Protocol):
    """What a running deployment knows of its file and of the plugins."""

    @property
    def config(self) -> ApplicationConfig:
        """Its application's file."""
        ...

    @property
    def plugins(self) -> Plugins:
        """The plugins of its agent."""
        ...


async def plugin_of_stage(stage: str, served: Served, placed: Placed) -> str:
    """The plugin of a stage that runs; waits for plugins that are starting. PluginRefused when no plugin has it."""
    if decide_owner(stage, served.config, serving_for(placed, served.plugins)).unsettled:
        await served.plugins.settled()
    owner = decide_owner(stage, served.config, serving_for(placed, served.plugins))
    if not owner.plugin:
        raise PluginRefused(owner.reason)
    return owner.plugin


def plugins_used(planning: Planning) -> tuple[str, ...]:
    """The plugins that a deployment is planned with; those that are absent are left out where the stages run alone."""
    used = used_plugins(planning.config, serving_for(planning.deployment, planning.plugins))
    absent = absent_plugins(planning.config, planning.plugins)
    return tuple(each for each in used if each not in absent) if absent == tuple(planning.config.plugins) else used


def plugins_with_live_state(placed: Placed, config: ApplicationConfig, plugins: Plugins) -> tuple[str, ...]:
    """The plugins that may know what runs. An absent plugin is left out where other plugins have all the stages."""
    serving = serving_for(placed, plugins)
    complete = config.stages and all(decide_owner(each.name, config, serving).plugin for each in config.stages)
    absent = absent_plugins(config, plugins) if complete else ()
    return tuple(each for each in used_plugins(config, serving) if each not in {*ALWAYS, *absent})


async def plan_deployment(planning: Planning, now: datetime) -> PlanDecision:
    """The plan, or the reason why there is none."""
    try:
        if unplaced := _unplaced(planning):
            return PlanDecision(plan=None, reason=f"Planning failed: {unplaced}")
        strategy = await _strategy(planning)
        if strategy.outcome is StrategyOutcome.FAILED:
            return PlanDecision(plan=None, reason=strategy.reason)
        decision = await _planned(planning, strategy, now)
        if decision.plan is None and decision.instead is not None:
            other = msgspec.structs.replace(strategy, strategy=decision.instead, reason=decision.reason)
            decision = await _planned(planning, other, now)
    except PluginRefused as error:
        return PlanDecision(plan=None, reason=f"Planning failed: {error}")
    return decision


def absent_plugins(config: ApplicationConfig, plugins: Plugins) -> tuple[str, ...]:
    """The plugins that the application names and this agent does not have; one that does not start is not absent."""
    return tuple(name for name in config.plugins if _is_absent(name, plugins))


def _is_absent(name: str, plugins: Plugins) -> bool:
    try:
        plugins.client(name)
    except PluginRefused:
        return True
    except PluginGone:
        return False
    return False


async def _strategy(planning: Planning) -> StrategyDecision:
    facts = StrategyFacts(
        trigger=planning.deployment.trigger,
        config=planning.config,
        deployed_before=bool(planning.running_commit),
        absent=absent_plugins(planning.config, planning.plugins),
    )
    decision = decide_strategy(facts)
    if decision.outcome is not StrategyOutcome.ASK_PLUGINS:
        return decision
    asked = _requests(planning, SyncStrategy.QUICK_SYNC)
    clients = [planning.plugins.client(request.plugin) for request in asked.requests]
    sources = await planning.sources
    answers = [await client.strategy(planning.deployment, sources) for client in clients]
    opened = opened_in(sources.target, sources.running)
    return decide_strategy(msgspec.structs.replace(facts, answers=tuple(_masked(each, opened) for each in answers)))


def _masked(answer: PluginAnswer, opened: Opened) -> PluginAnswer:
    """The answer of a plugin that has read the files, without secrets; a long text is cut."""
    summary, error = (cut(opened.masked(each), REASON) for each in (answer.summary, answer.error))
    return msgspec.structs.replace(answer, summary=summary, error=error)


async def _planned(planning: Planning, strategy: StrategyDecision, now: datetime) -> PlanDecision:
    asked = _requests(planning, strategy.strategy)
    if not asked.requests:
        return PlanDecision(plan=None, reason=asked.reason)
    # Side by side: what they answer does not depend on one another.
    answers, versions = await asyncio.gather(
        asyncio.gather(*(_stages(planning, each) for each in asked.requests)), _versions(planning, asked.requests)
    )
    if unowned := _unowned(planning, answers):
        return PlanDecision(plan=None, reason=f"Planning failed: {unowned}")
    facts = PlanFacts(
        config=planning.config,
        strategy=strategy.strategy,
        strategy_reason=strategy.reason,
        strategy_was_asked_for=planning.deployment.trigger.sync_strategy is not SyncStrategy.AUTO,
        requests=asked.requests,
        answers=tuple(answers),
        serving=serving_for(planning.deployment, planning.plugins),
        versions=versions,
        running_config=planning.running_config,
        running_commit_hash=planning.running_commit,
        running_config_filename=planning.running_config_filename,
    )
    return decide_plan(facts, now)


def _requests(planning: Planning, strategy: SyncStrategy) -> RequestDecision:
    decision = decide_requests(planning.config, strategy, serving_for(planning.deployment, planning.plugins))
    if decision.unsettled and (missing := planning.plugins.missing()):
        return RequestDecision(requests=(), reason=f"{decision.reason}. {missing}")
    return decision


def _unplaced(planning: Planning) -> str:
    """Why it cannot be told where the deployment goes; whatever is asked of a plugin may be about that."""
    serving = serving_for(planning.deployment, planning.plugins)
    both = (SyncStrategy.QUICK_SYNC, SyncStrategy.PIPELINE)
    decisions = (decide_requests(planning.config, each, serving) for each in both)
    asked = dict.fromkeys(each.plugin for decision in decisions for each in decision.requests)
    clients = {name: planning.plugins.client(name) for name in asked if not _is_absent(name, planning.plugins)}
    told = (lacking(name, planning.deployment, client.targets) for name, client in clients.items())
    return next(filter(None, told), "")


def _unowned(planning: Planning, answers: Sequence[PluginStages]) -> str:
    """Why a planned stage would not reach the plugin that planned it; it is too late to find out when it is to run."""
    serving = serving_for(planning.deployment, planning.plugins)
    for answer in answers:
        for stage in answer.stages:
            owner = decide_owner(stage.name, planning.config, serving)
            if owner.plugin != answer.plugin:
                return f"plugin {answer.plugin} planned {stage.name}. {owner.reason}"
    return ""


async def _stages(planning: Planning, request: StageRequest) -> PluginStages:
    client = planning.plugins.client(request.plugin)
    stages = await (client.pipeline_stages(request.stages) if request.stages else client.quick_sync_stages())
    return PluginStages(plugin=request.plugin, stages=stages)


async def _versions(planning: Planning, requests: tuple[StageRequest, ...]) -> tuple[ArtifactVersion, ...]:
    clients = [planning.plugins.client(request.plugin) for request in requests]
    sources = await planning.sources
    found = await asyncio.gather(*(client.versions(planning.deployment, sources) for client in clients))
    return tuple(version for versions in found for version in versions)
