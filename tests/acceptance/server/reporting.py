"""Agents that deploy without end and remember what the server said yes to, for tests that kill the server meanwhile.

A call that gets no answer is made again, as agents do; what was acknowledged must be there afterwards, whatever was
killed in between.
"""

import asyncio
import enum
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from itertools import count, cycle, islice
from typing import Any, NamedTuple

import grpc
from grpc import aio

from fairway.model.deployment import DeploymentStatus
from fairway.model.log_block import LogBlock
from fairway.model.plan import Plan
from fairway.model.stage import StageStatus
from fairway.model.trigger import SyncStrategy
from fairway.rpc.agent_api import AgentStub
from fairway.rpc.agent_api import messages as m
from fairway.rpc.channel import CHANNEL_OPTIONS
from fairway.rpc.convert.deployment import DEPLOYMENT_STATUSES, to_wire_deployment, to_wire_planned
from fairway.rpc.convert.log_block import to_wire_log_block
from fairway.rpc.convert.stage import STAGE_STATUSES
from fairway.rpc.user_api import UserStub
from fairway.rpc.user_api import messages as user_messages
from tests.acceptance.server.processes import ServerProcess
from tests.unit.model.builders import NOW, a_deployment, a_stage

Metadata = tuple[tuple[str, str], ...]

_OPTIONS = (("grpc.initial_reconnect_backoff_ms", 50), ("grpc.max_reconnect_backoff_ms", 200))
#: How a server that was killed, or is not there yet, looks to a client.
_NO_ANSWER = {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED}
_SECONDS = int(NOW.timestamp())
_RUNNING, _SUCCESS = map(DEPLOYMENT_STATUSES.to_wire, (DeploymentStatus.RUNNING, DeploymentStatus.SUCCEEDED))
_STAGE_RUNNING, _STAGE_SUCCESS = map(STAGE_STATUSES.to_wire, (StageStatus.RUNNING, StageStatus.SUCCEEDED))


class Standing(enum.IntEnum):
    """How far a deployment of these agents has come, in order."""

    PENDING = 0
    PLANNED = 1
    RUNNING = 2
    STAGE_RUNNING = 3
    STAGE_DONE = 4
    DONE = 5


class Account(NamedTuple):
    """An agent that the server knows, with one application."""

    agent_id: str
    key: str
    application_id: str

    @property
    def metadata(self) -> Metadata:
        return (("authorization", f"PIPED-TOKEN default,{self.agent_id},{self.key}"),)


def as_key(api_key: str) -> Metadata:
    return (("authorization", f"API-KEY {api_key}"),)


async def an_account(server: ServerProcess, api_key: str, name: str = "one") -> Account:
    """Register an agent, let it say which repository it has, and add an application in there."""
    async with aio.insecure_channel(server.address) as channel:
        user, agent = UserStub(channel), AgentStub(channel)
        made = await user.RegisterPiped(user_messages.RegisterPipedRequest(name=name), metadata=as_key(api_key))
        known = Account(made.id, made.key, "")
        meta = m.ReportPipedMetaRequest(version="v1")
        meta.repositories.add(id="shop", remote="https://git.example.com/shop.git", branch="main")
        await agent.ReportPipedMeta(meta, metadata=known.metadata)
        addition = user_messages.AddApplicationRequest(name=name, piped_id=made.id, platform_provider="dev")
        addition.git_path.repo.id, addition.git_path.path = "shop", f"apps/{name}"
        addition.git_path.config_filename = "app.pipecd.yaml"
        added = await user.AddApplication(addition, metadata=as_key(api_key))
    return known._replace(application_id=added.application_id)


@asynccontextmanager
async def a_planned_deployment(server: ServerProcess, account: Account, id: str) -> AsyncIterator[AgentStub]:
    """A new deployment with one stage, `stage-0`, and the stub with which its agent goes on."""
    async with aio.insecure_channel(server.address, options=CHANNEL_OPTIONS) as channel:
        agent = AgentStub(channel)
        for _, _, method, request in islice(_calls(account, id), 2):
            await getattr(agent, method)(request, metadata=account.metadata)
        yield agent


class Kept:
    """What was acknowledged: how far each deployment has come, and the lines of its log."""

    def __init__(self) -> None:
        self.standing: dict[str, Standing] = {}
        self.lines: dict[str, set[str]] = {}
        self._acknowledged = 0
        self._more = asyncio.Condition()

    async def note(self, id: str, standing: Standing, lines: Iterable[str]) -> None:
        self.standing[id] = standing
        self.lines.setdefault(id, set()).update(lines)
        async with self._more:
            self._acknowledged += 1
            self._more.notify_all()

    async def after(self, acknowledgements: int) -> None:
        """Wait until so many more calls have been acknowledged."""
        wanted = self._acknowledged + acknowledgements
        async with self._more:
            await self._more.wait_for(lambda: self._acknowledged >= wanted)

    async def missing(self, address: str, api_key: str) -> list[str]:
        """What a server does not know of all that was acknowledged; it may know more, of calls under way."""
        metadata, lost = as_key(api_key), []
        async with aio.insecure_channel(address) as channel:
            user = UserStub(channel)
            for id, standing in sorted(self.standing.items()):
                # What is acknowledged while we ask may be missing from the answer.
                lines = set(self.lines[id])
                found = await user.GetDeployment(
                    user_messages.GetDeploymentRequest(deployment_id=id), metadata=metadata
                )
                logs = await user.ListStageLogs(user_messages.ListStageLogsRequest(deployment_id=id), metadata=metadata)
                known = {block.log for log in logs.stage_logs.values() for block in log.blocks}
                if _standing(found.deployment) < standing or lines - known:
                    lost.append(f"{id}: {_standing(found.deployment)!r} of {standing!r}, {lines - known} lost")
        return lost


