"""A real agent against a real server, with real Git repositories and real plugin processes."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pytest
from grpc import aio

from fairway.agent import deploying
from fairway.agent.app import AgentSettings, run_agent
from fairway.agent.run_context import Running
from fairway.clock import SystemClock
from fairway.config.agent import AgentConfig
from fairway.config.read import read_agent
from fairway.model.application import Application, GitPath, Repository
from fairway.model.command import ApproveStage, Command, Payload
from fairway.model.deployment import Deployment
from fairway.model.stage import Approval
from fairway.rpc.agent_api import (
    register_agent_service,
    register_application_service,
    register_hint_service,
    register_report_service,
)
from fairway.rpc.channel import CHANNEL_OPTIONS, SERVER_OPTIONS
from fairway.rpc.context import CallContext
from fairway.secrets.render import Unsealer
from fairway.server.agent_auth import AgentAuth
from fairway.server.agent_service.desk import AgentDesk
from fairway.server.agent_service.finding import ApplicationService
from fairway.server.agent_service.servicer import AgentService
from fairway.server.agent_service.together import ReportService
from fairway.server.hint_service import HintService
from fairway.server.hints import HintBoard, HintTopic
from fairway.server.logs import LogStore, StageLogKey
from fairway.server.store import agents, applications, commands, deployments
from fairway.server.store.deployments import DeploymentFilter
from fairway.server.store.page import PageRequest
from fairway.server.store.store import Store
from tests.integration.git.repositories import Origin
from tests.integration.server.agent.serving import KEY, an_agent
from tests.patience import PATIENCE_SECONDS
from tests.ports import a_free_port
from tests.unit.model.builders import an_application

T = TypeVar("T")


class World(msgspec.Struct):
    """A server, a repository, and what a test wants to know of them."""

    store: Store
    logs: LogStore
    hints: HintBoard
    origin: Origin
    data: Path
    seen: list[str] = []
    #: Where the agent finds the repository; empty for where it lies.
    remote: str = ""
    address: str = ""
    server: aio.Server | None = None

    async def add_application(self, name: str = "web", **fields: Any) -> None:
        """Register the application in the directory of the same name."""
        place = GitPath(repository=Repository(id="r-1"), path=name, config_filename="app.pipecd.yaml")
        application = an_application(f"a-{name}", name=name, git_path=place, **fields)
        await self.store.write(lambda connection: applications.insert_application(connection, application))
        self.hints.publish("agent-1", HintTopic.APPLICATIONS)

    async def deployments(self) -> tuple[Deployment, ...]:
        """All deployments, in the order in which they were first seen: the wire's times are whole seconds."""
        wanted = DeploymentFilter(project_id="shop")
        found = await self.store.read(lambda each: deployments.list_deployments(each, wanted, PageRequest()))
        self.seen += [each.id for each in reversed(found.items) if each.id not in self.seen]
        return tuple(sorted(found.items, key=lambda each: self.seen.index(each.id)))

    async def ended(self, number: int = 1) -> Deployment:
        """The deployment of that number, once it has ended."""

        async def look() -> Deployment | None:
            found = await self.deployments()
            return found[number - 1] if len(found) >= number and found[number - 1].status.is_terminal else None

        return await until(look)

    async def log(self, deployment: Deployment, stage: int) -> str:
        """What a stage has logged."""
        key = StageLogKey(deployment.id, deployment.stages[stage].id, 0)
        return "\n".join(block.log for block in (await self.logs.read(key)).blocks)

    async def output(self, deployment: Deployment, stage: int) -> str:
        """What a script has written: its log without the last line, which says how it ended."""
        return (await self.log(deployment, stage)).rpartition("\n")[0]

    async def command(self, payload: Payload, commander: str = "ada") -> str:
        """Ask the agent for something."""
        now = SystemClock().now()
        command = Command(
            id=f"c-{now.timestamp()}",
            agent_id="agent-1",
            project_id="shop",
            payload=payload,
            commander=commander,
            created_at=now,
            updated_at=now,
        )
        await self.store.write(lambda connection: commands.insert_command(connection, command))
        self.hints.publish("agent-1", HintTopic.COMMANDS)
        return command.id

    async def approve(self, approve: ApproveStage, by: str) -> str:
        """Approve a stage, as the server does it: counted there, and told to the agent."""
        command_id, now = await self.command(approve, by), SystemClock().now()

        def count_it(found: Deployment) -> Deployment:
            stages = tuple(
                msgspec.structs.replace(
                    each, approvals=(*each.approvals, Approval(by=by, at=now, command_id=command_id))
                )
                if each.id == approve.stage_id
                else each
                for each in found.stages
            )
            return msgspec.structs.replace(found, stages=stages)

        await self.store.write(
            lambda connection: deployments.update_deployment(connection, approve.deployment_id, count_it)
        )
        return command_id

    async def application(self, name: str = "web") -> Application:
        """A registered application as the server has it."""
        return await self.store.read(lambda connection: applications.load_application(connection, f"a-{name}"))

    async def answer(self, command_id: str) -> Command:
        """The command, once it has been answered."""

        async def look() -> Command | None:
            found = await self.store.read(lambda connection: commands.load_command(connection, command_id))
            return found if found.handled_at else None

        return await until(look)

    async def serve(self, port: int = 0, *interceptors: aio.ServerInterceptor, as_pipecd: bool = False) -> None:
        """Answer agents; as PipeCD's server does, with nothing but its own service. The port is nobody else's while
        nobody answers, either."""
        clock, ids = SystemClock(), count(1)
        auth = AgentAuth(self.store, clock)
        desk = AgentDesk(
            store=self.store,
            logs=self.logs,
            hints=self.hints,
            clock=clock,
            new_id=lambda: f"new-{next(ids)}",
            web_url="",
        )

        async def known_agent(context: CallContext) -> str:
            return (await auth.authenticate(context)).agent_id

        self.server = aio.server(options=SERVER_OPTIONS, interceptors=interceptors)
        register_agent_service(AgentService(desk, auth), self.server)
        if not as_pipecd:
            register_report_service(ReportService(desk, auth), self.server)
            register_application_service(ApplicationService(desk, auth), self.server)
            register_hint_service(HintService(self.hints, known_agent), self.server)
        self.address = f"127.0.0.1:{self.server.add_insecure_port(f'127.0.0.1:{port or a_free_port()}')}"
        await self.server.start()

    async def stop_serving(self) -> None:
        """Answer nobody."""
        if self.server is not None:
            await self.server.stop(None)


