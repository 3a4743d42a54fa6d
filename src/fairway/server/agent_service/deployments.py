"""An agent's deployments: listed until they have ended, and moved on by its reports.

What a report makes of a deployment is decided in `reports`, while the row is locked; the chain it belongs to and the
application that remembers its last success change in the same transaction.
"""

from collections.abc import Callable, Mapping
from datetime import datetime

import msgspec
from sqlalchemy import Connection

from fairway.model.application import Application
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.limits import SPARE_NOTES_BYTES
from fairway.model.notes import checked_notes, refuse_too_many_notes, thinned
from fairway.rpc.agent_api import messages as m
from fairway.rpc.convert.deployment import DEPLOYMENT_STATUSES, from_wire_planned, to_wire_deployment
from fairway.rpc.convert.stage import STAGE_STATUSES
from fairway.rpc.convert.wire_time import from_wire_time
from fairway.server.agent_auth import AgentIdentity
from fairway.server.agent_service import reports
from fairway.server.agent_service.chains import follow_chain
from fairway.server.agent_service.desk import AgentDesk
from fairway.server.agent_service.ownership import load_own_deployment, update_own_deployment
from fairway.server.agent_service.quotas import refuse_large_plan
from fairway.server.agent_service.references import reference_to, with_succeeded
from fairway.server.hints import HintTopic
from fairway.server.status_codes import InvalidRequest
from fairway.server.store import applications, deployments

#: How many deployments one page of the open ones has; `store.page` also limits its bytes.
PAGE_SIZE = 50


async def get_deployment(
    desk: AgentDesk, caller: AgentIdentity, request: m.GetDeploymentRequest
) -> m.GetDeploymentResponse:
    """One deployment."""
    found = await desk.store.read(lambda connection: load_own_deployment(connection, caller, request.id))
    return m.GetDeploymentResponse(deployment=to_wire_deployment(found))


async def list_open(
    desk: AgentDesk, caller: AgentIdentity, request: m.ListNotCompletedDeploymentsRequest
) -> m.ListNotCompletedDeploymentsResponse:
    """A page of what has not ended. The cursor of the last page is empty: newer agents ask until it is."""
    page = await desk.store.read(
        lambda connection: deployments.list_open_deployments(connection, caller.agent_id, request.cursor, PAGE_SIZE)
    )
    found = [to_wire_deployment(thinned(deployment)) for deployment in page.items]
    return m.ListNotCompletedDeploymentsResponse(deployments=found, cursor=page.cursor)


async def report_planned(
    desk: AgentDesk, caller: AgentIdentity, request: m.ReportDeploymentPlannedRequest
) -> m.ReportDeploymentPlannedResponse:
    """The plan is made; the strategy in it becomes the trigger's."""
    now = desk.clock.now()
    refuse_large_plan("the plan", request)
    plan = from_wire_planned(request)
    await _report(desk, caller, request.deployment_id, lambda found: reports.planned(found, plan, now))
    return m.ReportDeploymentPlannedResponse()


async def report_status(
    desk: AgentDesk, caller: AgentIdentity, request: m.ReportDeploymentStatusChangedRequest
) -> m.ReportDeploymentStatusChangedResponse:
    """The deployment runs, or rolls back."""
    now = desk.clock.now()
    status = DEPLOYMENT_STATUSES.from_wire(request.status)
    reason = request.status_reason
    await _report(desk, caller, request.deployment_id, lambda found: reports.status_changed(found, status, reason, now))
    return m.ReportDeploymentStatusChangedResponse()


