"""What one agent may store: how large a plan is, how many deployments are open, how many bytes come in a day.

A quota refuses what is new. Reports on what an agent has begun are always taken, so that its deployments can end.
"""

from collections import OrderedDict
from datetime import date, datetime

import msgspec
from google.protobuf.message import Message
from sqlalchemy import Connection

from fairway.model.limits import OPEN_DEPLOYMENTS, PLAN_BYTES, TooLarge
from fairway.server.status_codes import NotNow
from fairway.server.store import deployments

_GIB = 1024**3
#: How many agents a server counts for at once.
_COUNTED_AGENTS = 10_000


class Quotas(msgspec.Struct, frozen=True, kw_only=True):
    """What an operator may set."""

    #: Bytes of the log of one run of one stage.
    stage_log_bytes: int = _GIB // 2
    #: Bytes that one agent may add in a day: logs, notes, objects and new deployments.
    agent_day_bytes: int = 20 * _GIB


class Intake:
    """How many bytes each agent has added today. It belongs to one event loop, and to one server process."""

    def __init__(self, quotas: Quotas) -> None:
        self._most = quotas.agent_day_bytes
        self._added: OrderedDict[str, tuple[date, int]] = OrderedDict()

    def has_room(self, agent_id: str, at: datetime) -> bool:
        """Whether the agent may add more today (UTC)."""
        day, added = self._added.get(agent_id, (at.date(), 0))
        return day != at.date() or added < self._most

    def add(self, agent_id: str, size: int, at: datetime) -> None:
        """Count bytes that the agent has added."""
        day, added = self._added.get(agent_id, (at.date(), 0))
        self._added[agent_id] = at.date(), size + (added if day == at.date() else 0)
        self._added.move_to_end(agent_id)
        if len(self._added) > _COUNTED_AGENTS:
            self._added.popitem(last=False)

    def refuse_without_room(self, agent_id: str, at: datetime) -> None:
        """Raise NotNow when the agent has added all that it may today."""
        if not self.has_room(agent_id, at):
            raise NotNow(f"agent {agent_id} {self.exceeded}")

    @property
    def exceeded(self) -> str:
        """What is said of an agent that has no room."""
        return f"has reached its limit of {self._most} bytes a day (--agent-daily-gib), which ends at midnight UTC"


def refuse_too_many_open(connection: Connection, agent_id: str) -> None:
    """Raise NotNow when the agent has more deployments that have not ended than it may."""
    if deployments.count_open(connection, agent_id, OPEN_DEPLOYMENTS + 1) > OPEN_DEPLOYMENTS:
        raise NotNow(f"agent {agent_id} has {OPEN_DEPLOYMENTS} deployments that have not ended, which is its limit")


def refuse_large_plan(what: str, request: Message) -> None:
    """Raise TooLarge for a new deployment or a plan that is too large to be sent on."""
    if (size := request.ByteSize()) > PLAN_BYTES:
        raise TooLarge(f"{what} has {size} bytes; it has at most {PLAN_BYTES} bytes")
