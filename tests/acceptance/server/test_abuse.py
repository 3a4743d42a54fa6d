"""Clients that are broken, careless or hostile, at a real server: the right status, and nobody else notices."""

import asyncio
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import quote

import grpc
import pytest
from grpc import aio

from fairway.rpc.agent_api import AgentStub, HintStub, hint_messages
from fairway.rpc.agent_api import messages as m
from fairway.rpc.channel import CHANNEL_OPTIONS
from fairway.rpc.traces import SERVICE as TRACE_SERVICE
from fairway.rpc.user_api import messages as user_messages
from fairway.server.http_api.listener import MOST_CONNECTIONS
from tests.acceptance.server import raw
from tests.acceptance.server.processes import ServerProcess, a_server
from tests.acceptance.server.reporting import Account, Metadata, a_planned_deployment, an_account
from tests.patience import PATIENCE_SECONDS
from tests.unit.model.builders import NOW

#: How much a server may grow by what one client does to it.
BOUND = 150 * 1024 * 1024

#: What a server says that has no room, or no time, for a call now.
_COME_AGAIN = {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED}

TRICKS = (
    "../../../etc/passwd",
    "..",
    ".",
    "'; DROP TABLE deployments; --",
    '" OR 1=1 --',
    "a\x00b",
    "%2e%2e%2f",
    "\r\nSet-Cookie: a=b",
    "é\u202e\U0001f600",
    "x" * 5_000,
    "\\..\\..\\windows",
    "${jndi:ldap://x}",
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """One server for all of them, as in life; what it wrote meanwhile may hold no key, and no trace of a defect."""
    with a_server(tmp_path_factory.mktemp("abused") / "data") as server:
        key = server.api_key
        yield server
        _, _, since = server.said.partition("HTTP: ")
    assert key.partition(".")[2] not in since
    assert "hunter2" not in since
    assert "by a defect" not in since
    assert "Traceback" not in since


async def is_well(server: ServerProcess, account: Account) -> bool:
    """Whether another client, who does nothing wrong, is served at both doors."""
    async with aio.insecure_channel(server.address) as channel:
        listed = await AgentStub(channel).ListApplications(
            m.ListApplicationsRequest(), metadata=account.metadata, timeout=PATIENCE_SECONDS
        )
    page = await asyncio.to_thread(raw.ask_json, server.http, "/api/v1/agents", server.api_key)
    return [each.id for each in listed.applications] == [account.application_id] and len(page["items"]) > 0


@pytest.mark.parametrize(
    "header",
    [
        pytest.param(b"X-Nothing: x", id="none"),
        pytest.param(b"Authorization:", id="empty"),
        pytest.param(b"Authorization: Bearer", id="no key"),
        pytest.param(b"Authorization: Bearer hunter2", id="no id"),
        pytest.param(b"Authorization: Bearer first.hunter2", id="a wrong secret"),
        pytest.param(b"Authorization: Bearer .", id="a dot"),
        pytest.param(b"Authorization: Bearer first." + b"hunter2" * 1_000, id="a long secret"),
        pytest.param(b"Authorization: Bearer ' OR 1=1 --.hunter2", id="SQL"),
        pytest.param(b"Authorization: Bearer \xff\xfe.hunter2", id="no text"),
        pytest.param(b"Authorization: Basic Zmlyc3Q6aHVudGVyMg==", id="another scheme"),
        pytest.param(b"Authorization: PIPED-TOKEN default,a,hunter2", id="an agent's scheme"),
        pytest.param(b"Authorization: Bearer a.hunter2\r\nAuthorization: Bearer b.hunter2", id="two keys"),
        pytest.param(b"Cookie: fairway_session=hunter2", id="a made-up session"),
        pytest.param(b"Cookie: fairway_session=" + b"eyJhbGciOiJub25lIn0.e30.", id="an unsigned session"),
    ],
)
def test_a_malformed_credential_is_refused(server: ServerProcess, header: bytes) -> None:
    status, body = raw.ask(server.http, raw.a_request("/api/v1/applications", header))

    assert status == 401, body
    assert b"hunter2" not in body


def test_no_id_or_cursor_in_a_url_is_more_than_an_unknown_one(server: ServerProcess) -> None:
    key = f"Authorization: Bearer {server.api_key}".encode()
    document = raw.ask_json(server.http, "/api/v1/openapi.json", server.api_key)
    odd: list[tuple[str, int, bytes]] = []
    for path, trick in ((path, quote(trick, safe="")) for path in document["paths"] for trick in TRICKS):
        if "get" not in document["paths"][path] or path.endswith("/stream"):
            continue
        url = _with(path, trick) if "{" in path else f"{path}?cursor={trick}"
        status, body = raw.ask(server.http, raw.a_request(url, key))
        if status >= 500 or b"root:" in body or ("{" in path and status not in (400, 401, 404, 405)):
            odd.append((url[:200], status, body[:200]))

    assert odd == []


def _with(path: str, value: str) -> str:
    """The path with the value for each of its parameters."""
    return "/".join(value if part.startswith("{") else part for part in path.split("/"))


@pytest.mark.parametrize("project", ["other", "", "*", "default' OR 1=1 --", "../default"])
async def test_a_key_is_good_for_its_own_project_only(server: ServerProcess, project: str) -> None:
    account = await an_account(server, server.api_key, f"project {project}")
    key = f"Authorization: Bearer {server.api_key}".encode()
    status, _ = raw.ask(server.http, raw.a_request(f"/api/v1/agents?project={quote(project)}", key))
    token = f"PIPED-TOKEN {project},{account.agent_id},{account.key}"
    async with aio.insecure_channel(server.address) as channel:
        call = AgentStub(channel).ListApplications(m.ListApplicationsRequest(), metadata=(("authorization", token),))
        code = await call.code()

    assert (status, code.name) == (403, "UNAUTHENTICATED")


@pytest.mark.parametrize(
    "begun",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"GET /api/v1/agents HTTP/1.1\r\nHost: fair", id="half a head"),
        pytest.param(raw.a_request("/api/v1/session", method="POST", body=b"{" + b" " * 90)[:-80], id="half a body"),
    ],
)
async def test_more_callers_than_there_are_places_who_never_finish_hold_up_nobody(
    server: ServerProcess, begun: bytes
) -> None:
    account = await an_account(server, server.api_key, f"beside {len(begun)}")
    before = server.resident_bytes
    with raw.a_crowd(server.http, MOST_CONNECTIONS + 200) as slow:
        for byte in (begun[n : n + 1] for n in range(len(begun))):
            for connection in slow:
                with suppress(OSError):
                    connection.sendall(byte)
        well = [await is_well(server, account) for _ in range(5)]

    assert well == [True] * 5
    assert server.resident_bytes - before < BOUND


