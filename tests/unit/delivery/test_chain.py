"""Whether a deployment of a chain may be planned yet."""

import pytest

from fairway.delivery.chain import ChainDecision, ChainOutcome, decide_chain
from fairway.model.chain import ChainBlock, ChainStatus, DeploymentChain
from tests.unit.model.builders import NOW

S = ChainStatus
PLAN, WAIT, CANCEL = ChainOutcome.PLAN, ChainOutcome.WAIT, ChainOutcome.CANCEL


def a_chain(*statuses: ChainStatus) -> DeploymentChain:
    blocks = tuple(ChainBlock(nodes=(), status=status) for status in statuses)
    return DeploymentChain(id="c-1", project_id="shop", blocks=blocks, created_at=NOW, updated_at=NOW)


@pytest.mark.parametrize(
    ("statuses", "block", "outcome", "reason"),
    [
        pytest.param([S.PENDING], 0, PLAN, "The first block of a chain waits for nothing", id="first"),
        pytest.param([S.SUCCEEDED, S.PENDING], 1, PLAN, "Block 0 of chain c-1 succeeded", id="before succeeded"),
        pytest.param([S.RUNNING, S.PENDING], 1, WAIT, "Block 0 of chain c-1 has not ended yet", id="before runs"),
        pytest.param([S.PENDING, S.PENDING], 1, WAIT, "Block 0 of chain c-1 has not ended yet", id="before waits"),
        pytest.param(
            [S.FAILED, S.PENDING], 1, CANCEL, "Block 0 of chain c-1 failed, so this one is not deployed", id="failed"
        ),
        pytest.param(
            [S.CANCELLED, S.PENDING],
            1,
            CANCEL,
            "Block 0 of chain c-1 was cancelled, so this one is not deployed",
            id="before cancelled",
        ),
        pytest.param(
            [S.FAILED, S.PENDING, S.PENDING],
            2,
            CANCEL,
            "Block 0 of chain c-1 failed, so this one is not deployed",
            id="one further before failed",
        ),
        pytest.param([S.FAILED], 0, CANCEL, "Block 0 of chain c-1 has already failed", id="itself failed"),
        pytest.param(
            [S.CANCELLED], 0, CANCEL, "Block 0 of chain c-1 has already been cancelled", id="itself cancelled"
        ),
        pytest.param([S.PENDING], 1, CANCEL, "Chain c-1 has no block 1; it has 1", id="no such block"),
    ],
)
def test_a_block_waits_for_the_one_before_it(
    statuses: list[ChainStatus], block: int, outcome: ChainOutcome, reason: str
) -> None:
    assert decide_chain(a_chain(*statuses), block) == ChainDecision(outcome=outcome, reason=reason)
