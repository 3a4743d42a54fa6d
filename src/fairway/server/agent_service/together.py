"""Several reports of an agent as one: in one transaction, in their order, all or none.

Each report is answered by the very function that answers it alone, with a store whose writes are parts of the one
transaction. So nothing here knows what a report means; it only has to be one whose whole effect is in the store, and
logs, which are files, stay apart.
"""

from collections.abc import Callable, Coroutine, Mapping
from typing import Any, NamedTuple, TypeVar

import msgspec
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass
from sqlalchemy import Connection

from fairway.rpc.agent_api import ReportServicer, messages, report_messages
from fairway.rpc.context import CallContext
from fairway.server.agent_auth import AgentAuth, AgentIdentity
from fairway.server.agent_service import applications, creation, deployments, stages
from fairway.server.agent_service.desk import AgentDesk, answer
from fairway.server.hints import HintBoard, HintTopic
from fairway.server.status_codes import InvalidRequest, refuse_broken_rules
from fairway.server.store.changes import Listener
from fairway.server.store.store import Store

T = TypeVar("T")

#: What happens to a deployment in one moment is far less.
MOST_REPORTS = 64

_Answers = Callable[[AgentDesk, AgentIdentity, Any], Coroutine[Any, Any, Message]]
_WORK: Mapping[str, _Answers] = {
    "CreateDeployment": creation.create_deployment,
    "CreateDeploymentChain": creation.create_chain,
    "ReportDeploymentPlanned": deployments.report_planned,
    "ReportDeploymentStatusChanged": deployments.report_status,
    "ReportDeploymentCompleted": deployments.report_completed,
    "SaveDeploymentSharedMetadata": deployments.save_shared_metadata,
    "SaveDeploymentPluginMetadata": deployments.save_plugin_metadata,
    "SaveStageMetadata": stages.save_metadata,
    "ReportStageStatusChanged": stages.report_status,
    "ReportApplicationMostRecentDeployment": applications.report_most_recent_deployment,
    "ReportApplicationDeployingStatus": applications.report_deploying,
}
_METHODS = messages.DESCRIPTOR.services_by_name["PipedService"].methods_by_name


class ReportService(ReportServicer):
    """Takes reports of agents together."""

    def __init__(self, desk: AgentDesk, auth: AgentAuth) -> None:
        self._desk = desk
        self._auth = auth

    async def Report(
        self, request: report_messages.ReportRequest, context: CallContext
    ) -> report_messages.ReportAnswer:
        return await answer(self._desk, self._auth, report_together, request, context)


async def report_together(
    desk: AgentDesk, caller: AgentIdentity, request: report_messages.ReportRequest
) -> report_messages.ReportAnswer:
    """Record all reports, or none."""
    if len(request.reports) > MOST_REPORTS:
        raise InvalidRequest(f"reports has {len(request.reports)} items; expected at most {MOST_REPORTS}")
    said = [_said(number, report) for number, report in enumerate(request.reports)]

    def record(connection: Connection) -> _LaterHints:
        hints = _LaterHints()
        within = msgspec.structs.replace(desk, store=Store(_Within(connection)), hints=hints)
        for each in said:
            _at_once(each.work(within, caller, each.request))
        return hints

    (await desk.store.write(record)).pass_on(desk.hints)
    return report_messages.ReportAnswer()


class _Said(NamedTuple):
    work: _Answers
    request: Message


def _said(number: int, report: report_messages.Report) -> _Said:
    work = _WORK.get(report.method)
    if work is None:
        known = ", ".join(_WORK)
        raise InvalidRequest(f"reports[{number}].method is {report.method!r}; expected one of {known}")
    try:
        request = GetMessageClass(_METHODS[report.method].input_type).FromString(report.request)
    except DecodeError as error:
        raise InvalidRequest(f"reports[{number}].request is no request of {report.method}: {error}") from error
    refuse_broken_rules(request)
    return _Said(work, request)


def _at_once(work: Coroutine[Any, Any, Message]) -> None:
    """Do work that waits for nothing but the store, which makes it wait for nothing here."""
    try:
        work.send(None)
    except StopIteration:
        return
    work.close()
    raise RuntimeError("a report waits for something else than the store")


class _Within:
    """A database whose pieces of work are parts of a transaction that is under way."""

    shared_url = ""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def read(self, work: Callable[[Connection], T]) -> T:
        return work(self._connection)

    async def write(self, work: Callable[[Connection], T]) -> T:
        return work(self._connection)

    def listen(self, listener: Listener) -> None:
        """Nobody listens to a part: what it changed is told with the whole."""

    def close(self) -> None:
        """The transaction is not ours to end."""


class _LaterHints(HintBoard):
    """Hints that are given when what they tell of is durable."""

    def __init__(self) -> None:
        super().__init__()
        self._later: list[tuple[str, HintTopic]] = []

    def publish(self, agent_id: str, topic: HintTopic) -> None:
        self._later.append((agent_id, topic))

    def pass_on(self, board: HintBoard) -> None:
        """Give them now."""
        for agent_id, topic in self._later:
            board.publish(agent_id, topic)
