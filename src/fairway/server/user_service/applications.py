"""Looking at applications. Lists leave out what has been deleted; a deleted application is still shown by its id."""

from fairway.model.application import Application
from fairway.rpc.convert.application import to_wire_application
from fairway.rpc.user_api import messages as m
from fairway.server.store import applications
from fairway.server.user_auth import ApiIdentity
from fairway.server.user_service.desk import Desk, check_project
from fairway.server.user_service.filters import application_filter, application_page


async def get_application(
    desk: Desk, identity: ApiIdentity, request: m.GetApplicationRequest
) -> m.GetApplicationResponse:
    """One application."""
    found = await desk.store.read(lambda connection: applications.load_application(connection, request.application_id))
    check_application(identity, found)
    return m.GetApplicationResponse(application=to_wire_application(found))


async def list_applications(
    desk: Desk, identity: ApiIdentity, request: m.ListApplicationsRequest
) -> m.ListApplicationsResponse:
    """The applications of the project that fit, newest change first."""
    wanted, page = application_filter(identity.project_id, request), application_page(request)
    found = await desk.store.read(lambda connection: applications.list_applications(connection, wanted, page))
    return m.ListApplicationsResponse(
        applications=[to_wire_application(application) for application in found.items], cursor=found.cursor
    )


def check_application(identity: ApiIdentity, application: Application) -> None:
    """Raise Forbidden unless the application is one of the caller's project."""
    check_project(identity, application.project_id, f"application {application.id}")
