"""How a chain comes to be and moves on with its deployments: pure; stored by whoever records the deployment.

A block has failed or been cancelled with the first deployment of it that has, and has succeeded with the last; what is
final stays so. A block that no application fits is passed over, as nobody would ever report on it.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

import msgspec

from fairway.model.application import Application
from fairway.model.chain import (
    ApplicationMatcher,
    ChainBlock,
    ChainDeployment,
    ChainNode,
    ChainStatus,
    DeploymentChain,
)
from fairway.model.command import ChainSyncApplication, Command
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.server.status_codes import Forbidden

#: Deployments that end a block before the others of it have ended.
_FALLS = {DeploymentStatus.FAILED: ChainStatus.FAILED, DeploymentStatus.CANCELLED: ChainStatus.CANCELLED}
_NOT_STARTED = frozenset({DeploymentStatus.PENDING, DeploymentStatus.PLANNED})


def new_chain(
    id: str, first: Deployment, matchers: Iterable[ApplicationMatcher], applications: Sequence[Application]
) -> DeploymentChain:
    """A chain that begins with `first`; each matcher makes one more block of the applications that fit it."""
    node = ChainNode(application_id=first.application_id, application_name=first.application_name)
    later = (
        ChainBlock(
            nodes=tuple(
                ChainNode(application_id=application.id, application_name=application.name)
                for application in applications
                if matcher.matches(application)
            )
        )
        for matcher in matchers
    )
    chain = DeploymentChain(
        id=id,
        project_id=first.project_id,
        blocks=(ChainBlock(nodes=(node,)), *later),
        created_at=first.updated_at,
        updated_at=first.updated_at,
    )
    return progress(chain, first, first.updated_at)


def sync_commands(
    chain: DeploymentChain, applications: Iterable[Application], new_id: Callable[[], str]
) -> tuple[Command, ...]:
    """What the agents of the later blocks are asked, a command for each application."""
    by_id = {application.id: application for application in applications}
    wanted = [(index, node) for index, block in enumerate(chain.blocks) if index for node in block.nodes]
    return tuple(
        Command(
            id=new_id(),
            agent_id=by_id[node.application_id].agent_id,
            project_id=chain.project_id,
            application_id=node.application_id,
            payload=ChainSyncApplication(application_id=node.application_id, chain_id=chain.id, block_index=index),
            commander=chain.id,
            created_at=chain.created_at,
            updated_at=chain.created_at,
        )
        for index, node in wanted
    )


def progress(chain: DeploymentChain, deployment: Deployment, at: datetime) -> DeploymentChain:
    """The chain with what one of its deployments has become; itself when it knew that already."""
    index = deployment.chain_block_index
    known = ChainDeployment(
        deployment_id=deployment.id, status=deployment.status, status_reason=deployment.status_reason
    )
    nodes = _linked(chain, index, deployment.application_id, known)
    blocks = list(chain.blocks)
    blocks[index] = msgspec.structs.replace(blocks[index], nodes=nodes)
    settled = _settled(blocks, at)
    if settled == chain.blocks:
        return chain
    status = chain.status if chain.status.is_terminal else _chain_status(settled)
    completed_at = chain.completed_at or (at if status.is_terminal else None)
    return msgspec.structs.replace(chain, blocks=settled, status=status, completed_at=completed_at, updated_at=at)


def newly_plannable(before: DeploymentChain, after: DeploymentChain) -> frozenset[str]:
    """Ids of the deployments that waited for a block that has just ended."""
    pairs = zip(before.blocks, after.blocks, strict=True)
    ended = [index for index, (old, new) in enumerate(pairs) if new.status.is_terminal and not old.status.is_terminal]
    waiting = (after.blocks[index + 1] for index in ended if index + 1 < len(after.blocks))
    return frozenset(node.deployment.deployment_id for block in waiting for node in block.nodes if node.deployment)


def _linked(chain: DeploymentChain, index: int, application_id: str, known: ChainDeployment) -> tuple[ChainNode, ...]:
    nodes = chain.blocks[index].nodes if index < len(chain.blocks) else ()
    if application_id not in {node.application_id for node in nodes}:
        raise Forbidden(f"application {application_id} is not in block {index} of chain {chain.id}; deploy it alone")
    return tuple(
        msgspec.structs.replace(node, deployment=known) if node.application_id == application_id else node
        for node in nodes
    )


def _settled(blocks: Sequence[ChainBlock], at: datetime) -> tuple[ChainBlock, ...]:
    settled: list[ChainBlock] = []
    for block in blocks:
        ready = all(before.status is ChainStatus.SUCCEEDED for before in settled)
        status = block.status if block.status.is_terminal else _block_status(block, ready)
        settled.append(
            msgspec.structs.replace(
                block,
                status=status,
                started_at=block.started_at or (at if status is not ChainStatus.PENDING else None),
                completed_at=block.completed_at or (at if status.is_terminal else None),
            )
        )
    return tuple(settled)


def _block_status(block: ChainBlock, ready: bool) -> ChainStatus:
    if not block.nodes:
        return ChainStatus.SUCCEEDED if ready else ChainStatus.PENDING
    statuses = [node.deployment.status if node.deployment else DeploymentStatus.PENDING for node in block.nodes]
    for fallen, status in _FALLS.items():
        if fallen in statuses:
            return status
    if all(status is DeploymentStatus.SUCCEEDED for status in statuses):
        return ChainStatus.SUCCEEDED
    return ChainStatus.PENDING if all(status in _NOT_STARTED for status in statuses) else ChainStatus.RUNNING


def _chain_status(blocks: Sequence[ChainBlock]) -> ChainStatus:
    statuses = [block.status for block in blocks]
    for bad in (ChainStatus.FAILED, ChainStatus.CANCELLED):
        if bad in statuses:
            return bad
    if all(status is ChainStatus.SUCCEEDED for status in statuses):
        return ChainStatus.SUCCEEDED
    return ChainStatus.PENDING if all(status is ChainStatus.PENDING for status in statuses) else ChainStatus.RUNNING
