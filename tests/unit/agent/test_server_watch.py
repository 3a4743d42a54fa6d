"""What an agent says of a server that cannot be asked, and what it does with what one lists."""

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any, cast

import structlog

from fairway.agent.control_plane import ServerAway, ServerRefused
from fairway.agent.deployments import Deployments, Underway
from fairway.agent.server_watch import ServerWatch
from fairway.git.retry import Retry
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.stage import StageStatus
from fairway.rpc.agent_api import hint_messages
from tests.unit.model.builders import a_deployment, a_stage


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


class RefusesOnce:
    """Gives hints, but not to whoever asks first."""

    def __init__(self) -> None:
        self.tokens: list[str] = []

    async def watch(self, token: str) -> AsyncIterator[hint_messages.Hint]:
        self.tokens.append(token)
        if len(self.tokens) == 1:
            raise ServerRefused("a gate before the server: not you, not now")
        yield hint_messages.Hint(subject=hint_messages.Hint.SUBJECT_LEASE, token="1")
        await asyncio.Event().wait()


async def test_who_is_refused_the_hints_asks_for_them_again() -> None:
    server, heard = RefusesOnce(), asyncio.Event()
    agent = SimpleNamespace(lease=heard.set)
    watch = ServerWatch(cast(Any, server), cast(Any, agent), Retry(sleep=lambda _seconds: asyncio.sleep(0)))
    listening = asyncio.create_task(watch._listen())
    hint = asyncio.create_task(heard.wait())
    await asyncio.wait({listening, hint}, return_when=asyncio.FIRST_COMPLETED)
    for task in (listening, hint):
        task.cancel()
    await asyncio.gather(listening, hint, return_exceptions=True)

    assert (heard.is_set(), server.tokens) == (True, ["", ""])


async def test_what_the_server_lists_is_taken_up_and_its_application_knows_of_it() -> None:
    listed, told = a_deployment(), list[tuple[str, str]]()

    async def open_deployments() -> tuple[Deployment, ...]:
        return (listed,)

    async def found(deployment: Deployment) -> None:
        told.append(("found", deployment.id))

    deployments = SimpleNamespace(take=lambda deployment: told.append(("taken", deployment.id)))
    server = SimpleNamespace(open_deployments=open_deployments)
    watch = ServerWatch(cast(Any, server), cast(Any, SimpleNamespace(deployments=deployments, found=found)))
    await watch._look_at_deployments()

    assert told == [("taken", listed.id), ("found", listed.id)]


async def test_what_an_agent_had_begun_goes_on_before_anything_else_of_its_application_however_it_is_listed() -> None:
    waiting = a_deployment(id="waiting")
    begun = a_deployment(id="begun", status=DeploymentStatus.RUNNING, stages=(a_stage(status=StageStatus.RUNNING),))
    order, both = list[str](), asyncio.Event()

    async def deploy(underway: Underway) -> None:
        order.append(underway.deployment.id)
        if len(order) == 2:
            both.set()

    async def open_deployments() -> tuple[Deployment, ...]:
        return (waiting, begun)

    deployments = Deployments(deploy, lambda _underway, _how: asyncio.sleep(0))
    agent = SimpleNamespace(deployments=deployments, found=lambda _deployment: asyncio.sleep(0))
    server = SimpleNamespace(open_deployments=open_deployments)
    await ServerWatch(cast(Any, server), cast(Any, agent))._look_at_deployments()
    await both.wait()

    assert order == ["begun", "waiting"]
