"""Whether an application is there, for an agent that has found its marks on a platform.

What another application has must not be taken away from it, whichever agent deploys it and though it be disabled. So
this answers of all of them, and says no more than that one is there of those that are of another project.
"""

from sqlalchemy import Connection

from fairway.rpc.agent_api import ApplicationServicer, application_messages
from fairway.rpc.context import CallContext
from fairway.server.agent_auth import AgentAuth, AgentIdentity
from fairway.server.agent_service.desk import AgentDesk, answer
from fairway.server.store import agents, applications
from fairway.server.store.errors import NotFound


class ApplicationService(ApplicationServicer):
    """Says which applications there are."""

    def __init__(self, desk: AgentDesk, auth: AgentAuth) -> None:
        self._desk = desk
        self._auth = auth

    async def Find(
        self, request: application_messages.FindRequest, context: CallContext
    ) -> application_messages.FindAnswer:
        return await answer(self._desk, self._auth, find_application, request, context)


async def find_application(
    desk: AgentDesk, caller: AgentIdentity, request: application_messages.FindRequest
) -> application_messages.FindAnswer:
    """How an application stands."""
    return await desk.store.read(lambda connection: _find(connection, caller, request.application_id))


def _find(connection: Connection, caller: AgentIdentity, id: str) -> application_messages.FindAnswer:
    try:
        found = applications.load_application(connection, id)
    except NotFound:
        return application_messages.FindAnswer(registered=False)
    if found.deleted_at is not None:
        return application_messages.FindAnswer(registered=False)
    if found.project_id != caller.project_id:
        return application_messages.FindAnswer(registered=True)
    other = "" if found.agent_id == caller.agent_id else agents.load_agent(connection, found.agent_id).name
    return application_messages.FindAnswer(registered=True, name=found.name, agent_name=other)
