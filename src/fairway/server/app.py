"""One server process: opens what it keeps things in, offers its services, and stops without losing anything.

Everything is made here and handed to whoever needs it; no part looks for another by itself.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import grpc.aio
import msgspec
from litestar.types import ASGIApp

from fairway.clock import Clock
from fairway.errors import FairwayError
from fairway.rpc.agent_api import (
    AGENT_SERVICES,
    register_agent_service,
    register_application_service,
    register_hint_service,
    register_lease_service,
    register_report_service,
)
from fairway.rpc.channel import SERVER_OPTIONS
from fairway.rpc.context import CallContext
from fairway.rpc.traces import register_trace_sink
from fairway.rpc.user_api import USER_SERVICES, register_user_service
from fairway.server import answers, requests
from fairway.server.access_log import LogCalls, logged_requests
from fairway.server.actions.desk import ActionDesk
from fairway.server.agent_auth import AgentAuth
from fairway.server.agent_service.desk import AgentDesk
from fairway.server.agent_service.finding import ApplicationService
from fairway.server.agent_service.log_quota import LogQuota
from fairway.server.agent_service.quotas import Quotas
from fairway.server.agent_service.servicer import AgentService
from fairway.server.agent_service.together import ReportService
from fairway.server.answers import BoundAnswers
from fairway.server.certificates import CertificateFiles
from fairway.server.doors import Doors, open_doors, unready_when
from fairway.server.feed import Feed
from fairway.server.first_start import FirstStart, prepare_administrator, prepare_first_start
from fairway.server.hint_service import HintService
from fairway.server.hints import HintBoard
from fairway.server.housekeeping import HousekeepingSettings, run_housekeeping
from fairway.server.http_api.app import http_app
from fairway.server.http_api.desk import HttpDesk
from fairway.server.http_api.metrics import CountRpcs, Metrics
from fairway.server.lease import SECONDS, Times
from fairway.server.lease_service import LeaseDesk, LeaseService
from fairway.server.logs import LogStore
from fairway.server.proxies import TrustedProxies, behind
from fairway.server.replicas import Live, Memories, connected
from fairway.server.requests import BoundRequests
from fairway.server.room import Room
from fairway.server.sign_in.desk import SignInDesk
from fairway.server.sign_in.links import NewLink
from fairway.server.sign_in.providers import SignInProvider
from fairway.server.status_codes import abort_for
from fairway.server.store.changes import ChangeKind
from fairway.server.store.store import Store
from fairway.server.telemetry import Telemetry, TraceCalls
from fairway.server.user_auth import UserAuth
from fairway.server.user_service.servicer import UserService

if TYPE_CHECKING:
    from fairway.config.control_plane import ProjectEntry


class ServerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What a server is told when it starts."""

    #: Where the embedded database and the logs are, unless the next two say otherwise.
    data: Path
    #: A database URL; empty: SQLite in `data`.
    database: str = ""
    #: A directory or bucket for logs; empty: a directory in `data`.
    logs: str = ""
    #: Where agents and programs call, as host:port.
    listen: str = "127.0.0.1:9080"
    #: Where probes and readers of the JSON API call, as host:port.
    http_listen: str = "127.0.0.1:9082"
    #: None: without TLS.
    certificate: CertificateFiles | None = None
    #: Where people find the web page, for links; empty where there is none.
    web_url: str = ""
    housekeeping: HousekeepingSettings = HousekeepingSettings()
    #: gRPC and HTTP both at `listen`.
    single_port: bool = False
    #: Who is believed about where a request comes from.
    trusted_proxies: TrustedProxies = TrustedProxies()
    #: How long /readyz says no before anybody is sent away.
    drain_seconds: float = 0.0
    #: A collector of traces, such as http://collector:4318; empty: none are made.
    otlp_endpoint: str = ""
    #: Whether each request and call is logged.
    log_requests: bool = False
    #: How long nothing is heard of an agent before another one that stands by for it takes over.
    lease_seconds: float = SECONDS
    #: How much agents may store.
    quotas: Quotas = Quotas()
    #: How the bucket of the logs is reached, as obstore calls it.
    log_options: dict[str, str] = {}
    #: Who may vouch for people, beside this server itself.
    sign_in_providers: tuple[SignInProvider, ...] = ()
    #: Projects that exist from the start, beside the first one.
    projects: "tuple[ProjectEntry, ...]" = ()

    @property
    def doors(self) -> Doors:
        """Where the server is reached."""
        return Doors(
            listen=self.listen,
            http_listen=self.http_listen,
            certificate=self.certificate,
            single_port=self.single_port,
        )


