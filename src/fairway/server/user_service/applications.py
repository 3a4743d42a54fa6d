"""Looking at applications. Lists leave out what has been deleted; a deleted application is still shown by its id."""

from fairway.rpc.convert.application import to_wire_application
from fairway.rpc.user_api import messages as m
from fairway.server.actions import reading
from fairway.server.actions.desk import ActionDesk
from fairway.server.callers import Caller
from fairway.server.user_service.filters import application_filter, application_page


async def get_application(
    desk: ActionDesk, caller: Caller, request: m.GetApplicationRequest
) -> m.GetApplicationResponse:
    """One application."""
    found = await reading.get_application(desk, caller, request.application_id)
    return m.GetApplicationResponse(application=to_wire_application(found))


async def list_applications(
    desk: ActionDesk, caller: Caller, request: m.ListApplicationsRequest
) -> m.ListApplicationsResponse:
    """The applications of the project that fit, newest change first."""
    wanted, page = application_filter(caller.project_id, request), application_page(request)
    found = await reading.list_applications(desk, caller, wanted, page)
    return m.ListApplicationsResponse(
        applications=[to_wire_application(application) for application in found.items], cursor=found.cursor
    )
