"""Where a plugin deploys an application.

A v1 application names deploy targets for each of its plugins. v0 knows one provider for an application, whose name is
that of the deploy target which an agent has made of it. Who names none leaves the choice to the agent, which has none
where there is but one.
"""

from collections.abc import Mapping
from typing import Protocol


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


def targets_for(plugin: str, placed: Placed, known: tuple[str, ...]) -> tuple[str, ...]:
    """The names of the deploy targets that a plugin is to use, of those that it knows."""
    named = placed.deploy_targets_by_plugin.get(plugin)
    if named is not None:
        return named
    if placed.platform_provider:
        return (placed.platform_provider,)
    return known if len(known) == 1 else ()