@asynccontextmanager
async def a_world(folder: Path, origin: Origin) -> AsyncIterator[World]:
    """A server that knows one agent."""
    store = await Store.open(f"sqlite:///{folder / 'fairway.db'}")
    world = World(store, LogStore.open(folder / "logs"), HintBoard(), origin, folder / "agent")
    await store.write(lambda connection: agents.insert_agent(connection, an_agent()))
    await world.serve()
    try:
        yield world
    finally:
        world.hints.close()
        await world.stop_serving()
        await world.logs.close()
        await store.close()


@asynccontextmanager
async def an_agent_at_work(world: World, plugins: str = "", unsealer: Unsealer | None = None) -> AsyncIterator[None]:
    """An agent that runs while the block lasts, and stops as one that is asked to."""
    stop, ready = asyncio.Event(), asyncio.Event()
    settings = AgentSettings(
        config=agent_config(world.origin, plugins, world.remote),
        data=world.data,
        channel=aio.insecure_channel(world.address, options=CHANNEL_OPTIONS),
        token=f"shop,agent-1,{KEY.shown}",
        unsealer=unsealer,
    )
    running = asyncio.create_task(run_agent(settings, SystemClock(), ready.set, stop))
    waiting = asyncio.create_task(ready.wait())
    await asyncio.wait({running, waiting}, return_when=asyncio.FIRST_COMPLETED)
    if running.done():
        await running
    try:
        yield
    finally:
        stop.set()
        await running


def agent_config(origin: Origin, plugins: str = "", remote: str = "") -> AgentConfig:
    """An agent of one repository, with plugins as YAML in one line."""
    text = f"""
apiVersion: pipecd.dev/v1beta1
kind: Piped
spec:
  projectID: shop
  pipedID: agent-1
  pipedKeyData: a2V5
  apiAddress: localhost:1
  repositories:
    - repoId: r-1
      remote: {remote or origin.bare}
      branch: main
  plugins: {plugins or "[]"}
"""
    return read_agent(text.encode(), "agent.yaml")


def an_application_file(*stages: str, spec: str = "") -> str:
    """The file of an application with these stages, each as YAML in one line."""
    listed = "\n".join(f"      - {stage}" for stage in stages)
    return f"""\
apiVersion: pipecd.dev/v1beta1
kind: Application
spec:
  name: web
  planner:
    alwaysUsePipeline: true
  pipeline:
    stages:
{listed}
{spec}"""


async def until(look: Callable[[], Awaitable[T | None]]) -> T:
    """What `look` finds, as soon as it finds something."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            if found := await look():
                return found
            await asyncio.sleep(0.02)


class OwnTime:
    """The time by which an agent measures how long something takes: it passes when it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._now = 0.0
        # An agent makes this for each deployment, and nobody else has a say in it.
        monkeypatch.setattr(deploying, "Running", partial(Running, steady=lambda: self._now))

    def pass_by(self, seconds: float) -> None:
        """Let so much time pass."""
        self._now += seconds


def script(run: str, **options: Any) -> str:
    """A SCRIPT_RUN stage."""
    return msgspec.json.encode({"name": "SCRIPT_RUN", "with": {"run": run, **options}}).decode()