async def test_a_thousand_streams_of_one_agent_leave_room_for_others(server: ServerProcess) -> None:
    greedy = await an_account(server, server.api_key, "greedy")
    modest = await an_account(server, server.api_key, "modest")
    before, files = server.resident_bytes, server.open_files
    async with aio.insecure_channel(server.address) as channel:
        watch: Any = HintStub(channel).Watch
        streams = [watch(hint_messages.WatchRequest(), metadata=greedy.metadata) for _ in range(1_000)]
        first = await asyncio.gather(*(stream.read() for stream in streams), return_exceptions=True)

        well = await is_well(server, modest)
        grown, opened = server.resident_bytes - before, server.open_files - files

    assert well
    assert len(first) == 1_000
    assert grown < BOUND
    assert opened < 50


async def test_a_thousand_event_streams_of_one_key_leave_room_for_others(server: ServerProcess) -> None:
    account = await an_account(server, server.api_key, "beside streams")
    key = f"Authorization: Bearer {server.api_key}".encode()
    before = server.resident_bytes
    with raw.a_crowd(server.http, 1_000) as streams:
        for stream in streams:
            with suppress(OSError):
                stream.sendall(raw.a_request("/api/v1/stream?topic=applications", key))
        answers = Counter([await asyncio.to_thread(raw.first_line, stream) for stream in streams])
        well = await is_well(server, account)
        grown = server.resident_bytes - before

    assert set(answers) <= {b"HTTP/1.1 200", b"HTTP/1.1 429", b""}
    assert well
    assert grown < BOUND


