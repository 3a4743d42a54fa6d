"""Keeps out an agent that is not at work any more: its token is compared in the transaction that stores its report.

Only calls that show a token are compared. PipeCD's agents know of none, and are answered as ever.
"""

from sqlalchemy import Connection

from fairway.rpc.agent_api import FENCING_METADATA
from fairway.rpc.context import CallContext
from fairway.server.status_codes import InvalidRequest, NotNow
from fairway.server.store.leases import current_token, find_lease


class NotAtWork(NotNow):
    """A call with a token that is not the current one."""

    #: By which an agent knows, whatever the words are.
    trailing_metadata = ((FENCING_METADATA, "stale"),)


class Fence:
    """Lets only one token of one agent pass."""

    def __init__(self, agent_id: str, token: int) -> None:
        self._agent_id = agent_id
        self._token = token

    def at_read(self, connection: Connection) -> None:
        """NotAtWork when the token is another now."""
        self._compare(connection, current_token(connection, self._agent_id, until_stored=False))

    def at_write(self, connection: Connection) -> None:
        """NotAtWork when the token is another now; otherwise it stays the same until the work is stored."""
        self._compare(connection, current_token(connection, self._agent_id, until_stored=True))

    def _compare(self, connection: Connection, current: int | None) -> None:
        if current == self._token:
            return
        lease, holder = find_lease(connection, self._agent_id), "nobody"
        if lease is not None and not lease.released:
            holder = f"{lease.description} since {lease.held_since:%Y-%m-%d %H:%M:%S} UTC"
        raise NotAtWork(
            f"this agent is not at work as {self._agent_id} any more: its fencing token is {self._token}, the current "
            f"one {current or 'none'}, held by {holder}; nothing was changed"
        )


def fence_of(agent_id: str, context: CallContext) -> Fence | None:
    """The fence in front of a call; None for a caller that shows no token."""
    shown = [str(value) for name, value in context.invocation_metadata() or () if name == FENCING_METADATA]
    if not shown:
        return None
    if len(shown) > 1 or not shown[0].isascii() or not shown[0].isdecimal() or len(shown[0]) > 18:
        raise InvalidRequest(
            f"{FENCING_METADATA} is {shown[0][:40]!r}; expected the number that the lease was given with"
        )
    return Fence(agent_id, int(shown[0]))
