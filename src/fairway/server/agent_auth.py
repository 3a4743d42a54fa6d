"""Which agent calls: the token in a call's header, turned into a project and an agent.

Header: `authorization: PIPED-TOKEN <project>,<agent>,<key>`, one space, two commas. A header that is missing or
malformed, another project, an agent that is unknown or disabled, a wrong key: the caller gets the same answer for all
of them, and nothing of the token is logged. A token that was found right is trusted for the time that `VerifiedKeys`
allows, so most calls do not touch the store. Whoever disables an agent or changes its keys calls `forget`.
"""

from collections.abc import Sequence

import msgspec

from fairway.clock import Clock
from fairway.model.agent import Agent
from fairway.rpc.context import CallContext
from fairway.server.keys import VerifiedKeys, matches
from fairway.server.status_codes import BadCredentials
from fairway.server.store import agents
from fairway.server.store.errors import NotFound
from fairway.server.store.store import Store

SCHEME = "PIPED-TOKEN"


class AgentIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """The agent behind a call."""

    project_id: str
    agent_id: str


class AgentToken(msgspec.Struct, frozen=True, kw_only=True):
    """What a caller says it is, not yet verified."""

    identity: AgentIdentity
    key: str

    def __repr__(self) -> str:
        return f"AgentToken({self.identity!r}, key=…)"


class AgentAuth:
    """Knows agents by their keys."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._verified: VerifiedKeys[AgentIdentity] = VerifiedKeys(clock)

    async def authenticate(self, context: CallContext) -> AgentIdentity:
        """Which agent makes this call; BadCredentials when none we know does."""
        # Only keys that end in -bin carry bytes; str() is for the type checker's sake.
        headers = [str(value) for name, value in context.invocation_metadata() or () if name == "authorization"]
        return await self.identify(headers)

    async def identify(self, authorizations: Sequence[str]) -> AgentIdentity:
        """The agent that these authorization headers belong to; BadCredentials when there is none."""
        if len(authorizations) != 1:
            raise _refused()
        header = authorizations[0]
        known = self._verified.recall(header)
        if known is not None:
            return known
        token = parse_token(header)
        asked = self._verified.ask()
        await self._verify(token)
        self._verified.remember(header, token.identity.agent_id, token.identity, asked)
        return token.identity

    def forget(self, agent_id: str) -> None:
        """Trust no key of this agent from memory: it was disabled, or its keys changed."""
        self._verified.forget(agent_id)

    def forget_all(self) -> None:
        """Trust no key from memory."""
        self._verified.forget_all()

    async def _verify(self, token: AgentToken) -> None:
        try:
            agent = await self._store.read(lambda connection: agents.load_agent(connection, token.identity.agent_id))
        except NotFound:
            raise _refused() from None  # The answer must not tell an unknown agent from a wrong key.
        if not _is_agents_own(agent, token):
            raise _refused()


def parse_token(header: str) -> AgentToken:
    """What an authorization header says; BadCredentials when it is not made as agents make it."""
    words = header.split(" ")
    if len(words) != 2 or words[0] != SCHEME or not header.isascii() or not header.isprintable():
        raise _refused()
    parts = words[1].split(",")
    if len(parts) != 3 or not all(parts):
        raise _refused()
    project_id, agent_id, key = parts
    return AgentToken(identity=AgentIdentity(project_id=project_id, agent_id=agent_id), key=key)


def _is_agents_own(agent: Agent, token: AgentToken) -> bool:
    if agent.disabled or agent.project_id != token.identity.project_id:
        return False
    return any(matches(key.hash, token.key) for key in agent.keys)


def _refused() -> BadCredentials:
    return BadCredentials(
        f"the call shows no valid agent key; send the header `authorization: {SCHEME} <project>,<agent>,<key>` with "
        "the key that was shown when the agent was registered, and see that the agent is not disabled"
    )
