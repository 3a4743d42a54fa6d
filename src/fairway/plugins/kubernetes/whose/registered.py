"""Which other applications there are: the agent is asked, which has it from the server.

What counts is that an application is registered. Whether it is disabled, its file broken or its agent another one makes
no difference to what it has on the cluster; and two of one name are two.
"""

import asyncio
from collections.abc import Awaitable, Callable

from fairway.model.registration import Registration, Standing


class Registrations:
    """Asks for one stage; while that runs, an answer holds. It belongs to one event loop."""

    def __init__(self, ask: Callable[[str], Awaitable[Registration]]) -> None:
        self._ask = ask
        #: By id.
        self._known: dict[str, Registration] = {}
        #: Many objects of one application are met side by side, and ask once.
        self._asking = asyncio.Lock()

    async def find(self, application_id: str) -> Registration:
        """How an application stands."""
        async with self._asking:
            if application_id not in self._known:
                self._known[application_id] = await self._ask(application_id)
            return self._known[application_id]

    async def is_gone(self, application_id: str) -> bool:
        """Whether it is known for certain that there is no such application any more."""
        return (await self.find(application_id)).standing is Standing.GONE


def in_words(application_id: str, found: Registration) -> str:
    """Which application that is, for people."""
    if found.standing is Standing.UNKNOWN:
        return f"application {application_id}, of which nobody can tell here whether it is still registered"
    if found.standing is Standing.REGISTERED and not found.name:
        return f"application {application_id} of another project"
    named = f"application {found.name} ({application_id})" if found.name else f"application {application_id}"
    return f"{named} of agent {found.agent_name}" if found.agent_name else named
