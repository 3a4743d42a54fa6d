"""A client that does not read holds up nobody and costs little; when it reads again, it is told how things are."""

import asyncio
import os
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from fairway.server.store import deployments
from tests.integration.server.http_api.streaming import LiveServer, a_live_server
from tests.integration.server.http_api.test_stream import a_shop_deployment
from tests.patience import PATIENCE_SECONDS

CHANGES = 400
SUMMARY = "x" * 200_000


def memory_bytes() -> int:
    """How much of this process is in memory now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def test_a_client_that_does_not_read_costs_little_and_holds_up_nobody(tmp_path: Path) -> None:
    async with a_live_server(f"sqlite:///{tmp_path}/fairway.db", tmp_path) as server:
        key = await server.a_key()
        await server.add(a_shop_deployment())
        reader, writer = await a_deaf_client(server, key)
        async with server.stream(key, "deployments") as quick:
            await summarize(server, 0)
            await quick.next()
            before = memory_bytes()

            for number in range(1, CHANGES):
                await summarize(server, number)
                assert (await quick.next()).data["summary"].startswith(f"{number} ")

            # Twice 80 MB have been told to the two; both ends are in this process.
            assert memory_bytes() - before < 40_000_000

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
            connection, "d-1", lambda found: msgspec.structs.replace(found, summary=f"{number} {SUMMARY}")
        )
    )
