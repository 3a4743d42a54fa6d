"""What people and programs look at: each list cut to what the caller may see before a page is."""

import msgspec
from sqlalchemy import Connection

from fairway.model.application import Application, DiscoveredApplication
from fairway.model.audit import AuditRecord
from fairway.model.chain import DeploymentChain
from fairway.model.deployment import Deployment
from fairway.model.live_state import LiveState
from fairway.model.role import Action, Resource
from fairway.server.actions.desk import ActionDesk
from fairway.server.callers import Caller
from fairway.server.permissions import may, permit, scope
from fairway.server.store import applications, audit, chains, deployments, live_states, suggestions
from fairway.server.store.applications import ApplicationFilter
from fairway.server.store.audit import AuditFilter
from fairway.server.store.deployments import DeploymentFilter
from fairway.server.store.page import Page, PageRequest


async def get_application(desk: ActionDesk, caller: Caller, application_id: str) -> Application:
    """One application, deleted ones too."""
    found = await desk.store.read(lambda connection: applications.load_application(connection, application_id))
    permit(caller, Resource.APPLICATION, Action.READ, found.project_id, found.labels)
    return found


async def list_applications(
    desk: ActionDesk, caller: Caller, wanted: ApplicationFilter, page: PageRequest
) -> Page[Application]:
    """One page of the applications that fit and that the caller may see, newest change first or as asked."""
    seen = msgspec.structs.replace(
        wanted, project_id=caller.project_id, scope=scope(caller, Resource.APPLICATION).any_of
    )
    return await desk.store.read(lambda connection: applications.list_applications(connection, seen, page))


async def get_live_state(desk: ActionDesk, caller: Caller, application_id: str) -> LiveState:
    """What runs of an application; NotFound while its agent has told nothing."""

    def load(connection: Connection) -> LiveState:
        application = applications.load_application(connection, application_id)
        permit(caller, Resource.APPLICATION, Action.READ, application.project_id, application.labels)
        return live_states.load_live_state(connection, application_id)

    return await desk.store.read(load)


async def list_suggestions(desk: ActionDesk, caller: Caller) -> tuple[DiscoveredApplication, ...]:
    """What agents found in Git and nobody has registered, as far as the caller may see it."""
    scope(caller, Resource.APPLICATION)
    found = await desk.store.read(lambda connection: suggestions.list_suggestions(connection, caller.project_id))
    return tuple(
        each for each in found if may(caller, Resource.APPLICATION, Action.READ, caller.project_id, each.labels)
    )


async def get_deployment(desk: ActionDesk, caller: Caller, deployment_id: str) -> Deployment:
    """One deployment."""
    found = await desk.store.read(lambda connection: deployments.load_deployment(connection, deployment_id))
    permit(caller, Resource.DEPLOYMENT, Action.READ, found.project_id, found.labels)
    return found


async def list_deployments(
    desk: ActionDesk, caller: Caller, wanted: DeploymentFilter, page: PageRequest
) -> Page[Deployment]:
    """One page of the deployments that fit and that the caller may see, newest change first or as asked."""
    seen = msgspec.structs.replace(
        wanted, project_id=caller.project_id, scope=scope(caller, Resource.DEPLOYMENT).any_of
    )
    return await desk.store.read(lambda connection: deployments.list_deployments(connection, seen, page))


async def get_chain(desk: ActionDesk, caller: Caller, chain_id: str) -> DeploymentChain:
    """One chain. It has no labels, so who may see only some labels sees none."""
    found = await desk.store.read(lambda connection: chains.load_chain(connection, chain_id))
    permit(caller, Resource.DEPLOYMENT, Action.READ, found.project_id)
    return found


async def list_chains(desk: ActionDesk, caller: Caller, page: PageRequest) -> Page[DeploymentChain]:
    """One page of the chains of the project, newest first or as asked."""
    permit(caller, Resource.DEPLOYMENT, Action.READ, caller.project_id)
    return await desk.store.read(lambda connection: chains.list_chains(connection, caller.project_id, page))


async def list_audit_records(
    desk: ActionDesk, caller: Caller, wanted: AuditFilter, page: PageRequest
) -> Page[AuditRecord]:
    """One page of the records that fit, of the project and of what holds for all, newest first or as asked."""
    permit(caller, Resource.AUDIT, Action.READ, caller.project_id)
    seen = msgspec.structs.replace(wanted, project_ids=(caller.project_id, ""))
    return await desk.store.read(lambda connection: audit.list_audit_records(connection, seen, page))
