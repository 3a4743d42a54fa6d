"""Every call of every gRPC service gets nonsense of every sort, and answers it as the caller's mistake.

INTERNAL or UNKNOWN would be a defect of ours. Whatever was stored meanwhile must be readable afterwards. Set
FAIRWAY_FUZZ_EXAMPLES to look longer than `make test` does.
"""

import os
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import grpc
import pytest
from google.protobuf.descriptor import MethodDescriptor
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairway.rpc.agent_api import application_messages, hint_messages, lease_messages, report_messages
from fairway.rpc.agent_api import messages as agent_messages
from fairway.rpc.channel import MAX_MESSAGE_BYTES
from fairway.rpc.user_api import messages as user_messages
from fairway.server.store import applications, deployments
from fairway.server.store.page import LARGEST_LIMIT, PageRequest
from fairway.server.store.store import Store
from tests.acceptance.server.processes import ServerProcess, a_server
from tests.acceptance.server.reporting import Account, Metadata, an_account, as_key, reporting
from tests.fuzz.wire import requests
from tests.patience import PATIENCE_SECONDS

EXAMPLES = int(os.environ.get("FAIRWAY_FUZZ_EXAMPLES", "15"))
SERVICES = (
    agent_messages.DESCRIPTOR.services_by_name["PipedService"],
    user_messages.DESCRIPTOR.services_by_name["APIService"],
    hint_messages.DESCRIPTOR.services_by_name["HintService"],
    lease_messages.DESCRIPTOR.services_by_name["LeaseService"],
    report_messages.DESCRIPTOR.services_by_name["ReportService"],
    application_messages.DESCRIPTOR.services_by_name["ApplicationService"],
)
#: Whoever sends nonsense is told one of these, or has what it asked for.
HONEST = {
    "OK",
    "INVALID_ARGUMENT",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "FAILED_PRECONDITION",
    "UNAUTHENTICATED",
}


class Fuzzed(NamedTuple):
    """A running server that knows an agent, an application and some deployments."""

    server: ServerProcess
    account: Account
    api_key: str
    known: tuple[str, ...]
    channel: grpc.Channel
    database: Path

    def metadata(self, service: str) -> Metadata:
        return as_key(self.api_key) if service == "APIService" else self.account.metadata

    def answer(self, method: MethodDescriptor, content: bytes, metadata: Metadata) -> str:
        """The name of the status that the call ends with."""
        path = f"/{method.containing_service.full_name}/{method.name}"
        try:
            if method.server_streaming:
                listen: grpc.UnaryStreamMultiCallable[bytes, bytes] = self.channel.unary_stream(path)
                stream = listen(content, metadata=metadata, timeout=PATIENCE_SECONDS)
                next(iter(stream))
                stream.cancel()
            else:
                ask: grpc.UnaryUnaryMultiCallable[bytes, bytes] = self.channel.unary_unary(path)
                ask(content, metadata=metadata, timeout=PATIENCE_SECONDS)
        except grpc.RpcError as error:
            return str(error.code().name)
        return "OK"


@pytest.fixture
async def fuzzed(tmp_path: Path) -> AsyncIterator[Fuzzed]:
    with a_server(tmp_path / "data") as server:
        account = await an_account(server, server.api_key)
        async with reporting([account], [server.address]) as kept:
            await kept.after(30)
        known = (account.agent_id, account.application_id, "stage-0", "shop", *kept.standing)
        # More than the server takes, so that it is the server who refuses.
        options = (("grpc.max_send_message_length", -1),)
        with grpc.insecure_channel(server.address, options=options) as channel:
            yield Fuzzed(server, account, server.api_key, known, channel, tmp_path / "data" / "fairway.db")


@pytest.mark.parametrize("service", [pytest.param(each, id=each.name) for each in SERVICES])
async def test_nonsense_is_the_callers_mistake_and_what_it_left_can_be_read(fuzzed: Fuzzed, service: Any) -> None:
    dishonest: set[tuple[str, str]] = set()
    for method in service.methods:
        dishonest |= {(method.name, answer) for answer in _answers(fuzzed, method) - HONEST}
    fuzzed.server.process.terminate()
    fuzzed.server.process.wait(timeout=PATIENCE_SECONDS)

    assert dishonest == set()
    assert "Traceback" not in fuzzed.server.said
    assert await _owners(fuzzed) == {fuzzed.account.agent_id}


async def _owners(fuzzed: Fuzzed) -> set[str]:
    """Read everything of the store that agents and programs wrote to; the agents whose deployments there are."""
    with sqlite3.connect(fuzzed.database) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    store = await Store.open(f"sqlite:///{fuzzed.database}")
    everything = PageRequest(limit=LARGEST_LIMIT)
    deployed = await store.read(
        lambda c: deployments.list_deployments(c, deployments.DeploymentFilter(project_id="default"), everything)
    )
    there = await store.read(lambda c: applications.load_application(c, fuzzed.account.application_id))
    await store.close()
    return {there.agent_id, *(deployment.agent_id for deployment in deployed.items)}


def _answers(fuzzed: Fuzzed, method: MethodDescriptor) -> set[str]:
    seen: set[str] = set()
    metadata = fuzzed.metadata(method.containing_service.name)

    @settings(
        max_examples=EXAMPLES, database=None, derandomize=True, suppress_health_check=list(HealthCheck), deadline=None
    )
    @given(content=requests(method.input_type, fuzzed.known))
    def ask(content: bytes) -> None:
        seen.add(fuzzed.answer(method, content, metadata))

    ask()
    return seen


@given(
    authorization=st.sampled_from(
        [
            (),
            (("authorization", ""),),
            (("authorization", "API-KEY"),),
            (("authorization", "API-KEY " + "x" * 4_000),),
            (("authorization", "PIPED-TOKEN ,,"),),
            (("authorization", "PIPED-TOKEN default,' OR 1=1 --,x"),),
            (("authorization", "Bearer first.secret"),),
            (("authorization-bin", b"\xff\x00"),),
            (("authorization", "API-KEY a.b"), ("authorization", "API-KEY c.d")),
        ]
    )
)
@settings(database=None, derandomize=True, suppress_health_check=list(HealthCheck), max_examples=9)
def test_whoever_shows_no_good_key_is_refused_by_every_call(fuzzed: Fuzzed, authorization: Any) -> None:
    answers = {fuzzed.answer(method, b"", authorization) for service in SERVICES for method in service.methods}

    assert answers == {"UNAUTHENTICATED"}


def test_a_message_that_is_too_large_is_refused_and_others_are_served(fuzzed: Fuzzed) -> None:
    report = agent_messages.ReportStageLogsRequest(deployment_id="d", stage_id="s")
    report.blocks.add(index=1, log="x" * (MAX_MESSAGE_BYTES + 1))
    method = SERVICES[0].methods_by_name["ReportStageLogs"]

    refused = fuzzed.answer(method, report.SerializeToString(), fuzzed.account.metadata)
    served = fuzzed.answer(SERVICES[0].methods_by_name["ListApplications"], b"", fuzzed.account.metadata)

    assert (refused, served) == ("RESOURCE_EXHAUSTED", "OK")
