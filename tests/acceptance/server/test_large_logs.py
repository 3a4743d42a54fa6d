"""A million lines from one stage: taken, kept and given back without the server growing with them."""

import http.client
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fairway.rpc.agent_api import AgentStub
from fairway.rpc.agent_api import messages as m
from tests.acceptance.server import raw
from tests.acceptance.server.processes import ServerProcess, a_server
from tests.acceptance.server.reporting import Account, a_planned_deployment, an_account
from tests.patience import PATIENCE_SECONDS
from tests.unit.model.builders import NOW

LINES = 1_000_000
CHUNK = 20_000
#: How much the server may grow while it takes and gives the log, which is 60 MB of text.
BOUND = 150 * 1024 * 1024

PATH = "/api/v1/deployments/large/stages/stage-0"


def a_line(index: int) -> str:
    return f"{index:07} the quick brown fox jumps over the lazy dog, again"


async def append_all(agent: AgentStub, account: Account) -> None:
    for first in range(0, LINES, CHUNK):
        chunk = m.ReportStageLogsFromLastCheckpointRequest(deployment_id="large", stage_id="stage-0")
        for index in range(first, first + CHUNK):
            chunk.blocks.add(index=index, log=a_line(index), created_at=int(NOW.timestamp()))
        chunk.completed = first + CHUNK == LINES
        await agent.ReportStageLogsFromLastCheckpoint(chunk, metadata=account.metadata)


def as_text(server: ServerProcess) -> Any:
    """The number of lines in the text of the log, and the first that is not as it was written."""
    connection = http.client.HTTPConnection(urlsplit(server.http).netloc, timeout=PATIENCE_SECONDS)
    connection.request("GET", f"{PATH}/log.txt", headers={"Authorization": f"Bearer {server.api_key}"})
    count, odd = 0, None
    with connection.getresponse() as answer:
        for count, line in enumerate(answer, start=1):
            if odd is None and line != f"{a_line(count - 1)}\n".encode():
                odd = line
    connection.close()
    return count, odd


async def test_a_million_lines_are_kept_and_given_back_in_bounded_memory(tmp_path: Path) -> None:
    with a_server(tmp_path / "data") as server:
        account = await an_account(server, server.api_key)
        async with a_planned_deployment(server, account, "large") as agent:
            before = server.resident_bytes
            await append_all(agent, account)
            written = server.resident_bytes
        whole = as_text(server)
        first, middle, last = (
            raw.ask_json(server.http, f"{PATH}/log?from_index={index}&limit=10", server.api_key)
            for index in (0, LINES // 2, LINES - 10)
        )
        read = server.resident_bytes

    assert whole == (LINES, None)
    shown = [[block["log"] for block in page["blocks"]] for page in (first, middle, last)]
    assert shown == [[a_line(start + n) for n in range(10)] for start in (0, LINES // 2, LINES - 10)]
    assert (first["next_index"], last["next_index"], last["completed"]) == (10, None, True)
    assert max(written, read) - before < BOUND
