"""One instance of the process platform by itself: its process, and where it listens."""

import asyncio
import socket
import sys
from pathlib import Path

import pytest

from fairway.plugins.process import instance
from fairway.plugins.process.instance import Kept
from fairway.plugins.process.records import Instance, Version
from tests.integration.agent.running import until
from tests.integration.plugins.process.applications import SERVER
from tests.ports import a_free_port


async def nobody_to_wait_for(_id: str, _seconds: float) -> None:
    """It has no connections."""


async def test_a_process_whose_port_somebody_else_has_taken_gets_another_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = Version(commit="c1", files="f1", command=(sys.executable, "server.py"), health_path="/healthz")
    release = tmp_path / "releases" / version.release
    release.mkdir(parents=True)
    (release / "server.py").write_text(SERVER)
    (release / "version").write_text("one")
    free = a_free_port()
    with socket.create_server(("127.0.0.1", a_free_port())) as taken:
        ports = iter([taken.getsockname()[1], free])
        monkeypatch.setattr(instance, "_free_port", lambda: next(ports))
        record = Instance(id="primary-1", variant="primary", version=version.key, commit="c1")
        kept = Kept(record, version, tmp_path, lambda _record: None)
        attending = asyncio.create_task(kept.attend())

        async def is_ready() -> bool:
            return kept.record.ready

        await until(is_ready)
        found = (kept.record.port, kept.record.exits)
        kept.leave()
        await kept.end(nobody_to_wait_for, 1.0)
        await attending

    assert found == (free, 1)
