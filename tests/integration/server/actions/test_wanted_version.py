"""Whoever wants another version of an agent wakes it."""

from fairway.server.actions.agents import AgentChange, update_agent
from fairway.server.hints import HintTopic
from tests.integration.server.actions.acting import Acting, an_admin


async def test_an_agent_that_should_run_another_version_gets_a_hint(parts: Acting) -> None:
    await update_agent(parts.desk, an_admin(), "agent-1", AgentChange(desc="in Frankfurt"))
    assert parts.hints.published == []

    agent = await update_agent(parts.desk, an_admin(), "agent-1", AgentChange(desired_version="7.0@sha256:ab"))

    assert agent.desired_version == "7.0@sha256:ab"
    assert parts.hints.published == [("agent-1", HintTopic.COMMANDS)]
