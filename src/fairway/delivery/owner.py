"""Which plugins serve an application, and which of them serves a stage of it.

Planning, stages, plan preview and live state all use these functions. Mostly one plugin has a stage. Where several
have it, such as two versions of one platform side by side, the application's deploy targets and `spec.plugins` choose.
"""

from collections.abc import Mapping, Sequence

import msgspec

from fairway.config.application import ApplicationConfig
from fairway.config.built_in import ALWAYS


class Serving(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of the plugins that may serve one application."""

    #: Stage name → the plugins of this agent that serve it.
    of_stage: Mapping[str, Sequence[str]]
    #: The plugins of the application's deploy targets.
    targets: Sequence[str] = ()
    #: The plugins that are starting and have never named their stages.
    silent: Sequence[str] = ()


class OwnerDecision(msgspec.Struct, frozen=True, kw_only=True):
    """The plugin of a stage; empty when there is none, or when it cannot be told which."""

    plugin: str = ""
    reason: str
    #: Whether a plugin that has not started may change the decision.
    unsettled: bool = False


def decide_owner(stage: str, config: ApplicationConfig, serving: Serving) -> OwnerDecision:
    """Which plugin serves a stage of that name for this application."""
    able = serving.of_stage.get(stage, ())
    if not able:
        return OwnerDecision(reason=f"No plugin of this agent has {stage}", unsettled=True)
    placed = [each for each in able if each in serving.targets]
    listed = [each for each in able if each in config.plugins]
    if placed and listed and not set(placed) & set(listed):
        return OwnerDecision(
            reason=f"The application has deploy targets of plugin {' and '.join(placed)}, but lists "
            f"{' and '.join(listed)} under spec.plugins, and each of them has {stage}; name one plugin in both places"
        )
    meant = [each for each in placed if each in listed] or placed or listed or able
    if len(meant) > 1:
        names = " and ".join(meant)
        return OwnerDecision(
            reason=f"Plugins {names} both have {stage}; list exactly one of them under spec.plugins of the "
            "application, or register the application with a deploy target of one of them"
        )
    if other := _unheard(meant[0], config, serving):
        return OwnerDecision(reason=f"{meant[0]} has {stage}, but {other}", unsettled=True)
    return OwnerDecision(plugin=meant[0], reason=f"{meant[0]} has {stage}")


def _unheard(plugin: str, config: ApplicationConfig, serving: Serving) -> str:
    """Which other plugin the application may mean, of those that have not named their stages; empty where none."""
    if plugin in {*serving.targets, *ALWAYS}:
        return ""
    heard = {each for plugins in serving.of_stage.values() for each in plugins}
    if unheard := [each for each in serving.targets if each not in heard]:
        return f"the application has a deploy target of {unheard[0]}, which has named no stages"
    if plugin in config.plugins or not serving.silent:
        return ""
    return (
        f"plugin {serving.silent[0]} has not started, and may have it too; list {plugin} under spec.plugins to use it"
    )


def used_plugins(config: ApplicationConfig, serving: Serving) -> tuple[str, ...]:
    """The plugins of an application: those of its file and of its stages; without any, those of its deploy targets."""
    owners = (decide_owner(stage.name, config, serving).plugin for stage in config.stages)
    named = config.plugins or (() if config.stages else serving.targets)
    return tuple(dict.fromkeys([*named, *filter(None, owners)]))
