"""An API server that answers what a test tells it to, in order, and keeps what it was asked."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
from aiohttp import web

from fairway.clock import Clock
from fairway.kube.access import Access
from fairway.kube.calls import Patience
from fairway.kube.cluster import Cluster
from fairway.kube.kinds import Kind
from fairway.kube.kubeconfig import ClusterEntry, Reach, UserEntry

CONFIG_MAPS = Kind(group="", version="v1", kind="ConfigMap", plural="configmaps", namespaced=True)

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Asked(msgspec.Struct, frozen=True):
    """One request that came."""

    method: str
    path: str
    query: Mapping[str, str]
    authorization: str


class ApiDouble:
    """Answers with the next of its answers; the last one again and again."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.asked: list[Asked] = []
        self.url = ""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(
            Asked(request.method, request.path, dict(request.query), request.headers.get("Authorization", ""))
        )
        await request.read()
        following = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return await following(request)

    def reach(self, **user: Any) -> Reach:
        """What a kubeconfig would say of it."""
        cluster = ClusterEntry(server=self.url)
        return Reach(source="kubeconfig", cluster=cluster, user=UserEntry(**user), directory=Path("/"))


@asynccontextmanager
async def serving(*answers: Answer, tls: ssl.SSLContext | None = None) -> AsyncIterator[ApiDouble]:
    """A double that listens."""
    double = ApiDouble(*answers)
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", double.answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    listening = socket.create_server(("127.0.0.1", 0))
    await web.SockSite(runner, listening, ssl_context=tls).start()
    double.url = f"{'https' if tls else 'http'}://127.0.0.1:{listening.getsockname()[1]}"
    try:
        yield double
    finally:
        await runner.cleanup()


@asynccontextmanager
async def a_cluster(
    double: ApiDouble, waits: list[float] | None = None, clock: Clock | None = None, **user: Any
) -> AsyncIterator[Cluster]:
    """A client of the double that waits for nothing and notes how long it would have."""
    access = Access(lambda: double.reach(**user), clock)
    async with Cluster("dev", access, no_waits(waits)) as cluster:
        yield cluster


def no_waits(waits: list[float] | None = None) -> Patience:
    """Patience that takes no time."""

    async def sleep(seconds: float) -> None:
        if waits is not None:
            waits.append(seconds)
        await asyncio.sleep(0)

    return Patience(attempts=4, first_delay=1.0, longest_delay=3.0, sleep=sleep, chance=lambda: 1.0)


def says(body: Any, status: int = 200, headers: Mapping[str, str] = {}) -> Answer:
    """An answer as JSON, or as it is when it is bytes."""

    async def answer(_: web.Request) -> web.StreamResponse:
        data = body if isinstance(body, bytes) else msgspec.json.encode(body)
        return web.Response(body=data, status=status, headers=headers, content_type="application/json")

    return answer


def refuses(status: int, message: str = "no", headers: Mapping[str, str] = {}) -> Answer:
    """A Status."""
    return says({"kind": "Status", "code": status, "message": message}, status, headers)


async def hangs_up(request: web.Request) -> web.StreamResponse:
    """No answer: the connection breaks."""
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


def tells(*lines: Any, then: Answer | None = None) -> Answer:
    """A watch that tells these changes, and ends; or does something else then."""

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for line in lines:
            data = line if isinstance(line, bytes) else msgspec.json.encode(line)
            await response.write(data + b"\n")
        if then is not None:
            await then(request)
        return response

    return answer


async def for_ever(_: web.Request) -> web.StreamResponse:
    """Nothing more is told; the test is over before this is."""
    await asyncio.Event().wait()
    raise AssertionError("unreachable")


def an_object(name: str, version: str, **data: str) -> dict[str, Any]:
    """A ConfigMap whose uid is its name."""
    return {"metadata": {"name": name, "uid": name, "resourceVersion": version}, "data": data}


def a_list(version: str, *items: Any, following: str = "") -> dict[str, Any]:
    """A page of a list."""
    return {"metadata": {"resourceVersion": version, "continue": following}, "items": list(items)}
