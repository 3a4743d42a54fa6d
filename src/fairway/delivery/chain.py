"""Whether a deployment of a chain may be planned yet: a block waits for the one before it and falls with it."""

import enum

import msgspec

from fairway.model.chain import ChainStatus, DeploymentChain


class ChainOutcome(enum.Enum):
    """What to do with a pending deployment of a chain."""

    #: Plan it now.
    PLAN = "plan"
    #: Ask again when the block before has changed.
    WAIT = "wait"
    #: End it as cancelled.
    CANCEL = "cancel"


class ChainDecision(msgspec.Struct, frozen=True, kw_only=True):
    """What to do with a pending deployment of a chain."""

    outcome: ChainOutcome
    reason: str


def decide_chain(chain: DeploymentChain, block_index: int) -> ChainDecision:
    """Whether a deployment in the block with this index may be planned."""
    if not 0 <= block_index < len(chain.blocks):
        reason = f"Chain {chain.id} has no block {block_index}; it has {len(chain.blocks)}"
        return ChainDecision(outcome=ChainOutcome.CANCEL, reason=reason)
    block = chain.blocks[block_index]
    if block.status.is_terminal:
        cancelled = block.status is ChainStatus.CANCELLED
        reason = (
            f"Block {block_index} of chain {chain.id} has already {'been ' if cancelled else ''}{block.status.value}"
        )
        return ChainDecision(outcome=ChainOutcome.CANCEL, reason=reason)
    if block_index == 0:
        return ChainDecision(outcome=ChainOutcome.PLAN, reason="The first block of a chain waits for nothing")
    # Of those in between, one that no application fits would never end.
    for index, before in enumerate(chain.blocks[:block_index]):
        if before.status.is_terminal and before.status is not ChainStatus.SUCCEEDED:
            fell = "was cancelled" if before.status is ChainStatus.CANCELLED else "failed"
            reason = f"Block {index} of chain {chain.id} {fell}, so this one is not deployed"
            return ChainDecision(outcome=ChainOutcome.CANCEL, reason=reason)
    name = f"Block {block_index - 1} of chain {chain.id}"
    if chain.blocks[block_index - 1].status is ChainStatus.SUCCEEDED:
        return ChainDecision(outcome=ChainOutcome.PLAN, reason=f"{name} succeeded")
    return ChainDecision(outcome=ChainOutcome.WAIT, reason=f"{name} has not ended yet")
