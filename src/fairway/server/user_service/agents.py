"""Registering agents, naming them, letting them in or not, and sealing secrets for them.

An agent's key leaves the server once, in the answer to its registration; no other answer carries a key or a hash.
"""

import base64

import msgspec

from fairway.model.agent import EncryptionKind
from fairway.rpc.convert.agent import to_wire_agent
from fairway.rpc.user_api import messages as m
from fairway.server.actions import agents
from fairway.server.actions.agents import AgentChange
from fairway.server.actions.desk import ActionDesk
from fairway.server.callers import Caller
from fairway.server.status_codes import NotNow


async def get_agent(desk: ActionDesk, caller: Caller, request: m.GetPipedRequest) -> m.GetPipedResponse:
    """One agent, without its keys."""
    seen = await agents.get_agent(desk, caller, request.piped_id)
    return m.GetPipedResponse(piped=to_wire_agent(msgspec.structs.replace(seen.agent, keys=())))


async def register_agent(desk: ActionDesk, caller: Caller, request: m.RegisterPipedRequest) -> m.RegisterPipedResponse:
    """Register an agent; the answer is the only time its key is shown."""
    made = await agents.register_agent(desk, caller, request.name, request.desc)
    return m.RegisterPipedResponse(id=made.agent.id, key=made.key)


async def update_agent(desk: ActionDesk, caller: Caller, request: m.UpdatePipedRequest) -> m.UpdatePipedResponse:
    """Give an agent another name and description."""
    await agents.update_agent(desk, caller, request.piped_id, AgentChange(name=request.name, desc=request.desc))
    return m.UpdatePipedResponse()


async def enable_agent(desk: ActionDesk, caller: Caller, request: m.EnablePipedRequest) -> m.EnablePipedResponse:
    """Let an agent in again."""
    await agents.enable_agent(desk, caller, request.piped_id)
    return m.EnablePipedResponse()


async def disable_agent(desk: ActionDesk, caller: Caller, request: m.DisablePipedRequest) -> m.DisablePipedResponse:
    """Refuse an agent's calls from now on."""
    await agents.disable_agent(desk, caller, request.piped_id)
    return m.DisablePipedResponse()


async def encrypt(desk: ActionDesk, caller: Caller, request: m.EncryptRequest) -> m.EncryptResponse:
    """Seal a text so that only one agent can read it. The text is neither stored nor logged."""
    agent = (await agents.get_agent(desk, caller, request.piped_id)).agent
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
