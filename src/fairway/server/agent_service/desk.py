"""What the functions that answer agents work with, and the frame around each of them.

The frame is the same for all calls: which agent is it, is the request in order, then the work, then errors turned into
statuses. A function that is called through it can rely on the first two and forget the last. Of a caller that shows a
fencing token, each piece of work begins with a look whether it is still the current one.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import msgspec
from google.protobuf.message import Message

from fairway.clock import Clock
from fairway.rpc.agent_api import messages as m
from fairway.rpc.agent_api import report_messages
from fairway.rpc.context import CallContext
from fairway.server.agent_auth import AgentAuth, AgentIdentity
from fairway.server.agent_service.log_quota import LogQuota
from fairway.server.agent_service.quotas import Intake, Quotas
from fairway.server.fencing import fence_of
from fairway.server.hints import HintBoard
from fairway.server.logs import LogStore
from fairway.server.status_codes import abort_for, refuse_broken_rules
from fairway.server.store.store import Store

Q = TypeVar("Q", bound=Message)
A = TypeVar("A", bound=Message)


#: Requests that add to what is stored. All others replace what an agent has said before.
_ADDING = frozenset(
    {
        m.CreateDeploymentRequest,
        m.CreateDeploymentChainRequest,
        m.ReportDeploymentPlannedRequest,
        m.SaveDeploymentMetadataRequest,
        m.SaveDeploymentSharedMetadataRequest,
        m.SaveDeploymentPluginMetadataRequest,
        m.SaveStageMetadataRequest,
        m.ReportStageLogsRequest,
        m.ReportStageLogsFromLastCheckpointRequest,
        m.ReportCommandHandledRequest,
        m.PutApplicationSharedObjectRequest,
        m.PutLatestAnalysisResultRequest,
        report_messages.ReportRequest,
    }
)


class AgentDesk(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of the server that agents are answered from."""

    store: Store
    logs: LogStore
    hints: HintBoard
    clock: Clock
    #: Gives each new noun its id.
    new_id: Callable[[], str]
    #: Where people find the web page, for links in notifications; empty where there is none.
    web_url: str = ""
    log_quota: LogQuota = msgspec.field(default_factory=lambda: LogQuota(Quotas()))

    @property
    def intake(self) -> Intake:
        """How much each agent has added today."""
        return self.log_quota.intake


async def answer(
    desk: AgentDesk,
    auth: AgentAuth,
    work: Callable[[AgentDesk, AgentIdentity, Q], Awaitable[A]],
    request: Q,
    context: CallContext,
) -> A:
    """Answer one call, or end it with the status that its error stands for."""
    try:
        caller = await auth.authenticate(context)
        refuse_broken_rules(request)
        fence = fence_of(caller.agent_id, context)
        if fence is not None:
            desk = msgspec.structs.replace(desk, store=desk.store.behind(fence))
        if type(request) in _ADDING:
            desk.intake.add(caller.agent_id, request.ByteSize(), desk.clock.now())
        return await work(desk, caller, request)
    except Exception as error:
        await abort_for(error, context)
