"""Which stages may be asked for twice, after a plugin or an agent went away in the middle of one.

Plugins made with the SDK go on where they were. Of others nothing is known but what PipeCD says of its own stages: some
only wait or look, and those of Kubernetes bring about a state, however often they are asked to. Any other may do harm
when it is done twice, so it fails and is rolled back. A rollback is always worth another try.
"""

from typing import Final

from fairway.agent.plugins.client import PluginClient
from fairway.model.stage import Stage

_WAITING: Final = frozenset({"WAIT", "WAIT_APPROVAL", "ANALYSIS"})
_DECLARATIVE: Final = "K8S_"


def may_repeat(client: PluginClient, stage: Stage) -> bool:
    """Whether the plugin may be asked again for a stage that it may have begun."""
    return client.resumes or stage.is_rollback or stage.name in _WAITING or stage.name.startswith(_DECLARATIVE)
