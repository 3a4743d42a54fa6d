"""What the agent hears from the server: its applications, open deployments and commands, and hints to look again.

With hints a look is worth while when one comes, and a slow round every minute is the safety net; without them (PipeCD's
server) the rounds are as quick as PipeCD's own agents make them. A server that is away is waited for; nothing that the
agent does depends on it meanwhile.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import msgspec
import structlog

from fairway.agent.applications import Registered
from fairway.agent.control_plane import ControlPlane, NoHints, ServerAway, ServerRefused
from fairway.agent.deployments import Deployments
from fairway.agent.inbox import Inbox
from fairway.agent.outage import Outage
from fairway.errors import FairwayError
from fairway.git.retry import Retry
from fairway.model.agent import AgentProfile
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.rpc.agent_api import hint_messages, messages

_log = structlog.get_logger()
_COMMANDS = hint_messages.Hint.SUBJECT_COMMANDS
_DEPLOYMENTS = hint_messages.Hint.SUBJECT_DEPLOYMENTS
_APPLICATIONS = hint_messages.Hint.SUBJECT_APPLICATIONS
_REPOSITORY = hint_messages.Hint.SUBJECT_REPOSITORY
_LEASE = hint_messages.Hint.SUBJECT_LEASE
_ANYTHING = hint_messages.Hint.SUBJECT_UNSPECIFIED

#: Seconds between two looks where hints come, and where none do.
CALM_SECONDS = 60.0
COMMAND_SECONDS = 5.0
DEPLOYMENT_SECONDS = 10.0
#: The server takes an agent that has not been heard for two minutes for gone.
SIGN_OF_LIFE_SECONDS = 60.0
_PATIENCE = Retry(attempts=10**9, first_delay=0.2, longest_delay=15.0)


class Listening(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of the agent that want to hear."""

    registered: Registered
    deployments: Deployments
    inbox: Inbox
    #: Look at every repository, because the applications may have changed.
    look: Callable[[], Coroutine[Any, Any, None]]
    #: Know of a deployment that has not ended.
    found: Callable[[Deployment], Coroutine[Any, Any, None]]
    #: Ask every repository whether something was pushed.
    nudge: Callable[[], None]
    #: Ask which version is wanted.
    wish: Callable[[], None] = lambda: None
    #: Ask for the lease again.
    lease: Callable[[], None] = lambda: None


class ServerWatch:
    """Listens to one server."""

    def __init__(self, server: ControlPlane, agent: Listening, patience: Retry = _PATIENCE) -> None:
        self._server = server
        self._agent = agent
        self._patience = patience
        self._hinted = False
        self._outage = Outage()
        self._due: dict[int, asyncio.Event] = {
            subject: asyncio.Event() for subject in (_COMMANDS, _DEPLOYMENTS, _APPLICATIONS)
        }

    async def introduce(self, profile: AgentProfile) -> None:
        """Say what this agent is; a server that is away is waited for."""
        await self._patience.run(lambda: self._server.introduce(profile))

    async def open_deployments(self) -> frozenset[str]:
        """The ids of the deployments that have not ended; none of them is taken up by that."""
        found = await self._patience.run(self._server.open_deployments)
        return frozenset(each.id for each in found)

    async def first_lists(self) -> None:
        """Know everything once, and begin with it."""
        await self._patience.run(self._look_at_applications)
        await self._patience.run(self._look_at_deployments)
        await self._patience.run(self._look_at_commands)

    async def run(self) -> None:
        """Listen until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._listen(), name="hints")
            group.create_task(self._sign_of_life(), name="sign of life")
            group.create_task(self._rounds(_APPLICATIONS, self._look_at_applications, CALM_SECONDS))
            group.create_task(self._rounds(_DEPLOYMENTS, self._look_at_deployments, DEPLOYMENT_SECONDS))
            group.create_task(self._rounds(_COMMANDS, self._look_at_commands, COMMAND_SECONDS))

    async def _rounds(self, subject: int, look: Callable[[], Awaitable[None]], seconds: float) -> None:
        """Look whenever a hint says so, and from time to time."""
        due = self._due[subject]
        while True:
            try:
                async with asyncio.timeout(CALM_SECONDS if self._hinted else seconds):
                    await due.wait()
            except TimeoutError:
                pass
            due.clear()
            try:
                await look()
            except FairwayError as error:
                if self._outage.failed(subject, error):
                    _log.warning("the server cannot be asked; it is tried again and again", reason=str(error))
            else:
                if self._outage.answered(subject):
                    _log.info("the server answers again")

    async def _look_at_applications(self) -> None:
        self._agent.registered.replace(await self._server.applications())
        await self._agent.look()

    async def _look_at_deployments(self) -> None:
        listed = await self._server.open_deployments()
        # Those that an agent had begun first, in whatever order they are listed: whoever is first in an application's
        # queue begins at once, and must not do so beside what still runs.
        for deployment in sorted(listed, key=lambda each: each.status is DeploymentStatus.PENDING):
            self._agent.deployments.take(deployment)
            await self._agent.found(deployment)

    async def _look_at_commands(self) -> None:
        await self._agent.inbox.take(await self._server.waiting_commands())

    async def _listen(self) -> None:
        """Follow the hints; a line that breaks is taken up again where it broke."""
        token, failures = "", 0
        while True:
            try:
                async for hint in self._server.watch(token):
                    self._hinted, failures, token = True, 0, hint.token
                    self._heard(hint.subject)
            except NoHints as error:
                _log.info(str(error))
                return
            except (ServerAway, ServerRefused) as error:
                _log.debug("the line for hints broke", reason=str(error))
            self._hinted = False
            failures += 1
            await self._patience.sleep(self._patience.delay(failures))

    def _heard(self, subject: int) -> None:
        if subject == _REPOSITORY:
            self._agent.nudge()
        if subject in {_COMMANDS, _ANYTHING}:
            # Whoever changes the wanted version wants something of the agent, too.
            self._agent.wish()
        if subject in {_LEASE, _ANYTHING}:
            self._agent.lease()
        if subject == _LEASE:
            return
        for due in [self._due[subject]] if subject in self._due else self._due.values():
            due.set()

    async def _sign_of_life(self) -> None:
        while True:
            try:
                await self._server.call("ReportStat", messages.ReportStatRequest(piped_stats=b""))
            except FairwayError as error:
                _log.debug("no sign of life was given", reason=str(error))
            await self._patience.sleep(SIGN_OF_LIFE_SECONDS)
