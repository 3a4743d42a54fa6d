"""All deployments of an agent: many side by side, one of each application at a time, the oldest commit first.

A deployment enters here when the agent makes it, or when the server lists it as open because an agent that is gone has
left it; it is the same from then on. It leaves when it has ended and the server knows, or knows as soon as it is back.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import msgspec
import structlog

from fairway.agent.control_plane import ServerRefused
from fairway.agent.masking import Opened
from fairway.agent.run_context import Cancelling
from fairway.agent.running import DeploymentRun
from fairway.delivery.trigger import is_superseded, turn
from fairway.errors import FairwayError
from fairway.model.deployment import Deployment, DeploymentStatus

_log = structlog.get_logger()

#: How many that have ended are remembered.
_REMEMBERED = 20_000


class GivingUp(msgspec.Struct, frozen=True):
    """How a deployment ends that is not brought to its own end."""

    status: DeploymentStatus
    reason: str
    #: Whether it was its application's one at work, so that something of it may run.
    had_its_turn: bool = False


class Deployments:
    """The deployments that have not ended."""

    def __init__(
        self,
        deploy: Callable[["Underway"], Awaitable[None]],
        give_up: Callable[["Underway", GivingUp], Awaitable[None]],
    ) -> None:
        self._deploy = deploy
        self._give_up = give_up
        self._by_id: dict[str, Underway] = {}
        #: Those that have ended, newest last: the server lists one as open until it has been told, which may be long
        #: after, and what is done must not be done again.
        self._ended: dict[str, None] = {}
        #: Application id → what waits for its turn; the first one has it.
        self._queues: dict[str, list[Underway]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def take(self, deployment: Deployment, telling: "asyncio.Future[None] | None" = None) -> None:
        """Bring a deployment to its end, as soon as its application is free. One that is known stays as it is, and one
        that has ended here stays so, whatever the server believes of it. One that the server is being told of now is
        got ready meanwhile, and given up if the server refuses it."""
        if known := self._by_id.get(deployment.id):
            known.heard_of.set()
        if self.knows(deployment.id) or deployment.status.is_terminal:
            return
        underway = Underway(deployment, telling)
        self._by_id[deployment.id] = underway
        queue = self._queues.setdefault(deployment.application_id, [])
        queue.append(underway)
        underway.began_with_its_telling = telling is not None and len(queue) == 1
        underway.on_cancel(lambda wish: self._leave_queue(underway, _cancelled(wish)))
        # Whoever is first has begun and stays first; a deployment that an agent had begun goes before the others.
        queue[1:] = sorted(queue[1:], key=lambda each: turn(each.deployment))
        if len(queue) == 1:
            self._begin(self._work(deployment.application_id), f"deploy {deployment.application_id}")

    def supersede(self, newest: Deployment) -> None:
        """End those that still wait for their turn and that a newer commit makes needless."""
        waiting = self._queues.get(newest.application_id, [])[1:]
        for underway in [each for each in waiting if is_superseded(each.deployment, newest)]:
            reason = f"Superseded while it waited for its turn: commit {newest.trigger.commit.hash[:7]} is newer"
            self._leave_queue(underway, GivingUp(DeploymentStatus.CANCELLED, reason))

    def find(self, deployment_id: str) -> "Underway | None":
        """The deployment, if it has not ended."""
        return self._by_id.get(deployment_id)

    def knows(self, deployment_id: str) -> bool:
        """Whether the deployment was taken in, even if it has ended since."""
        return deployment_id in self._by_id or deployment_id in self._ended

    def under_way(self, application_id: str) -> str:
        """The deployment of an application that has its turn; empty when the application is free."""
        queue = self._queues.get(application_id)
        return queue[0].deployment.id if queue else ""

    @property
    def open_ids(self) -> frozenset[str]:
        """Which deployments have not ended."""
        return frozenset(self._by_id)

    async def close(self) -> None:
        """Let go of all of them; whoever comes next goes on."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _work(self, application_id: str) -> None:
        queue = self._queues[application_id]
        while queue:
            underway = queue[0]
            await self._to_its_end(underway, self._deploy(underway))
            queue.remove(underway)
        del self._queues[application_id]

    async def _to_its_end(self, underway: "Underway", work: Awaitable[None]) -> None:
        try:
            await work
        except ServerRefused as error:
            # Another agent has it now, or somebody deleted it: it is not ours any more.
            _log.warning("a deployment was given up", deployment=underway.deployment.id, reason=str(error))
        except Exception as error:
            # One deployment must not hold up those behind it, and none stays open for ever.
            _log.exception("a deployment failed by a defect of this agent", deployment=underway.deployment.id)
            reason = f"A defect of the agent: {type(error).__name__}: {error}"
            had_its_turn = self.under_way(underway.deployment.application_id) == underway.deployment.id
            try:
                await self._give_up(underway, GivingUp(DeploymentStatus.FAILED, reason, had_its_turn))
            except FairwayError:
                pass
            except Exception:
                # Whoever comes next would never have its turn. The next agent finds this one open, and goes on with it.
                _log.exception("a deployment cannot be given up", deployment=underway.deployment.id)
        del self._by_id[underway.deployment.id]
        self._ended[underway.deployment.id] = None
        if len(self._ended) > _REMEMBERED:
            del self._ended[next(iter(self._ended))]
        underway.ended.set()

    def _leave_queue(self, underway: "Underway", giving_up: GivingUp) -> None:
        """End a deployment that nothing has been done for; whoever has its turn is not disturbed."""
        queue = self._queues.get(underway.deployment.application_id, [])
        if underway in queue[1:] and underway.deployment.status is DeploymentStatus.PENDING:
            queue.remove(underway)
            ending = self._to_its_end(underway, self._give_up(underway, giving_up))
            self._begin(ending, f"end {underway.deployment.id}")

    def _begin(self, work: Coroutine[Any, Any, None], name: str) -> None:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


