"""The plugins that do not start, on the screen of `fairway up`."""

from datetime import UTC, datetime
from pathlib import Path

import msgspec

from fairway.agent.plugins.condition import STARTING
from fairway.agent.status import AgentState, PluginState, status_path
from fairway.cli.up.plugin_troubles import plugin_troubles


def a_plugin(name: str, trouble: str, last_words: str = "") -> PluginState:
    return PluginState(
        name=name, plugins=(name,), version="", process=None, restarts=0, trouble=trouble, last_words=last_words
    )


def test_each_plugin_that_does_not_start_is_a_line_with_its_last_words(tmp_path: Path) -> None:
    plugins = (a_plugin("a", ""), a_plugin("b", STARTING), a_plugin("c", "it ended", "no\x1b[1m cluster"))
    state = AgentState(
        id="up",
        version="1",
        server="here",
        started_at=datetime(2026, 1, 1, tzinfo=UTC),
        process=None,
        plugins=(*plugins, a_plugin("d", "x" * 1000)),
        deployments=(),
        repositories=(),
        unsent=0,
    )
    status_path(tmp_path).write_bytes(msgspec.json.encode(state))

    ended, long = plugin_troubles(tmp_path)

    assert ended.startswith("plugin c does not run: it ended; last words: no")
    assert "\x1b" not in ended
    assert (len(long), long[-12:]) == (500, " characters)")


def test_without_an_agent_there_is_nothing_to_show(tmp_path: Path) -> None:
    assert plugin_troubles(tmp_path) == ()
