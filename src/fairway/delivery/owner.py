"""Which plugin serves a stage of an application.

Mostly there is one. Where two plugins of an agent have a stage of the same name, such as two versions of one platform
side by side, the application says which it means by listing exactly one of them under `spec.plugins`.
"""

from collections.abc import Mapping, Sequence

import msgspec

from fairway.config.application import ApplicationConfig


class OwnerDecision(msgspec.Struct, frozen=True, kw_only=True):
    """The plugin of a stage; empty when there is none, or when it cannot be told which."""

    plugin: str = ""
    reason: str


def decide_owner(stage: str, config: ApplicationConfig, plugins_of_stage: Mapping[str, Sequence[str]]) -> OwnerDecision:
    """Which plugin serves a stage of that name for this application."""
    serving = plugins_of_stage.get(stage, ())
    if not serving:
        return OwnerDecision(reason=f"No plugin of this agent has {stage}")
    meant = serving if len(serving) == 1 else [each for each in serving if each in config.plugins]
    if len(meant) == 1:
        return OwnerDecision(plugin=meant[0], reason=f"{meant[0]} has {stage}")
    names = " and ".join(serving)
    reason = f"Plugins {names} both have {stage}; list exactly one of them under spec.plugins of the application"
    return OwnerDecision(reason=reason)