class Reporter:
    """One agent at work; with several addresses, it turns to the next when one does not answer."""

    def __init__(self, account: Account, addresses: Sequence[str], kept: Kept) -> None:
        self._account = account
        self._channels = [aio.insecure_channel(address, options=_OPTIONS) for address in addresses]
        self._kept = kept
        self._turn = 0
        self.stopped = False

    async def run(self) -> None:
        """Deploy, one deployment after the other, until told to stop; the one under way then stays as it is."""
        calls = (call for number in count() for call in _calls(self._account, f"{self._account.agent_id}-{number}"))
        for id, standing, method, request in calls:
            if self.stopped:
                break
            await self._call(method, request)
            await self._kept.note(id, standing, [block.log for block in getattr(request, "blocks", ())])
        for channel in self._channels:
            await channel.close()

    async def _call(self, method: str, request: Any) -> None:
        while True:
            call = getattr(AgentStub(self._channels[self._turn]), method)
            try:
                await call(
                    request, metadata=self._account.metadata, timeout=20, wait_for_ready=len(self._channels) == 1
                )
            except aio.AioRpcError as error:
                if error.code() not in _NO_ANSWER:
                    raise
                self._turn = (self._turn + 1) % len(self._channels)
            else:
                return


@asynccontextmanager
async def reporting(accounts: Sequence[Account], addresses: Sequence[str]) -> AsyncIterator[Kept]:
    """Every agent at work while the block runs; afterwards each has heard the answer to its last call.

    With several addresses the agents begin at different ones.
    """
    kept = Kept()
    turns = [list(addresses[first:]) + list(addresses[:first]) for first in range(len(addresses))]
    reporters = [Reporter(account, turn, kept) for account, turn in zip(accounts, cycle(turns), strict=False)]
    async with asyncio.TaskGroup() as group:
        for reporter in reporters:
            group.create_task(reporter.run())
        try:
            yield kept
        finally:
            for reporter in reporters:
                reporter.stopped = True


def _calls(account: Account, id: str) -> Iterator[tuple[str, Standing, str, Any]]:
    """A whole deployment call by call, and how it stands after each."""
    of_account = {"application_id": account.application_id, "agent_id": account.agent_id, "project_id": "default"}
    begun = a_deployment(id=id, **of_account)
    plan = Plan(sync_strategy=SyncStrategy.QUICK_SYNC, summary="one stage", stages=(a_stage(),))
    yield id, Standing.PENDING, "CreateDeployment", m.CreateDeploymentRequest(deployment=to_wire_deployment(begun))
    yield id, Standing.PLANNED, "ReportDeploymentPlanned", to_wire_planned(begun, plan)
    running = m.ReportDeploymentStatusChangedRequest(deployment_id=id, status=_RUNNING)
    yield id, Standing.RUNNING, "ReportDeploymentStatusChanged", running
    started = m.ReportStageStatusChangedRequest(deployment_id=id, stage_id="stage-0", status=_STAGE_RUNNING)
    started.completed_at = _SECONDS
    yield id, Standing.STAGE_RUNNING, "ReportStageStatusChanged", started
    for index in range(1, 5):
        block = to_wire_log_block(LogBlock(index=index, log=f"{id} line {index}", created_at=NOW))
        lines = m.ReportStageLogsRequest(deployment_id=id, stage_id="stage-0", blocks=[block])
        yield id, Standing.STAGE_RUNNING, "ReportStageLogs", lines
    ended = m.ReportStageStatusChangedRequest(deployment_id=id, stage_id="stage-0", status=_STAGE_SUCCESS)
    ended.completed_at = _SECONDS
    yield id, Standing.STAGE_DONE, "ReportStageStatusChanged", ended
    done = m.ReportDeploymentCompletedRequest(deployment_id=id, status=_SUCCESS, completed_at=_SECONDS)
    done.stage_statuses["stage-0"] = _STAGE_SUCCESS
    yield id, Standing.DONE, "ReportDeploymentCompleted", done


def _standing(wire: Any) -> Standing:
    """How far a stored deployment has come."""
    stage = wire.stages[0].status if wire.stages else _STAGE_RUNNING
    if wire.status == _SUCCESS:
        return Standing.DONE
    if wire.status == _RUNNING:
        return {_STAGE_SUCCESS: Standing.STAGE_DONE, _STAGE_RUNNING: Standing.STAGE_RUNNING}.get(
            stage, Standing.RUNNING
        )
    return Standing.PLANNED if wire.stages else Standing.PENDING
