"""Where a plugin deploys an application.

A v1 application names deploy targets for each of its plugins. v0 knows one provider for an application, whose name is
that of the deploy target which an agent has made of it. Who names none leaves the choice to the agent, which has none
where there is but one, or where the stages say which. What that comes to is settled when a deployment is made, so that
a target more in the agent's file changes nothing of one that is under way.
"""

from collections.abc import Mapping
from typing import Protocol

import msgspec

from fairway.config.application import ApplicationConfig, Generation
from fairway.model.application import Application
from fairway.model.deployment import Deployment
from fairway.model.lost_targets import lost_in_words


class Placed(Protocol):
    """An application, or a deployment of one."""

    @property
    def platform_provider(self) -> str:
        """v0's."""
        ...

    @property
    def deploy_targets_by_plugin(self) -> Mapping[str, tuple[str, ...]]:
        """v1's."""
        ...


def with_targets(
    application: Application, config: ApplicationConfig | None, known: Mapping[str, tuple[str, ...]]
) -> Application:
    """The application with the deploy targets that it does not name, as far as that can be told; `known` are those of
    each plugin of its agent."""
    if config is None or application.platform_provider:
        return application
    named = application.deploy_targets_by_plugin
    if not set(named) <= set(config.plugins) or not (config.plugins or config.stages):
        # The deploy targets that it names choose its plugins; others would be taken for named ones.
        return application
    own = {plugin: targets for plugin, targets in known.items() if plugin in config.plugins} or known
    if config.generation is Generation.V0 and application.kind is not None:
        # Targets by plugin would make a v1 application of it.
        providers = {each for targets in own.values() for each in targets}
        return msgspec.structs.replace(application, platform_provider=providers.pop() if len(providers) == 1 else "")
    asked = _asked_for(config)
    found = {plugin: targets_for(plugin, application, targets, asked) for plugin, targets in own.items()}
    settled = application.deploy_targets_by_plugin | {plugin: some for plugin, some in found.items() if some}
    return msgspec.structs.replace(application, deploy_targets_by_plugin=settled)


def targets_for(plugin: str, placed: Placed, known: tuple[str, ...], asked: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The names of the deploy targets that a plugin is to use, of those that it knows; of several, those that stages
    have `asked` for."""
    named = placed.deploy_targets_by_plugin.get(plugin)
    if named is not None:
        return named
    if placed.platform_provider:
        return (placed.platform_provider,)
    if len(known) == 1:
        return known
    return asked if set(asked) <= set(known) else ()


def lacking(plugin: str, deployment: Deployment, known: tuple[str, ...]) -> str:
    """Why a deployment goes nowhere: a target of a plugin is not there any more, or it has several and nobody has said
    which is meant."""
    if lost := _lost(plugin, deployment, known):
        return lost_in_words(plugin, lost, known)
    if len(known) < 2 or targets_for(plugin, deployment, known):
        return ""
    option = f"--target {plugin}:{known[0]}" if deployment.kind is None else f"--platform-provider {known[0]}"
    return (
        f"plugin {plugin} has several deploy targets ({', '.join(known)}), and the application names none of them; "
        f"name those that are meant: fairway app change {deployment.application_name} {option}"
    )


def _lost(plugin: str, deployment: Deployment, known: tuple[str, ...]) -> tuple[str, ...]:
    """The targets that a deployment names for a plugin and that the plugin has not."""
    if plugin not in deployment.deploy_targets_by_plugin and not known:
        # v0's provider is nothing to a plugin without targets, such as that of scripts.
        return ()
    return tuple(each for each in targets_for(plugin, deployment, known) if each not in known)


def _asked_for(config: ApplicationConfig) -> tuple[str, ...]:
    """The deploy targets that stages name, each once."""
    lists = (each.written.get("multiTargets") for each in config.stages)
    return tuple(dict.fromkeys(str(name) for names in lists if isinstance(names, list) for name in names))
