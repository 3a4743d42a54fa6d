"""Hints on the wire: one stream for each agent that wants to hear at once what it would otherwise poll for.

Who is calling is found out by the same function as for PipedService, handed in, and again before each hint, so that an
agent whose key was withdrawn hears nothing more. A slow agent holds up its own stream only. When the server stops, it
closes the board; the streams then end without an error, and agents connect again.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing

from fairway.rpc.agent_api import HintServicer, hint_messages
from fairway.rpc.context import CallContext
from fairway.server.hints import HintBoard, HintTopic

#: Returns the id of the calling agent, cheaply enough to be asked for each hint, or ends the call with an error.
Authenticate = Callable[[CallContext], Awaitable[str]]

_SUBJECTS: Mapping[HintTopic, hint_messages.Hint.Subject] = {
    HintTopic.ANYTHING: hint_messages.Hint.SUBJECT_UNSPECIFIED,
    HintTopic.COMMANDS: hint_messages.Hint.SUBJECT_COMMANDS,
    HintTopic.DEPLOYMENTS: hint_messages.Hint.SUBJECT_DEPLOYMENTS,
    HintTopic.APPLICATIONS: hint_messages.Hint.SUBJECT_APPLICATIONS,
    HintTopic.REPOSITORY: hint_messages.Hint.SUBJECT_REPOSITORY,
    HintTopic.LEASE: hint_messages.Hint.SUBJECT_LEASE,
}


class HintService(HintServicer):
    """Serves the hints of a board."""

    def __init__(self, board: HintBoard, authenticate: Authenticate) -> None:
        self._board = board
        self._authenticate = authenticate

    async def Watch(
        self,
        request: hint_messages.WatchRequest,
        context: CallContext,
    ) -> AsyncIterator[hint_messages.Hint]:
        agent_id = await self._authenticate(context)
        async with aclosing(self._board.watch(agent_id, request.resume_token)) as hints:
            async for hint in hints:
                await self._authenticate(context)
                yield hint_messages.Hint(subject=_SUBJECTS[hint.topic], token=hint.token)
