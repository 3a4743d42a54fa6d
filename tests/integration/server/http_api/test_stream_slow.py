"""A client that does not read holds up nobody and costs little; when it reads again, it is told how things are."""

import asyncio
import os
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from fairway.model.limits import REASON
from fairway.model.notes import LEFT_OUT
from fairway.model.stage import DISPLAY, NEVER_STARTED
from fairway.server.store import deployments
from tests.integration.server.http_api.streaming import LiveServer, a_live_server
from tests.integration.server.http_api.test_stream import a_shop_deployment
from tests.patience import PATIENCE_SECONDS
from tests.unit.model.builders import a_stage

CHANGES = 200
#: With these a deployment has 200 KB, of which a stream leaves nothing out.
STAGES = tuple(a_stage(f"s-{number}", status_reason="x" * REASON) for number in range(50))


def memory_bytes() -> int:
    """How much of this process is in memory now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def test_a_client_that_does_not_read_costs_little_and_holds_up_nobody(tmp_path: Path) -> None:
    async with a_live_server(f"sqlite:///{tmp_path}/fairway.db", tmp_path) as server:
        key = await server.a_key()
        await server.add(a_shop_deployment(stages=STAGES))
        reader, writer = await a_deaf_client(server, key)
        async with server.stream(key, "deployments") as quick:
            await summarize(server, 0)
            await quick.next()
            before = memory_bytes()

            for number in range(1, CHANGES):
                await summarize(server, number)
                assert (await quick.next()).data["summary"].startswith(f"{number} ")

            # Twice 40 MB have been told to the two; both ends are in this process.
            assert memory_bytes() - before < 30_000_000

        told = b""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while f'"summary":"{CHANGES - 1} '.encode() not in told:
                told = told[-1_000_000:] + await reader.read(1_000_000)
        writer.close()


async def a_deaf_client(server: LiveServer, key: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A client that has asked for the stream and reads nothing of it."""
    address = urlsplit(str(server.client.base_url))
    reader, writer = await asyncio.open_connection(address.hostname, address.port, limit=1_000)
    request = f"GET /api/v1/stream?topic=deployments HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\n\r\n"
    writer.write(request.encode())
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not server.feed.watcher_count:
            await server.client.get("/healthz")
    return reader, writer


async def summarize(server: LiveServer, number: int) -> None:
    await server.store.write(
        lambda connection: deployments.update_deployment(
            connection, "d-1", lambda found: msgspec.structs.replace(found, summary=f"{number} ")
        )
    )


async def test_streams_and_lists_leave_out_what_plugins_note_for_themselves(tmp_path: Path) -> None:
    notes = {f"note {number}": "x" * 1_000_000 for number in range(4)}
    shown = {DISPLAY: "half", NEVER_STARTED: "true"}
    fat = a_shop_deployment(
        plugin_metadata={"greet": notes},
        shared_metadata={"drift": "x" * 1_000, "fairway/started-at": "now"},
        metadata=notes,
        stages=(a_stage("s-0", metadata=notes | shown),),
    )
    async with a_live_server(f"sqlite:///{tmp_path}/fairway.db", tmp_path) as server:
        key = await server.a_key()
        await server.add(fat)
        # What 20 clients are told that do not read is some kilobytes.
        deaf = [await a_deaf_client(server, key) for _ in range(20)]
        before = memory_bytes()
        async with server.stream(key, "deployments") as quick:
            for number in range(6):
                await summarize(server, number)
                told = (await quick.next()).data
        grown = memory_bytes() - before
        headers = {"authorization": f"Bearer {key}"}
        listed = await server.client.get("/api/v1/deployments", headers=headers)
        one = await server.client.get("/api/v1/deployments/d-1", headers=headers)
        for _, writer in deaf:
            writer.close()

    for seen in (told, listed.json()["items"][0]):
        assert (seen["plugin_metadata"], seen["metadata"], seen["stages"][0]["metadata"]) == ({}, {}, shown)
        assert seen["shared_metadata"].keys() == {"fairway/started-at", LEFT_OUT}
    assert one.json()["shared_metadata"].keys() == {"drift", "fairway/started-at", LEFT_OUT}
    # Six times 12 MB were stored; one such row is in memory as text and as a noun while it is read.
    assert grown < 150_000_000
