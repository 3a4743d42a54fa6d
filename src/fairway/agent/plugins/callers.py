"""Who calls the agent's PluginService, and what it may touch there.

A plugin made with the SDK shows a token that it was given by a pipe when it was started, one for each plugin. A plugin
may touch what is its own: the stages it serves, the notes and objects kept under its name, and secrets of deployments
in which it has a stage.
"""

import hmac
import secrets

from fairway.agent.deployments import Underway
from fairway.agent.running import DeploymentRun
from fairway.errors import UserError
from fairway.rpc.context import CallContext
from fairway.rpc.plugin_api import TOKEN_KEY


class Stranger(UserError):
    """Somebody who is no plugin of this agent."""


class NotYours(UserError):
    """Something that another plugin of this agent has to do with."""


class NotUnderway(UserError):
    """A deployment that this agent is not bringing to its end."""


class Tokens:
    """What the plugins of one agent show when they call."""

    def __init__(self) -> None:
        self._issued: dict[str, str] = {}

    def issue(self, plugin: str) -> str:
        """The token of a plugin; the same for as long as its agent runs."""
        return self._issued.setdefault(plugin, secrets.token_urlsafe(32))

    def plugin_of(self, shown: str) -> str:
        """Whose a token is; empty when it is nobody's. How long this takes does not tell how nearly it was right."""
        found = ""
        for plugin, token in self._issued.items():
            if hmac.compare_digest(token.encode(), shown.encode()):
                found = plugin
        return found

    def caller(self, context: CallContext) -> str:
        """The plugin that calls; Stranger when it shows no token of this agent."""
        shown = next((value for key, value in context.invocation_metadata() or () if key == TOKEN_KEY), "")
        plugin = self.plugin_of(shown if isinstance(shown, str) else "")
        if not plugin:
            raise Stranger(f"the call shows {'a wrong' if shown else 'no'} token of a plugin ({TOKEN_KEY})")
        return plugin


def require_stage(plugin: str, underway: Underway, stage_id: str) -> DeploymentRun:
    """The run of a deployment, for the plugin that serves this stage of it."""
    run = require_part(plugin, underway)
    if run.plugins_of_stages.get(stage_id) != plugin:
        raise NotYours(f"plugin {plugin} does not serve stage {stage_id!r} of deployment {run.deployment.id}")
    return run


def require_part(plugin: str, underway: Underway) -> DeploymentRun:
    """The run of a deployment, for a plugin that has a stage in it."""
    run = underway.run
    if run is None:
        raise NotUnderway(f"deployment {underway.deployment.id!r} has not begun to run")
    if plugin not in run.plugins_of_stages.values():
        raise NotYours(f"plugin {plugin} has no stage in deployment {run.deployment.id}")
    return run


def require_name(plugin: str, named: str) -> None:
    """Notes and objects are kept under the name of whoever calls."""
    if named != plugin:
        raise NotYours(f"plugin {plugin} asks for what is kept under the name {named!r}")
