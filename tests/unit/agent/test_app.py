"""An agent that is told to stop: whether it lets go of its lease depends on what it leaves running."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from fairway.agent import app
from fairway.agent.handing_over import RunningStage
from fairway.agent.lease import Role

A_STAGE = RunningStage("d-1", "s-1", "SCRIPT_RUN")


class ALease:
    """The lease of an agent at work."""

    role = Role.ACTIVE

    def __init__(self) -> None:
        self.released = False

    async def reached(self, *_roles: Role) -> Role:
        await asyncio.get_running_loop().create_future()
        raise AssertionError("nobody takes its place")

    async def release(self) -> None:
        self.released = True


@pytest.mark.parametrize(
    ("before", "after", "released"),
    [
        pytest.param((), (), True, id="nothing runs"),
        pytest.param((A_STAGE,), (A_STAGE,), False, id="a stage runs on"),
        pytest.param((), (A_STAGE,), False, id="a stage was begun before everything had stopped"),
        pytest.param((A_STAGE,), (), True, id="a stage has ended before everything had stopped"),
    ],
)
async def test_a_lease_is_let_go_when_nothing_was_left_running(
    before: tuple[RunningStage, ...],
    after: tuple[RunningStage, ...],
    released: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lease, stop = ALease(), asyncio.Event()
    work: Any = SimpleNamespace(
        desk=SimpleNamespace(outbox=SimpleNamespace(try_now=None)),
        inbox=SimpleNamespace(restart=asyncio.Event()),
        running_stages=before,
        run=asyncio.Event().wait,
    )

    @asynccontextmanager
    async def open_work(_place: object) -> AsyncIterator[Any]:
        yield work
        work.running_stages = after

    monkeypatch.setattr(app, "open_work", open_work)
    place: Any = SimpleNamespace(lease=lease)
    stop.set()

    assert not await app._replaced_at_work(place, stop)
    assert lease.released is released
