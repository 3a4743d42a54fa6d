"""All deployments of an agent: many side by side, one of each application at a time, the oldest commit first.

A deployment enters here when the agent makes it, or when the server lists it as open because an agent that is gone has
left it; it is the same from then on. It leaves when it has ended and the server knows, or knows as soon as it is back.
"""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from fairway.agent.control_plane import ServerRefused
from fairway.agent.running import Cancelling, DeploymentRun
from fairway.model.deployment import Deployment
from fairway.secrets.redact import Redactor

_log = structlog.get_logger()


class Deployments:
    """The deployments that have not ended."""

    def __init__(self, deploy: Callable[["Underway"], Awaitable[None]]) -> None:
        self._deploy = deploy
        self._by_id: dict[str, Underway] = {}
        #: Application id → what waits for its turn; the first one has it.
        self._queues: dict[str, list[Underway]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def take(self, deployment: Deployment) -> None:
        """Bring a deployment to its end, as soon as its application is free. One that is known stays as it is."""
        if deployment.id in self._by_id or deployment.status.is_terminal:
            return
        underway = Underway(deployment)
        self._by_id[deployment.id] = underway
        queue = self._queues.setdefault(deployment.application_id, [])
        queue.append(underway)
        # Whoever is first has begun and stays first; a deployment that an agent had begun goes before the others.
        queue[1:] = sorted(queue[1:], key=_turn)
        if len(queue) == 1:
            task = asyncio.create_task(
                self._work(deployment.application_id), name=f"deploy {deployment.application_id}"
            )
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def find(self, deployment_id: str) -> "Underway | None":
        """The deployment, if it has not ended."""
        return self._by_id.get(deployment_id)

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
            try:
                await self._deploy(underway)
            except ServerRefused as error:
                # Another agent has it now, or somebody deleted it: it is not ours any more.
                _log.warning("a deployment was given up", deployment=underway.deployment.id, reason=str(error))
            del self._by_id[underway.deployment.id]
            queue.remove(underway)
            underway.ended.set()
        del self._queues[application_id]


class Underway:
    """One deployment that has not ended."""

    def __init__(self, deployment: Deployment) -> None:
        #: As it was taken in; while it runs, `run` knows better.
        self.deployment = deployment
        self.run: DeploymentRun | None = None
        #: Masks what was opened for it.
        self.redactor = Redactor(())
        self.ended = asyncio.Event()
        self._cancelling: Cancelling | None = None
        self._listener: Callable[[Cancelling], None] | None = None

    @property
    def current(self) -> Deployment:
        """The deployment as this agent knows it now."""
        return self.deployment if self.run is None else self.run.deployment

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


def _turn(underway: Underway) -> tuple[bool, float, float]:
    trigger = underway.deployment.trigger
    return (not underway.deployment.stages, trigger.commit.created_at.timestamp(), trigger.at.timestamp())
