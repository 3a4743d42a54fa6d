"""Whether an application is there, as an agent is told that has found something of it."""

from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection

from fairway.rpc.agent_api import ApplicationStub, application_messages
from fairway.server.store import agents, applications
from tests.integration.server.agent.serving import an_agent, serving
from tests.unit.model.builders import NOW, an_application

Answer = application_messages.FindAnswer


def known(connection: Connection) -> None:
    agents.insert_agent(connection, an_agent())
    agents.insert_agent(connection, an_agent("agent-2", name="berlin"))
    for each in (
        an_application("own", name="web"),
        an_application("disabled", name="web", disabled=True),
        an_application("deleted", name="web", deleted_at=NOW + timedelta(days=1)),
        an_application("of-another-agent", name="web", agent_id="agent-2"),
        an_application("of-another-project", name="web", project_id="elsewhere", agent_id="agent-3"),
    ):
        applications.insert_application(connection, each)


@pytest.mark.parametrize(
    ("id", "answer"),
    [
        pytest.param("own", Answer(registered=True, name="web"), id="its own"),
        pytest.param("disabled", Answer(registered=True, name="web"), id="a disabled one"),
        pytest.param("deleted", Answer(registered=False), id="a deleted one"),
        pytest.param(
            "of-another-agent", Answer(registered=True, name="web", agent_name="berlin"), id="another agent's"
        ),
        pytest.param("of-another-project", Answer(registered=True), id="another project's"),
        pytest.param("never-heard-of", Answer(registered=False), id="one that it has never heard of"),
    ],
)
async def test_an_agent_is_told_whether_an_application_is_there(tmp_path: Path, id: str, answer: Answer) -> None:
    async with serving(tmp_path) as server:
        await server.store.write(known)
        agent = server.agent()

        found = await ApplicationStub(server.channel).Find(
            application_messages.FindRequest(application_id=id), metadata=agent.metadata
        )

        assert found == answer
