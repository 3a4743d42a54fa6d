from datetime import timedelta
from typing import Any

import pytest

from fairway.model.application import Application, DeploymentReference
from fairway.model.chain import ChainBlock, ChainDeployment, ChainNode, ChainStatus, DeploymentChain
from fairway.model.command import ChainSyncApplication
from fairway.model.deployment import DeploymentStatus
from fairway.server.housekeeping import has_ended, is_needed, with_unanswered_block
from tests.unit.model.builders import LATER, NOW, a_deployment, a_trigger, an_application

ASKED = ChainSyncApplication(application_id="a-2", chain_id="chain-1", block_index=1)


def a_node(application_id: str, status: DeploymentStatus | None = None) -> ChainNode:
    known = None if status is None else ChainDeployment(deployment_id=f"d-{application_id}", status=status)
    return ChainNode(application_id=application_id, deployment=known)


def a_chain(*blocks: ChainBlock, **fields: Any) -> DeploymentChain:
    times = {"created_at": NOW, "updated_at": NOW}
    return DeploymentChain(**{"id": "chain-1", "project_id": "shop", "blocks": blocks, **times, **fields})


DONE = ChainBlock(nodes=(a_node("a-1", DeploymentStatus.SUCCEEDED),), status=ChainStatus.SUCCEEDED)
WAITING = ChainBlock(nodes=(a_node("a-2"), a_node("a-3", DeploymentStatus.PENDING)))
LAST = ChainBlock(nodes=(a_node("a-4"),))


def test_a_block_that_an_agent_never_heard_of_fails_and_the_chain_with_it() -> None:
    chain = a_chain(DONE, WAITING, LAST, status=ChainStatus.RUNNING)

    changed = with_unanswered_block(chain, ASKED, LATER)

    failed = ChainBlock(nodes=WAITING.nodes, status=ChainStatus.FAILED, started_at=LATER, completed_at=LATER)
    assert changed == a_chain(DONE, failed, LAST, status=ChainStatus.FAILED, completed_at=LATER, updated_at=LATER)


def test_the_end_of_a_chain_stays_what_it_was() -> None:
    chain = a_chain(DONE, WAITING, status=ChainStatus.CANCELLED, completed_at=NOW)

    changed = with_unanswered_block(chain, ASKED, LATER)

    assert (changed.status, changed.completed_at) == (ChainStatus.CANCELLED, NOW)


@pytest.mark.parametrize(
    "block",
    [
        pytest.param(ChainBlock(nodes=(a_node("a-2", DeploymentStatus.PENDING),)), id="deployed without an answer"),
        pytest.param(ChainBlock(nodes=(a_node("a-2"),), status=ChainStatus.CANCELLED), id="ended already"),
        pytest.param(ChainBlock(nodes=(a_node("a-9"),)), id="of other applications"),
    ],
)
def test_a_block_that_misses_nothing_stays_as_it_is(block: ChainBlock) -> None:
    chain = a_chain(DONE, block)

    assert with_unanswered_block(chain, ASKED, LATER) is chain


def test_a_block_that_the_chain_does_not_have_is_no_matter() -> None:
    chain = a_chain(DONE)

    assert with_unanswered_block(chain, ASKED, LATER) is chain


def remembering(**fields: str) -> Application:
    references: dict[str, Any] = {
        name: DeploymentReference(deployment_id=id, trigger=a_trigger(), started_at=NOW) for name, id in fields.items()
    }
    return an_application(**references)


OPEN_CHAIN = a_chain(DONE, WAITING, status=ChainStatus.RUNNING)
ENDED_CHAIN = a_chain(DONE, LAST, status=ChainStatus.FAILED)


@pytest.mark.parametrize(
    ("application", "chain", "needed"),
    [
        pytest.param(None, None, False, id="of nothing"),
        pytest.param(remembering(last_triggered="d-1"), None, True, id="triggered last"),
        pytest.param(remembering(last_succeeded="d-1"), None, True, id="succeeded last"),
        pytest.param(remembering(last_triggered="d-2", last_succeeded="d-3"), None, False, id="before the last"),
        pytest.param(an_application(), OPEN_CHAIN, True, id="in a chain that goes on"),
        pytest.param(an_application(), ENDED_CHAIN, False, id="in a chain that has ended"),
    ],
)
def test_what_still_needs_a_deployment_keeps_it(
    application: Application | None, chain: DeploymentChain | None, needed: bool
) -> None:
    ended = a_deployment(id="d-1", status=DeploymentStatus.SUCCEEDED, completed_at=NOW + timedelta(minutes=1))

    assert is_needed(ended, application, chain) is needed


def test_an_open_deployment_is_always_needed() -> None:
    assert is_needed(a_deployment(status=DeploymentStatus.RUNNING), None, None)


def test_a_fallen_chain_goes_on_until_the_last_of_its_deployments_has_ended() -> None:
    assert not has_ended(a_chain(DONE, WAITING, status=ChainStatus.FAILED))
    assert has_ended(a_chain(DONE, LAST, status=ChainStatus.FAILED))
