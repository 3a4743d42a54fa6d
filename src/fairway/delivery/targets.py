"""Where a plugin deploys an application.

A v1 application names deploy targets for each of its plugins. v0 knows one provider for an application, whose name is
that of the deploy target which an agent has made of it.
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


def targets_for(plugin: str, placed: Placed) -> tuple[str, ...]:
    """The names of the deploy targets that a plugin is to use."""
    named = placed.deploy_targets_by_plugin.get(plugin)
    if named is None and placed.platform_provider:
        return (placed.platform_provider,)
    return named or ()
