"""What plugins, and the analysis of older agents, keep for an application from one deployment to the next."""

from sqlalchemy import Connection

from fairway.model.limits import APPLICATION_OBJECTS_BYTES, TooLarge, refuse_large_object
from fairway.rpc.agent_api import messages as m
from fairway.server.agent_auth import AgentIdentity
from fairway.server.agent_service.desk import AgentDesk
from fairway.server.agent_service.ownership import load_own_application
from fairway.server.store import shared_objects

#: Older agents have no plugins: their one analysis result is kept under a plugin name that no plugin can have.
_NO_PLUGIN = ""
_ANALYSIS_RESULT = "latest-analysis-result"


async def get_shared_object(
    desk: AgentDesk, caller: AgentIdentity, request: m.GetApplicationSharedObjectRequest
) -> m.GetApplicationSharedObjectResponse:
    """The bytes that a plugin kept; NOT_FOUND when it kept none."""
    found = await _get(desk, caller, request.application_id, request.plugin_name, request.key)
    return m.GetApplicationSharedObjectResponse(object=found)


async def put_shared_object(
    desk: AgentDesk, caller: AgentIdentity, request: m.PutApplicationSharedObjectRequest
) -> m.PutApplicationSharedObjectResponse:
    """Keep bytes in place of those before."""
    refuse_large_object(request.key, request.object)
    await _put(desk, caller, request.application_id, request.plugin_name, request.key, request.object)
    return m.PutApplicationSharedObjectResponse()


async def get_analysis_result(
    desk: AgentDesk, caller: AgentIdentity, request: m.GetLatestAnalysisResultRequest
) -> m.GetLatestAnalysisResultResponse:
    """What the last good analysis found; NOT_FOUND when there was none."""
    found = await _get(desk, caller, request.application_id, _NO_PLUGIN, _ANALYSIS_RESULT)
    response = m.GetLatestAnalysisResultResponse()
    response.analysis_result.ParseFromString(found)
    return response


async def put_analysis_result(
    desk: AgentDesk, caller: AgentIdentity, request: m.PutLatestAnalysisResultRequest
) -> m.PutLatestAnalysisResultResponse:
    """Keep a result in place of the one before."""
    result = request.analysis_result.SerializeToString()
    await _put(desk, caller, request.application_id, _NO_PLUGIN, _ANALYSIS_RESULT, result)
    return m.PutLatestAnalysisResultResponse()


async def _put(
    desk: AgentDesk, caller: AgentIdentity, application_id: str, plugin: str, key: str, value: bytes
) -> None:
    desk.intake.refuse_without_room(caller.agent_id, desk.clock.now())

    def put(connection: Connection) -> None:
        load_own_application(connection, caller, application_id)
        shared_objects.put_shared_object(connection, application_id, plugin, key, value)
        if (size := shared_objects.size_of_all(connection, application_id)) > APPLICATION_OBJECTS_BYTES:
            raise TooLarge(
                f"the objects of application {application_id} would have {size} bytes; "
                f"they have at most {APPLICATION_OBJECTS_BYTES} bytes"
            )

    await desk.store.write(put)


async def _get(desk: AgentDesk, caller: AgentIdentity, application_id: str, plugin: str, key: str) -> bytes:
    def get(connection: Connection) -> bytes:
        load_own_application(connection, caller, application_id)
        return shared_objects.get_shared_object(connection, application_id, plugin, key)

    return await desk.store.read(get)
