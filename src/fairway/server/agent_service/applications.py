"""An agent's applications: listed for it, and told by it how they stand and what Git says of them.

Which deployment is an application's newest is also recorded by `creation` and `deployments`, in the transactions that
make it so; the agent's own report adds what only the agent knows, and an older one never takes the place of a newer.
"""

import functools
import posixpath
from datetime import datetime

import msgspec
from sqlalchemy import Connection

from fairway.model.application import Application, DeploymentReference, DiscoveredApplication
from fairway.model.deployment import DeploymentStatus
from fairway.model.limits import REASON, SHOWN_TEXT, cut
from fairway.rpc.agent_api import messages as m
from fairway.rpc.convert.application import (
    from_wire_deployment_reference,
    from_wire_discovered_application,
    from_wire_sync_state,
    to_wire_application,
    to_wire_deployment_reference,
)
from fairway.rpc.convert.deployment import DEPLOYMENT_STATUSES
from fairway.server.agent_auth import AgentIdentity
from fairway.server.agent_service.desk import AgentDesk
from fairway.server.agent_service.ownership import load_own_application, update_own_application
from fairway.server.agent_service.references import with_succeeded, with_triggered
from fairway.server.hints import HintTopic
from fairway.server.status_codes import InvalidRequest
from fairway.server.store import agents, applications, suggestions
from fairway.server.store.errors import NotFound


async def list_applications(
    desk: AgentDesk, caller: AgentIdentity, _request: m.ListApplicationsRequest
) -> m.ListApplicationsResponse:
    """All enabled applications of the agent."""
    found = await desk.store.read(lambda connection: applications.list_agent_applications(connection, caller.agent_id))
    return m.ListApplicationsResponse(applications=[to_wire_application(_brief(application)) for application in found])


async def report_sync_state(
    desk: AgentDesk, caller: AgentIdentity, request: m.ReportApplicationSyncStateRequest
) -> m.ReportApplicationSyncStateResponse:
    """How what runs compares with Git. Newer agents say so every minute, so it does not count as a change."""
    said = from_wire_sync_state(request.state)
    state = msgspec.structs.replace(
        said, short_reason=cut(said.short_reason, REASON), reason=cut(said.reason, SHOWN_TEXT)
    )

    def change(application: Application) -> Application:
        return (
            application if application.sync_state == state else msgspec.structs.replace(application, sync_state=state)
        )

    await desk.store.write(
        lambda connection: update_own_application(connection, caller, request.application_id, change)
    )
    return m.ReportApplicationSyncStateResponse()


async def report_deploying(
    desk: AgentDesk, caller: AgentIdentity, request: m.ReportApplicationDeployingStatusRequest
) -> m.ReportApplicationDeployingStatusResponse:
    """Whether a deployment of the application is being planned or run."""
    now = desk.clock.now()

    def change(application: Application) -> Application:
        if application.deploying == request.deploying:
            return application
        return msgspec.structs.replace(application, deploying=request.deploying, updated_at=now)

    await desk.store.write(
        lambda connection: update_own_application(connection, caller, request.application_id, change)
    )
    return m.ReportApplicationDeployingStatusResponse()


async def report_most_recent_deployment(
    desk: AgentDesk, caller: AgentIdentity, request: m.ReportApplicationMostRecentDeploymentRequest
) -> m.ReportApplicationMostRecentDeploymentResponse:
    """Which deployment was triggered last (status pending), or succeeded last."""
    now = desk.clock.now()
    succeeded = _asks_for_succeeded(request.status)
    reference = from_wire_deployment_reference(request.deployment)

    def change(application: Application) -> Application:
        record = with_succeeded if succeeded else with_triggered
        return record(application, reference, now)

    await desk.store.write(
        lambda connection: update_own_application(connection, caller, request.application_id, change)
    )
    return m.ReportApplicationMostRecentDeploymentResponse()


async def get_most_recent_deployment(
    desk: AgentDesk, caller: AgentIdentity, request: m.GetApplicationMostRecentDeploymentRequest
) -> m.GetApplicationMostRecentDeploymentResponse:
    """The deployment that was triggered, or succeeded, last. Agents rely on NOT_FOUND when there is none."""
    succeeded = _asks_for_succeeded(request.status)

    def load(connection: Connection) -> DeploymentReference:
        application = load_own_application(connection, caller, request.application_id)
        reference = application.last_succeeded if succeeded else application.last_triggered
        if reference is None:
            raise NotFound("deployment of application", application.id)
        return reference

    found = await desk.store.read(load)
    return m.GetApplicationMostRecentDeploymentResponse(deployment=to_wire_deployment_reference(found))


async def update_configurations(
    desk: AgentDesk, caller: AgentIdentity, request: m.UpdateApplicationConfigurationsRequest
) -> m.UpdateApplicationConfigurationsResponse:
    """Names, descriptions and labels as Git has them; all of them or, when one is not the agent's, none."""
    now = desk.clock.now()
    found = [from_wire_discovered_application(info) for info in request.applications]

    def update(connection: Connection) -> bool:
        changed = False
        # In one order for everybody, so that two transactions never wait for each other's rows.
        for info in sorted(found, key=lambda info: info.id):
            as_in_git = functools.partial(_as_in_git, info, now)
            known = load_own_application(connection, caller, info.id)
            if as_in_git(known) is not known:
                update_own_application(connection, caller, info.id, as_in_git)
                changed = True
        return changed

    if await desk.store.write(update):
        desk.hints.publish(caller.agent_id, HintTopic.APPLICATIONS)
    return m.UpdateApplicationConfigurationsResponse()


async def report_unregistered(
    desk: AgentDesk, caller: AgentIdentity, request: m.ReportUnregisteredApplicationConfigurationsRequest
) -> m.ReportUnregisteredApplicationConfigurationsResponse:
    """Files in Git that belong to no application, in place of those that the agent reported before."""
    found = [from_wire_discovered_application(info) for info in request.applications]

    def replace(connection: Connection) -> None:
        # Agents with plugins know no kinds, but the wire cannot leave the number out.
        has_plugins = bool(agents.load_agent(connection, caller.agent_id).profile.plugins)
        own = tuple(
            msgspec.structs.replace(
                info,
                agent_id=caller.agent_id,
                kind=None if has_plugins else info.kind,
                # Agents write `./a` where PipeCD's server would refuse `a`.
                path=posixpath.normpath(info.path),
            )
            for info in found
        )
        suggestions.replace_suggestions(connection, caller.agent_id, own)

    await desk.store.write(replace)
    return m.ReportUnregisteredApplicationConfigurationsResponse()


def _brief(application: Application) -> Application:
    """The application for a list of all: with how it stands, but not why; thousands must have room in one message."""
    state = application.sync_state
    if state is None or not (state.reason or state.short_reason):
        return application
    return msgspec.structs.replace(application, sync_state=msgspec.structs.replace(state, reason="", short_reason=""))


def _as_in_git(info: DiscoveredApplication, at: datetime, application: Application) -> Application:
    description = cut(info.description, REASON)
    told = (info.name, description, info.labels)
    if told == (application.name, application.description, application.labels):
        return application
    return msgspec.structs.replace(
        application, name=info.name, description=description, labels=info.labels, updated_at=at
    )


def _asks_for_succeeded(number: int) -> bool:
    status = DEPLOYMENT_STATUSES.from_wire(number)
    if status not in {DeploymentStatus.PENDING, DeploymentStatus.SUCCEEDED}:
        raise InvalidRequest(f"status is {number} ({status.value}); expected 0 (last triggered) or 4 (last succeeded)")
    return status is DeploymentStatus.SUCCEEDED
