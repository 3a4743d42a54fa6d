"""What an agent says of a server that cannot be asked."""

import asyncio
from typing import Any, cast

import structlog

from fairway.agent.control_plane import ServerAway
from fairway.agent.server_watch import ServerWatch


class Asked:
    """Answers only now and then: not, not, not, and then always."""

    def __init__(self) -> None:
        self.times = 0
        self.enough = asyncio.Event()

    async def look(self) -> None:
        self.times += 1
        if self.times <= 3:
            raise ServerAway("nobody is there")
        if self.times == 6:
            self.enough.set()


async def test_that_a_server_cannot_be_asked_is_said_once_and_once_that_it_can_again() -> None:
    # Neither a server nor an agent is asked for anything in a round but its look.
    watch, asked = ServerWatch(cast(Any, None), cast(Any, None)), Asked()
    with structlog.testing.capture_logs() as logs:
        rounds = asyncio.create_task(watch._rounds(subject=next(iter(watch._due)), look=asked.look, seconds=0.0))
        await asked.enough.wait()
        rounds.cancel()

    assert [(each["log_level"], each["event"]) for each in logs] == [
        ("warning", "the server cannot be asked; it is tried again and again"),
        ("info", "the server answers again"),
    ]