async def test_listeners_who_never_read_hold_up_nobody_and_fill_no_memory(server: ServerProcess) -> None:
    account = await an_account(server, server.api_key, "unread")
    key = f"Authorization: Bearer {server.api_key}".encode()
    async with a_planned_deployment(server, account, "unread") as agent:
        with raw.a_crowd(server.http, 20) as deaf:
            for listener in deaf:
                listener.sendall(raw.a_request("/api/v1/stream?topic=log:unread/stage-0", key))
            before = server.resident_bytes
            for index in range(40):
                await agent.ReportStageLogs(a_large_block("unread", index), metadata=account.metadata)
            well = await is_well(server, account)
            grown = server.resident_bytes - before

    assert well
    assert grown < BOUND


async def test_calls_whose_answers_are_never_taken_hold_up_nobody(server: ServerProcess) -> None:
    account = await an_account(server, server.api_key, "unread calls")
    async with a_planned_deployment(server, account, "unread-call") as agent:
        await agent.ReportStageLogs(a_large_block("unread-call", 1), metadata=account.metadata)
    before = server.resident_bytes
    asked = user_messages.ListStageLogsRequest(deployment_id="unread-call").SerializeToString()

    deaf = raw.UnreadCalls(server.address)
    # Each answer that waits to be taken is about 3 MB.
    for _ in range(500):
        deaf.call("/grpc.service.apiservice.APIService/ListStageLogs", asked, f"API-KEY {server.api_key}")
    well = [await is_well(server, account) for _ in range(5)]
    grown = server.resident_bytes - before
    deaf.close()

    assert well == [True] * 5
    assert grown < BOUND


async def test_pages_that_are_never_taken_hold_up_nobody_and_fill_no_memory(server: ServerProcess) -> None:
    account = await an_account(server, server.api_key, "unread pages")
    async with a_planned_deployment(server, account, "unread-page") as agent:
        for index in range(1, 5):
            await agent.ReportStageLogs(a_large_block("unread-page", index), metadata=account.metadata)
    made = f'{{"name": "deaf {account.agent_id}", "role": "read_only"}}'.encode()
    asked = raw.a_request("/api/v1/api-keys", *_json_as(server.api_key), method="POST", body=made)
    key = json.loads(raw.ask(server.http, asked)[1])["key"]
    server.most_resident_bytes()
    before = server.resident_bytes
    with raw.a_crowd(server.http, 100) as deaf:
        for connection in deaf:
            connection.sendall(raw.a_request("/api/v1/deployments/unread-page/stages/stage-0/log", *_json_as(key)))
        well = [await is_well(server, account) for _ in range(5)]
        grown = server.most_resident_bytes() - before

    assert well == [True] * 5
    assert grown < BOUND


def _json_as(key: str) -> tuple[bytes, bytes]:
    return b"Content-Type: application/json", f"Authorization: Bearer {key}".encode()


async def send_at_once(server: ServerProcess, path: str, keys: Sequence[Metadata]) -> tuple[Counter[str], int]:
    """Nine megabytes with each key at the same moment: how the calls ended, and how much the server grew meanwhile."""
    report = m.ReportStageLogsRequest(deployment_id="nowhere", stage_id="stage-0")
    report.blocks.add(index=1, log="x" * 9_000_000, created_at=int(NOW.timestamp()))
    message = report.SerializeToString()
    server.most_resident_bytes()
    before = server.resident_bytes
    async with aio.insecure_channel(server.address, options=CHANNEL_OPTIONS) as channel:
        call: aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(path)

        async def sent(key: Metadata) -> grpc.StatusCode:
            # A busy machine may bring a request more slowly than the server waits while others do: they come again.
            while (code := await call(message, metadata=key).code()) in _COME_AGAIN:
                continue
            return code

        async with asyncio.timeout(PATIENCE_SECONDS):
            ended = await asyncio.gather(*map(sent, keys))
    return Counter(code.name for code in ended), server.most_resident_bytes() - before


