"""Deployments in a chain: the chain follows each report on them, and says when the next block may be planned."""

from collections.abc import Callable
from datetime import datetime

from sqlalchemy import Connection

from fairway.delivery.chain import ChainDecision, ChainOutcome, decide_chain
from fairway.model.chain import DeploymentChain
from fairway.model.command import ChainSyncApplication
from fairway.model.deployment import Deployment
from fairway.rpc.agent_api import messages as m
from fairway.server.agent_auth import AgentIdentity
from fairway.server.agent_service.chain_progress import newly_plannable, progress
from fairway.server.agent_service.desk import AgentDesk
from fairway.server.agent_service.ownership import load_own_deployment
from fairway.server.housekeeping import with_unanswered_block
from fairway.server.status_codes import Forbidden
from fairway.server.store import chains, deployments
from fairway.server.store.errors import NotFound


def follow_chain(connection: Connection, deployment: Deployment, at: datetime) -> frozenset[str]:
    """Record in its chain what the deployment has become; the agents whose deployments may now be planned."""
    if not deployment.chain_id:
        return frozenset()
    return _moved_on(connection, deployment.chain_id, lambda chain: progress(chain, deployment, at))


def give_up_block(connection: Connection, asked: ChainSyncApplication, at: datetime) -> frozenset[str]:
    """Record in a chain that a deployment of it will not be made; the agents whose deployments fall with it."""
    try:
        return _moved_on(connection, asked.chain_id, lambda chain: with_unanswered_block(chain, asked, at))
    except NotFound:
        return frozenset()  # the chain has been forgotten


def _moved_on(
    connection: Connection, chain_id: str, change: Callable[[DeploymentChain], DeploymentChain]
) -> frozenset[str]:
    """The agents whose deployments waited for a block that has ended with the change."""
    waited: set[str] = set()

    def changed(chain: DeploymentChain) -> DeploymentChain:
        after = change(chain)
        waited.update(newly_plannable(chain, after))
        return after

    chains.update_chain(connection, chain_id, changed)
    return frozenset(deployments.load_deployment(connection, id).agent_id for id in waited)


async def is_plannable(
    desk: AgentDesk, caller: AgentIdentity, request: m.InChainDeploymentPlannableRequest
) -> m.InChainDeploymentPlannableResponse:
    """Whether the block before is done, or the deployment should be given up."""

    def decide(connection: Connection) -> ChainDecision:
        deployment = load_own_deployment(connection, caller, request.deployment_id)
        if deployment.chain_id != request.deployment_chain_id:
            raise Forbidden(
                f"deployment {deployment.id} is not part of chain {request.deployment_chain_id}; read it again"
            )
        return decide_chain(chains.load_chain(connection, deployment.chain_id), deployment.chain_block_index)

    decision = await desk.store.read(decide)
    cancel = decision.outcome is ChainOutcome.CANCEL
    return m.InChainDeploymentPlannableResponse(
        plannable=decision.outcome is ChainOutcome.PLAN,
        cancel=cancel,
        cancel_reason=decision.reason if cancel else "",
    )
