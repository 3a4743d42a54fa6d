"""Waits until a deployment of a chain may be planned: when the block before its own has succeeded, says the server."""

from collections.abc import Callable, Coroutine
from typing import Any

from fairway.agent.control_plane import ChainTurn, ServerAway
from fairway.agent.deployments import Underway
from fairway.model.deployment import Deployment

#: Asks the server whether a deployment may be planned.
AskTurn = Callable[[Deployment], Coroutine[Any, Any, ChainTurn]]


async def given_up_by_its_chain(ask: AskTurn, underway: Underway) -> str:
    """Wait until a deployment may be planned; why it never will be, if its chain has fallen, else nothing."""
    deployment = underway.deployment
    while True:
        # What is heard while the server is asked counts too.
        underway.heard_of.clear()
        try:
            turn = await ask(deployment)
        except ServerAway as error:
            underway.trouble = str(error)
        else:
            if turn.come or turn.given_up:
                underway.trouble = ""
                return turn.given_up
            underway.trouble = f"block {deployment.chain_block_index - 1} of its chain has not succeeded yet"
        # The agent hears of its open deployments when one of them may go on, and from time to time.
        await underway.heard_of.wait()