class RunningServer(msgspec.Struct, frozen=True):
    """What whoever started a server may want to know."""

    port: int
    http_port: int
    first_start: FirstStart | None
    #: For the first administrator to set a password, until that has happened; a secret.
    administrator: NewLink | None = None


async def run_server(
    settings: ServerSettings, clock: Clock, ready: Callable[[RunningServer], None], stop: asyncio.Event
) -> None:
    """Run until `stop` is set; `ready` is called once the server answers."""
    settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    async with AsyncExitStack() as stack:
        traces = Telemetry.open(settings.otlp_endpoint) if settings.otlp_endpoint else None
        if traces is not None:
            stack.push_async_callback(traces.close)
        store, logs = await _opened(settings, traces, stack)
        hints, feed = HintBoard(), Feed()
        first_start = await prepare_first_start(store, clock)
        administrator = await prepare_administrator(store, clock)
        if settings.projects:
            # Loads all that knows of PipeCD's files.
            from fairway.server.control_plane_file import make_projects

            await make_projects(store, clock, settings.projects)
        tidying = run_housekeeping(store, logs, clock, settings.housekeeping, asyncio.sleep)
        stack.push_async_callback(_end, asyncio.create_task(tidying))
        agents, users, metrics = AgentAuth(store, clock), UserAuth(store, clock, settings.trusted_proxies), Metrics()
        actions = ActionDesk(
            store=store,
            logs=logs,
            hints=hints,
            clock=clock,
            new_id=_new_id,
            forget_agent=agents.forget,
            forget_key=users.forget,
            web_url=settings.web_url,
        )
        interceptors = [*_observers(settings, metrics, traces), *_bounds(agents, users, metrics)]
        server = grpc.aio.server(options=SERVER_OPTIONS, interceptors=interceptors)
        _offer(server, _Kept(actions, agents, users, Times(settings.lease_seconds), settings.quotas))
        sign_in = await SignInDesk.open(store, clock, settings.web_url, settings.sign_in_providers)
        await stack.enter_async_context(connected(_live(actions, feed, agents, users, sign_in)))
        web = http_app(HttpDesk(actions=actions, auth=users, metrics=metrics, sign_in=sign_in, feed=feed))
        web = behind(settings.trusted_proxies, unready_when(stop, _observed(web, settings, traces)))
        ports = await stack.enter_async_context(open_doors(settings.doors, server, web))
        ready(RunningServer(ports.grpc, ports.http, first_start, administrator))
        await stop.wait()
        await asyncio.sleep(settings.drain_seconds)
        # Streams end when they are told to; the doors wait for everything else.
        hints.close()
        feed.close()


def _own_logs(data: Path) -> Path:
    """Where logs are without another place for them. Nobody else looks in: the directory around it may be open."""
    logs = data / "logs"
    logs.mkdir(mode=0o700, exist_ok=True)
    logs.chmod(0o700)
    return logs


async def _opened(settings: ServerSettings, traces: Telemetry | None, stack: AsyncExitStack) -> tuple[Store, LogStore]:
    """What everything is kept in, until the stack is left."""
    url = settings.database or f"sqlite:///{settings.data.absolute() / 'fairway.db'}"
    store = await (traces.open_store(url) if traces else Store.open(url))
    stack.push_async_callback(store.close)
    logs = LogStore.open(settings.logs or str(_own_logs(settings.data)), settings.log_options)
    stack.push_async_callback(logs.close)
    return store, logs