async def report_completed(
    desk: AgentDesk, caller: AgentIdentity, request: m.ReportDeploymentCompletedRequest
) -> m.ReportDeploymentCompletedResponse:
    """The deployment has ended, and how each of its stages did."""
    now = desk.clock.now()
    completion = reports.Completion(
        status=DEPLOYMENT_STATUSES.from_wire(request.status),
        reason=request.status_reason,
        completed_at=from_wire_time(request.completed_at),
        stage_statuses={id: STAGE_STATUSES.from_wire(number) for id, number in request.stage_statuses.items()},
    )
    if not completion.status.is_terminal:
        raise InvalidRequest(f"status is {request.status} ({completion.status.value}); expected 4, 5 or 6, as it ends")
    await _report(desk, caller, request.deployment_id, lambda found: reports.completed(found, completion, now))
    return m.ReportDeploymentCompletedResponse()


async def save_metadata(
    desk: AgentDesk, caller: AgentIdentity, request: m.SaveDeploymentMetadataRequest
) -> m.SaveDeploymentMetadataResponse:
    """Notes of an agent of the older generation, added to those before."""
    notes = checked_notes(request.metadata)
    await _save(desk, caller, request.deployment_id, lambda found: {"metadata": {**found.metadata, **notes}})
    return m.SaveDeploymentMetadataResponse()


async def save_shared_metadata(
    desk: AgentDesk, caller: AgentIdentity, request: m.SaveDeploymentSharedMetadataRequest
) -> m.SaveDeploymentSharedMetadataResponse:
    """Notes that every plugin may read, added to those before."""
    notes = checked_notes(request.metadata)

    def merged(found: Deployment) -> Mapping[str, object]:
        return {"shared_metadata": {**found.shared_metadata, **notes}}

    await _save(desk, caller, request.deployment_id, merged)
    return m.SaveDeploymentSharedMetadataResponse()


async def save_plugin_metadata(
    desk: AgentDesk, caller: AgentIdentity, request: m.SaveDeploymentPluginMetadataRequest
) -> m.SaveDeploymentPluginMetadataResponse:
    """Notes of one plugin, added to those before."""
    notes = checked_notes(request.metadata)

    def merged(found: Deployment) -> Mapping[str, object]:
        known = found.plugin_metadata.get(request.plugin_name, {})
        return {"plugin_metadata": {**found.plugin_metadata, request.plugin_name: {**known, **notes}}}

    await _save(desk, caller, request.deployment_id, merged)
    return m.SaveDeploymentPluginMetadataResponse()


async def _report(
    desk: AgentDesk, caller: AgentIdentity, deployment_id: str, change: Callable[[Deployment], Deployment]
) -> None:
    now = desk.clock.now()

    def record(connection: Connection) -> frozenset[str]:
        before: list[Deployment] = []

        def remembering(found: Deployment) -> Deployment:
            before.append(found)
            return change(found)

        deployment = update_own_deployment(connection, caller, deployment_id, remembering)
        if deployment is before[0]:
            return frozenset()
        if deployment.status.is_terminal:
            _remember_end(connection, deployment, now)
        return follow_chain(connection, deployment, now)

    for agent_id in await desk.store.write(record):
        desk.hints.publish(agent_id, HintTopic.DEPLOYMENTS)


def _remember_end(connection: Connection, deployment: Deployment, at: datetime) -> None:
    """Record with the application that nothing is under way any more and, after a success, what runs now: its agent may
    die before it says so itself."""

    def ended(found: Application) -> Application:
        idle = msgspec.structs.replace(found, deploying=False, updated_at=at) if found.deploying else found
        succeeded = deployment.status is DeploymentStatus.SUCCEEDED
        return with_succeeded(idle, reference_to(deployment), at) if succeeded else idle

    applications.update_application(connection, deployment.application_id, ended)


async def _save(
    desk: AgentDesk, caller: AgentIdentity, deployment_id: str, merged: Callable[[Deployment], Mapping[str, object]]
) -> None:
    now = desk.clock.now()

    def change(found: Deployment) -> Deployment:
        noted = msgspec.structs.replace(found, **merged(found))
        if noted == found:
            return found
        refuse_too_many_notes(noted, SPARE_NOTES_BYTES)
        return msgspec.structs.replace(noted, updated_at=now)

    await desk.store.write(lambda connection: update_own_deployment(connection, caller, deployment_id, change))