@pytest.mark.parametrize(
    ("senders", "bound"), [pytest.param(1, BOUND, id="one key"), pytest.param(8, 2 * BOUND, id="many keys")]
)
async def test_many_large_requests_at_once_fill_no_memory(server: ServerProcess, senders: int, bound: int) -> None:
    accounts = [await an_account(server, server.api_key, f"sender {n} of {senders}") for n in range(senders)]
    keys = [account.metadata for account in accounts] * (16 // senders)

    ended, grown = await send_at_once(server, "/grpc.service.pipedservice.PipedService/ReportStageLogs", keys)

    assert ended == {"NOT_FOUND": 16}
    assert grown < bound
    assert await is_well(server, await an_account(server, server.api_key, f"beside {senders} senders"))


@pytest.mark.parametrize(
    ("path", "status"),
    [
        pytest.param("/grpc.service.pipedservice.PipedService/ReportStageLogs", "UNAUTHENTICATED", id="agents"),
        pytest.param("/pipe.api.service.apiservice.APIService/RegisterEvent", "UNAUTHENTICATED", id="programs"),
        pytest.param("/fairway.agent.v1.HintService/Watch", "UNAUTHENTICATED", id="streams"),
        pytest.param(f"/{TRACE_SERVICE}/Export", "OK", id="traces"),
        pytest.param("/no.such.Service/Call", "UNIMPLEMENTED", id="nothing"),
    ],
)
async def test_of_strangers_nothing_is_read(server: ServerProcess, path: str, status: str) -> None:
    ended, grown = await send_at_once(server, path, [()] * 8)

    assert ended == {status: 8}
    assert grown < 30_000_000


async def test_senders_who_never_finish_hold_up_nobody_and_fill_no_memory(server: ServerProcess) -> None:
    slow = await an_account(server, server.api_key, "slow sender")
    modest = await an_account(server, server.api_key, "beside a slow sender")
    before = server.resident_bytes

    sending = raw.UnreadCalls(server.address)
    for _ in range(500):
        path = "/grpc.service.pipedservice.PipedService/ReportStageLogs"
        sending.begin(path, slow.metadata[0][1], 9_000_000, b"x" * 100)
    well = [await is_well(server, modest) for _ in range(5)]
    grown = server.resident_bytes - before
    sending.close()

    assert well == [True] * 5
    assert grown < BOUND


@pytest.mark.parametrize(
    ("path", "known"),
    [pytest.param("/api/v1/events", True, id="one key"), pytest.param("/api/v1/session", False, id="strangers")],
)
async def test_many_bodies_at_once_that_never_end_fill_no_memory(server: ServerProcess, path: str, known: bool) -> None:
    account = await an_account(server, server.api_key, f"beside bodies of {path}")
    headers = (b"Content-Type: application/json", f"Authorization: Bearer {server.api_key}".encode())
    body = raw.a_request(path, *headers[: 1 + known], method="POST", body=b'"' + b"x" * 1_000_000)[:-1]
    server.most_resident_bytes()
    before = server.resident_bytes
    with raw.a_crowd(server.http, 400) as sending:
        await asyncio.to_thread(raw.send_what_goes, sending, body)
        well = [await is_well(server, account) for _ in range(3)]
        grown = server.most_resident_bytes() - before

    assert well == [True] * 3
    assert grown < BOUND


def a_large_block(deployment_id: str, index: int) -> m.ReportStageLogsRequest:
    """A megabyte of log."""
    report = m.ReportStageLogsRequest(deployment_id=deployment_id, stage_id="stage-0")
    report.blocks.add(index=index, log="x" * 1_000_000, created_at=int(NOW.timestamp()))
    return report
