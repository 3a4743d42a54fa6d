"""How deployments come to be: alone, or as the first of a chain.

The id is the agent's own, so an agent whose answer got lost sends the same again and finds its work done. What an
application was triggered with last is recorded in the same transaction: an agent that dies right after does not
trigger the same commit twice.
"""

from datetime import datetime

import msgspec
from sqlalchemy import Connection

from fairway.model.command import Command
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.notes import refuse_too_many_notes, thinned
from fairway.rpc.agent_api import messages as m
from fairway.rpc.convert.chain import from_wire_matcher
from fairway.rpc.convert.deployment import from_wire_deployment
from fairway.server.agent_auth import AgentIdentity
from fairway.server.agent_service.chain_progress import new_chain, sync_commands
from fairway.server.agent_service.chains import follow_chain
from fairway.server.agent_service.desk import AgentDesk
from fairway.server.agent_service.ownership import load_own_application, load_own_deployment, refuse_foreign
from fairway.server.agent_service.quotas import refuse_large_plan, refuse_too_many_open
from fairway.server.agent_service.references import reference_to, with_triggered
from fairway.server.hints import HintTopic
from fairway.server.status_codes import InvalidRequest, NotNow
from fairway.server.store import applications, chains, commands, deployments
from fairway.server.store.errors import AlreadyExists


async def create_deployment(
    desk: AgentDesk, caller: AgentIdentity, request: m.CreateDeploymentRequest
) -> m.CreateDeploymentResponse:
    """Record a deployment as pending."""
    now = desk.clock.now()
    refuse_large_plan("the deployment", request)
    desk.intake.refuse_without_room(caller.agent_id, now)
    deployment = _new(from_wire_deployment(request.deployment), caller, now)

    def create(connection: Connection) -> None:
        if _insert(connection, caller, deployment):
            follow_chain(connection, deployment, now)

    await desk.store.write(create)
    return m.CreateDeploymentResponse()


async def create_chain(
    desk: AgentDesk, caller: AgentIdentity, request: m.CreateDeploymentChainRequest
) -> m.CreateDeploymentChainResponse:
    """Record a first deployment, the chain it begins, and a command for each application that follows."""
    now = desk.clock.now()
    refuse_large_plan("the chain", request)
    desk.intake.refuse_without_room(caller.agent_id, now)
    chain_id = desk.new_id()
    sent = _new(from_wire_deployment(request.first_deployment), caller, now)
    first = msgspec.structs.replace(sent, chain_id=chain_id, chain_block_index=0)
    matchers = [from_wire_matcher(matcher) for matcher in request.matchers]

    def create(connection: Connection) -> tuple[Command, ...]:
        if not _insert(connection, caller, first):
            return ()
        candidates = applications.list_enabled_applications(connection, caller.project_id)
        chain = new_chain(chain_id, first, matchers, candidates)
        asked = sync_commands(chain, candidates, desk.new_id)
        chains.insert_chain(connection, chain)
        for command in asked:
            commands.insert_command(connection, command)
        return asked

    asked = await desk.store.write(create)
    for agent_id in {command.agent_id for command in asked}:
        desk.hints.publish(agent_id, HintTopic.COMMANDS)
    return m.CreateDeploymentChainResponse()


def _new(sent: Deployment, caller: AgentIdentity, at: datetime) -> Deployment:
    refuse_foreign(caller, sent)
    if sent.status is not DeploymentStatus.PENDING:
        raise InvalidRequest(f"deployment.status is {sent.status.value}; expected pending, as a deployment begins")
    created_at = sent.created_at if sent.created_at.timestamp() > 0 else at
    refuse_too_many_notes(sent)
    sent = thinned(sent)
    return msgspec.structs.replace(sent, created_at=created_at, updated_at=at, completed_at=None)


def _insert(connection: Connection, caller: AgentIdentity, deployment: Deployment) -> bool:
    """Whether the deployment is new. Nothing is stored, and nothing wrong, when the agent only repeats itself."""
    application = load_own_application(connection, caller, deployment.application_id)
    try:
        deployments.insert_deployment(connection, deployment)
    except AlreadyExists:
        known = load_own_deployment(connection, caller, deployment.id)
        if known.application_id != deployment.application_id:
            raise
        return False
    refuse_too_many_open(connection, caller.agent_id)
    if application.disabled or application.deleted_at is not None:
        state = "disabled" if application.deleted_at is None else "deleted"
        raise NotNow(f"application {application.id} is {state}, so nothing of it is deployed; list applications again")
    reference = reference_to(deployment)
    applications.update_application(
        connection, application.id, lambda found: with_triggered(found, reference, deployment.updated_at)
    )
    return True
