"""Whether an application is there, for an agent that has found its marks on a platform; and files that are unusable.

What another application has must not be taken away from it, whichever agent deploys it and though it be disabled. So
this answers of all of them, and says no more than that one is there of those that are of another project.
"""

import msgspec
from sqlalchemy import Connection

from fairway.rpc.agent_api import ApplicationServicer, application_messages
from fairway.rpc.context import CallContext
from fairway.rpc.convert.application import MOST_UNUSABLE_FILES, from_wire_unusable_file
from fairway.server.agent_auth import AgentAuth, AgentIdentity
from fairway.server.agent_service.desk import AgentDesk, answer
from fairway.server.store import agents, applications, suggestions
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

    async def ReportUnusableFiles(
        self, request: application_messages.ReportUnusableFilesRequest, context: CallContext
    ) -> application_messages.ReportUnusableFilesAnswer:
        return await answer(self._desk, self._auth, report_unusable_files, request, context)


async def find_application(
    desk: AgentDesk, caller: AgentIdentity, request: application_messages.FindRequest
) -> application_messages.FindAnswer:
    """How an application stands."""
    return await desk.store.read(lambda connection: _find(connection, caller, request.application_id))


async def report_unusable_files(
    desk: AgentDesk, caller: AgentIdentity, request: application_messages.ReportUnusableFilesRequest
) -> application_messages.ReportUnusableFilesAnswer:
    """Application files that cannot be deployed, in place of those that the agent reported before."""
    found = [from_wire_unusable_file(each) for each in request.files[:MOST_UNUSABLE_FILES]]

    def replace(connection: Connection) -> None:
        nameless = any(each.nameless for each in found)
        # An application of another agent, or a disabled one, may have a name that the file lacks.
        named = suggestions.registered_files(connection, caller.project_id) if nameless else set()
        files = tuple(each for each in found if not each.nameless or (each.repository_id, each.file) not in named)
        if agents.load_agent(connection, caller.agent_id).unusable_files != files:
            agents.update_agent(
                connection, caller.agent_id, lambda agent: msgspec.structs.replace(agent, unusable_files=files)
            )

    await desk.store.write(replace)
    return application_messages.ReportUnusableFilesAnswer()


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
