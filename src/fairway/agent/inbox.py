"""Commands that people send to this agent: each answered exactly once, with a reason when it is not done.

A restart is answered here; a sync once its deployment is made and a plan preview once it is, for both of which a remote
may have to be waited for. A cancel is answered when its deployment has ended; an approval or a skip when its stage has,
and until then the plugin of the stage may ask for it.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from typing import Any

import structlog

from fairway.agent import reports
from fairway.agent.control_plane import ServerAway, ServerRefused
from fairway.agent.deployments import Deployments, Underway
from fairway.agent.outbox import Outbox
from fairway.agent.reports import Answer
from fairway.agent.run_context import Cancelling
from fairway.clock import Clock
from fairway.model.command import (
    ApproveStage,
    BuildPlanPreview,
    CancelDeployment,
    ChainSyncApplication,
    Command,
    CommandStatus,
    RestartAgent,
    SkipStage,
    SyncApplication,
)
from fairway.model.deployment import Deployment

_log = structlog.get_logger()

#: The stream of the outbox in which answers go that belong to no deployment.
ANSWERS = "commands"

Sync = Callable[[Command, SyncApplication | ChainSyncApplication], Coroutine[Any, Any, Answer]]
Preview = Callable[[Command, BuildPlanPreview], Coroutine[Any, Any, Answer]]
#: A deployment as the server has it.
Find = Callable[[str], Coroutine[Any, Any, Deployment]]


class Inbox:
    """The commands that wait for this agent."""

    def __init__(
        self, deployments: Deployments, outbox: Outbox, clock: Clock, sync: Sync, preview: Preview, find: Find
    ) -> None:
        self._deployments = deployments
        self._outbox = outbox
        self._clock = clock
        self._sync = sync
        self._preview = preview
        self._find = find
        #: Ids of commands that were seen; the server lists a command until its answer has arrived.
        self._seen: set[str] = set()
        #: Approvals and skips by (deployment, stage), oldest first.
        self._of_stage: dict[tuple[str, str], list[Command]] = {}
        self._waiting: set[asyncio.Task[None]] = set()
        self.restart = asyncio.Event()

    async def take(self, commands: Iterable[Command]) -> None:
        """Handle what the server lists; what was seen before is left alone."""
        listed = {command.id: command for command in commands}
        # An answered command disappears from the list some time later; then it may be forgotten.
        self._seen &= listed.keys()
        for command in listed.values():
            if command.id not in self._seen:
                self._seen.add(command.id)
                try:
                    await self._handle(command)
                except ServerAway:
                    # It is listed again, and taken up then.
                    self._seen.discard(command.id)
                    raise

    def of_stage(self, deployment_id: str, stage_id: str) -> tuple[Command, ...]:
        """The approvals and skips of one stage so far."""
        return tuple(self._of_stage.get((deployment_id, stage_id), ()))

    async def stage_ended(self, deployment_id: str, stage_id: str) -> None:
        """Answer the commands of a stage that has ended: they were heard."""
        for command in self._of_stage.pop((deployment_id, stage_id), []):
            await self._answer(command, Answer(status=CommandStatus.SUCCEEDED))

    async def close(self) -> None:
        """Leave what waits to the next agent."""
        for task in self._waiting:
            task.cancel()
        await asyncio.gather(*self._waiting, return_exceptions=True)

    async def _handle(self, command: Command) -> None:
        match command.payload:
            case SyncApplication() | ChainSyncApplication():
                self._answer_later(command, self._sync(command, command.payload))
            case CancelDeployment():
                await self._cancel(command, command.payload)
            case ApproveStage() | SkipStage():
                await self._keep(command, command.payload)
            case BuildPlanPreview():
                self._answer_later(command, self._preview(command, command.payload))
            case RestartAgent():
                await self._answer(command, Answer(status=CommandStatus.SUCCEEDED, output=command.id.encode()))
                self.restart.set()
            case _:
                await self._answer(command, _refused("this agent does not know this sort of command"))

    async def _underway(self, deployment_id: str) -> Underway | None:
        """The deployment, if it has not ended. One that is not known here yet is taken up as the server has it: people
        may know the first of a chain sooner."""
        if not self._deployments.knows(deployment_id):
            with suppress(ServerRefused):
                self._deployments.take(await self._find(deployment_id))
        return self._deployments.find(deployment_id)

    async def _cancel(self, command: Command, payload: CancelDeployment) -> None:
        underway = await self._underway(payload.deployment_id)
        if underway is None:
            await self._answer(command, _refused("the deployment has ended already"))
            return
        underway.cancel(Cancelling(payload, command.commander))

        async def at_its_end() -> Answer:
            await underway.ended.wait()
            return Answer(status=CommandStatus.SUCCEEDED)

        self._answer_later(command, at_its_end())

    def _answer_later(self, command: Command, working: Coroutine[Any, Any, Answer]) -> None:
        """Answer when the work is done; other commands do not wait for it."""

        async def answer() -> None:
            try:
                found = await working
            except Exception as defect:
                _log.exception("a command failed by a defect of this agent", command=command.id)
                found = _refused(f"a defect of the agent: {type(defect).__name__}; its log says where")
            await self._answer(command, found)

        task = asyncio.create_task(answer(), name=f"answer {command.id}")
        self._waiting.add(task)
        task.add_done_callback(self._waiting.discard)

    async def _keep(self, command: Command, payload: ApproveStage | SkipStage) -> None:
        underway = await self._underway(payload.deployment_id)
        deployment = underway.current if underway else None
        stage = deployment.stage(payload.stage_id) if deployment else None
        if stage is None or stage.status.is_terminal:
            await self._answer(command, _refused("the stage has ended already"))
            return
        self._of_stage.setdefault((payload.deployment_id, payload.stage_id), []).append(command)

    async def _answer(self, command: Command, answer: Answer) -> None:
        try:
            await self._outbox.deliver(ANSWERS, reports.answered(command.id, answer, self._clock.now()))
        except ServerRefused as error:
            _log.warning("the answer to a command was refused", command=command.id, reason=str(error))


def _refused(reason: str) -> Answer:
    return Answer(status=CommandStatus.FAILED, metadata={"reason": reason})
