"""Which of several agents with one id is at work, and what a person can do who knows more than the server."""

from collections.abc import Mapping

import msgspec
from sqlalchemy import Connection

from fairway.model.agent import Agent
from fairway.model.role import Action, Resource
from fairway.server.actions.audit import record
from fairway.server.actions.desk import ActionDesk
from fairway.server.callers import Caller
from fairway.server.hints import HintTopic
from fairway.server.lease import decide_release
from fairway.server.permissions import permit
from fairway.server.status_codes import NotNow
from fairway.server.store import agents, leases
from fairway.server.store.leases import Lease


async def get_lease(desk: ActionDesk, caller: Caller, agent_id: str) -> Lease | None:
    """Who is at work and who stands by; `None` for an agent that never asked for a lease."""

    def load(connection: Connection) -> Lease | None:
        agent = agents.load_agent(connection, agent_id)
        permit(caller, Resource.AGENT, Action.READ, agent.project_id)
        return leases.find_lease(connection, agent_id)

    return await desk.store.read(load)


async def release_lease(desk: ActionDesk, caller: Caller, agent_id: str) -> Lease:
    """Let another agent take over at once, instead of when nothing was heard of the one at work for long enough."""
    now = desk.clock.now()

    def release(connection: Connection) -> Lease:
        agent = agents.load_agent(connection, agent_id)
        permit(caller, Resource.AGENT, Action.UPDATE, agent.project_id)
        held: list[Lease] = []

        def change(found: Lease | None) -> Lease | None:
            if found is None or found.released:
                raise _nobody_at_work(agent)
            held.append(found)
            return decide_release(found, found.holder)

        leases.change_lease(connection, agent_id, change)
        record(
            connection,
            caller,
            now,
            action="agent.release",
            subject_id=agent.id,
            subject_name=agent.name,
            before=_told(held[-1]),
        )
        return msgspec.structs.replace(held[-1], released=True)

    released = await desk.store.write(release)
    # Should the one at work live after all, it is to hear of it soon.
    desk.hints.publish(agent_id, HintTopic.LEASE)
    return released


def _nobody_at_work(agent: Agent) -> NotNow:
    return NotNow(f"no agent is at work as {agent.name} by a lease, so there is nothing to take from it")


def _told(lease: Lease) -> Mapping[str, str | int]:
    return {"at_work": lease.description, "fencing_token": lease.fencing_token}