class Underway:
    """One deployment that has not ended."""

    def __init__(self, deployment: Deployment, telling: "asyncio.Future[None] | None" = None) -> None:
        #: As it was taken in; while it runs, `run` knows better.
        self.deployment = deployment
        self._telling = telling
        #: Whether it has its turn at once, which the server is told with the rest.
        self.began_with_its_telling = False
        self.run: DeploymentRun | None = None
        #: What it waits for before it can be planned, such as a remote that is away, or the block before its own; empty
        #: when for nothing.
        self.trouble = ""
        #: What was opened for it, which nobody is told.
        self.opened = Opened()
        self.ended = asyncio.Event()
        #: Set whenever the server is heard to speak of it.
        self.heard_of = asyncio.Event()
        self._cancelling: Cancelling | None = None
        self._listener: Callable[[Cancelling], None] | None = None

    @property
    def current(self) -> Deployment:
        """The deployment as this agent knows it now."""
        return self.deployment if self.run is None else self.run.deployment

    async def known(self) -> None:
        """Wait until the server knows of it, or will; ServerRefused when it does not want it."""
        if self._telling is not None:
            # Whoever stops waiting here leaves it to the one who tells.
            await asyncio.shield(self._telling)

    def cancel(self, cancelling: Cancelling) -> None:
        """Give it up, whatever it is doing."""
        self._cancelling = cancelling
        if self._listener is not None:
            self._listener(cancelling)

    def on_cancel(self, listener: Callable[[Cancelling], None]) -> None:
        """Tell the listener, at once when somebody has asked already; only the last listener is told."""
        self._listener = listener
        if self._cancelling is not None:
            listener(self._cancelling)


def _cancelled(wish: Cancelling) -> GivingUp:
    return GivingUp(DeploymentStatus.CANCELLED, f"Cancelled by {wish.commander} while it waited for its turn")
