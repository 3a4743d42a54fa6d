"""The plugins of our agent that do not start, each in one line, from the agent's status file."""

from pathlib import Path

from fairway.agent.plugins.condition import STARTING
from fairway.agent.status import NoStatus, PluginState, read_state
from fairway.cli.output import plain
from fairway.model.limits import cut

_LONGEST = 500


def plugin_troubles(data: Path) -> tuple[str, ...]:
    """Why each plugin that does not answer does not, with the last line that it wrote."""
    try:
        state = read_state(data)
    except NoStatus:
        return ()
    return tuple(_in_a_line(each) for each in state.plugins if each.trouble and each.trouble != STARTING)


def _in_a_line(plugin: PluginState) -> str:
    last = f"; last words: {plugin.last_words}" if plugin.last_words else ""
    line = plain(f"plugin {plugin.name} does not run: {plugin.trouble}{last}")
    return cut(" ".join(line.split()), _LONGEST)