def _observers(
    settings: ServerSettings, metrics: Metrics, traces: Telemetry | None
) -> list[grpc.aio.ServerInterceptor]:
    """Who looks at each call: only whom somebody wants."""
    traced = [TraceCalls(traces)] if traces is not None else []
    return [CountRpcs(metrics), *traced, *([LogCalls()] if settings.log_requests else [])]


def _bounds(agents: AgentAuth, users: UserAuth, metrics: Metrics) -> list[grpc.aio.ServerInterceptor]:
    """What keeps memory bounded."""

    async def agent(context: CallContext) -> str:
        return (await agents.authenticate(context)).agent_id

    async def key(context: CallContext) -> str:
        return (await users.authenticate(context)).name

    reading, answering = Room(requests.LIMITS), Room(answers.LIMITS)
    metrics.watch_rooms(reading, answering)
    known = dict.fromkeys(AGENT_SERVICES, agent) | dict.fromkeys(USER_SERVICES, key)
    return [BoundRequests(reading, known), BoundAnswers(answering)]


def _observed(web: ASGIApp, settings: ServerSettings, traces: Telemetry | None) -> ASGIApp:
    """The same around each request."""
    if traces is not None:
        web = traces.traced_app(web)
    return logged_requests(web) if settings.log_requests else web


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


def _live(actions: ActionDesk, feed: Feed, agents: AgentAuth, users: UserAuth, sign_in: SignInDesk) -> Live:
    """What is told to those who watch, here and at other replicas, and what is remembered only until it changes."""
    people = sign_in.sessions
    forget = {
        ChangeKind.AGENTS: agents.forget,
        ChangeKind.API_KEYS: users.forget,
        ChangeKind.USERS: people.forget_user,
        ChangeKind.ROLES: lambda _: people.forget_everybody(),
        ChangeKind.SETTINGS: lambda _: people.forget_everybody(),
    }

    def forget_all() -> None:
        agents.forget_all()
        users.forget_all()
        people.forget_everybody()

    memories = Memories(forget=forget, forget_all=forget_all)
    return Live(store=actions.store, logs=actions.logs, hints=actions.hints, feed=feed, memories=memories)


class _Kept(msgspec.Struct, frozen=True):
    actions: ActionDesk
    agents: AgentAuth
    users: UserAuth
    lease_times: Times
    quotas: Quotas


def _offer(server: grpc.aio.Server, kept: _Kept) -> None:
    actions, agents = kept.actions, kept.agents
    agent_desk = AgentDesk(
        store=actions.store,
        logs=actions.logs,
        hints=actions.hints,
        clock=actions.clock,
        new_id=actions.new_id,
        web_url=actions.web_url,
        log_quota=LogQuota(kept.quotas),
    )
    register_agent_service(AgentService(agent_desk, agents), server)
    register_report_service(ReportService(agent_desk, agents), server)
    register_application_service(ApplicationService(agent_desk, agents), server)
    register_user_service(UserService(kept.actions, kept.users), server)
    register_hint_service(HintService(actions.hints, _known_agent(agents)), server)
    leases = LeaseDesk(
        store=actions.store, hints=actions.hints, clock=actions.clock, forward=time.monotonic, times=kept.lease_times
    )
    register_lease_service(LeaseService(leases, _known_agent(agents)), server)
    register_trace_sink(server)


def _known_agent(auth: AgentAuth) -> Callable[[CallContext], Awaitable[str]]:
    """Which agent calls; the call ends here when none that we know does."""

    async def known_agent(context: CallContext) -> str:
        try:
            return (await auth.authenticate(context)).agent_id
        except FairwayError as error:
            await abort_for(error, context)

    return known_agent


def _new_id() -> str:
    return str(uuid4())
