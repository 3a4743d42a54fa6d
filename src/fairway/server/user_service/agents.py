"""Registering agents, naming them, letting them in or not, and sealing secrets for them.

An agent's key leaves the server once, in the answer to its registration; no other answer carries a key or a hash.
"""

import base64
from datetime import datetime, timedelta

import msgspec
from sqlalchemy import Connection

from fairway.model.agent import Agent, AgentKey, ConnectionStatus, EncryptionKind
from fairway.rpc.convert.agent import to_wire_agent
from fairway.rpc.user_api import messages as m
from fairway.server.keys import new_agent_key
from fairway.server.status_codes import NotNow
from fairway.server.store import agents
from fairway.server.user_auth import ApiIdentity
from fairway.server.user_service.desk import Desk, check_project

#: An agent reports each minute; one that was not heard for longer than this is offline.
ONLINE_FOR = timedelta(minutes=2)


def connection_status(last_seen: datetime | None, now: datetime) -> ConnectionStatus:
    """Whether an agent that was last heard at `last_seen` counts as connected."""
    if last_seen is None:
        return ConnectionStatus.UNKNOWN
    return ConnectionStatus.ONLINE if now - last_seen <= ONLINE_FOR else ConnectionStatus.OFFLINE


async def get_agent(desk: Desk, identity: ApiIdentity, request: m.GetPipedRequest) -> m.GetPipedResponse:
    """One agent, without its keys."""
    agent = await _load(desk, identity, request.piped_id)
    return m.GetPipedResponse(piped=to_wire_agent(msgspec.structs.replace(agent, keys=())))


async def register_agent(desk: Desk, identity: ApiIdentity, request: m.RegisterPipedRequest) -> m.RegisterPipedResponse:
    """Register an agent; the answer is the only time its key is shown."""
    now, key = desk.clock.now(), new_agent_key()
    agent = Agent(
        id=desk.new_id(),
        name=request.name,
        desc=request.desc,
        project_id=identity.project_id,
        keys=(AgentKey(hash=key.stored, creator=identity.key_id, created_at=now),),
        created_at=now,
        updated_at=now,
    )
    await desk.store.write(lambda connection: agents.insert_agent(connection, agent))
    return m.RegisterPipedResponse(id=agent.id, key=key.shown)


async def update_agent(desk: Desk, identity: ApiIdentity, request: m.UpdatePipedRequest) -> m.UpdatePipedResponse:
    """Give an agent another name and description."""
    await _change(desk, identity, request.piped_id, name=request.name, desc=request.desc)
    return m.UpdatePipedResponse()


async def enable_agent(desk: Desk, identity: ApiIdentity, request: m.EnablePipedRequest) -> m.EnablePipedResponse:
    """Let an agent in again."""
    await _change(desk, identity, request.piped_id, disabled=False)
    return m.EnablePipedResponse()


async def disable_agent(desk: Desk, identity: ApiIdentity, request: m.DisablePipedRequest) -> m.DisablePipedResponse:
    """Refuse an agent's calls from now on."""
    await _change(desk, identity, request.piped_id, disabled=True)
    desk.forget_agent(request.piped_id)
    return m.DisablePipedResponse()


async def encrypt(desk: Desk, identity: ApiIdentity, request: m.EncryptRequest) -> m.EncryptResponse:
    """Seal a text so that only one agent can read it. The text is neither stored nor logged."""
    agent = await _load(desk, identity, request.piped_id)
    encryption = agent.profile.secret_encryption
    if encryption.kind is not EncryptionKind.KEY_PAIR or not encryption.public_key:
        raise NotNow(
            f"agent {agent.id} has reported no public key (its secret management is {encryption.kind.value}); "
            "set secretManagement with a KEY_PAIR in the agent's file and start it once"
        )
    from fairway.secrets.sealed import seal  # loads much that a server without such a request can spare

    text = request.plaintext
    if request.base64_encoding:
        text = base64.b64encode(text.encode()).decode()
    return m.EncryptResponse(ciphertext=seal(text, encryption.public_key))


async def _load(desk: Desk, identity: ApiIdentity, agent_id: str) -> Agent:
    """The agent of the caller's project, with its status as of now."""

    def load(connection: Connection) -> tuple[Agent, datetime | None]:
        return agents.load_agent(connection, agent_id), agents.last_seen(connection, agent_id)

    agent, last_seen = await desk.store.read(load)
    check_project(identity, agent.project_id, f"agent {agent_id}")
    return msgspec.structs.replace(agent, status=connection_status(last_seen, desk.clock.now()))


async def _change(desk: Desk, identity: ApiIdentity, agent_id: str, **fields: str | bool) -> None:
    now = desk.clock.now()

    def change(found: Agent) -> Agent:
        check_project(identity, found.project_id, f"agent {agent_id}")
        changed = msgspec.structs.replace(found, **fields)
        return found if changed == found else msgspec.structs.replace(changed, updated_at=now)

    await desk.store.write(lambda connection: agents.update_agent(connection, agent_id, change))
