"""Sees many objects for the first time, in a process of its own, and prints what that took.

`python -m bench.kubernetes_live ours …` asks the plugin about every application, twice; `bare …` lists the same objects
page by page and keeps them. Both say their memory before and after, and how many calls to the cluster were made.
"""

import asyncio
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from bench.kubernetes_applications import Content, a_plugin
from bench.process import ServerProcess
from fairway.kube.calls import Call, Calls
from fairway.model.application import SyncStatus
from tests.clusters.api import Api

_PAGE = 500


class Populated(msgspec.Struct, frozen=True):
    """What the cluster was filled with."""

    kubeconfig: str
    #: Keys and certificates, for the one who lists.
    pki: str
    url: str
    namespace: str
    applications: int
    objects_of_each: int

    def name(self, number: int) -> str:
        """Of an application."""
        return f"app-{number}"


class Found(msgspec.Struct, frozen=True):
    """Seconds, megabytes, and calls."""

    before: float
    after: float
    #: Until the first application was answered for; for the bare list, all there is.
    first: float
    #: Until all were, with what differs from Git.
    all: float = 0.0
    #: The same once more.
    again: float = 0.0
    calls_again: int = 0


def bare(made: Populated) -> Found:
    """The objects as the API server has them, all at once in memory."""
    api = Api(made.url, Path(made.pki))
    before, start = _megabytes(), time.perf_counter()
    objects: list[object] = []
    token = ""
    while True:
        page = api.get(f"/api/v1/configmaps?limit={_PAGE}&continue={token}")
        objects += page["items"]
        if not (token := page["metadata"].get("continue", "")):
            break
    assert len(objects) >= made.applications * made.objects_of_each, len(objects)
    return Found(before, _megabytes(), time.perf_counter() - start)


async def ours(made: Populated, folder: Path) -> Found:
    """Every application asked about, and once more."""
    folders = [folder / made.name(number) for number in range(made.applications)]
    for each in folders:
        Content(made.namespace, each.name, made.objects_of_each).write(each)
    async with a_plugin(Path(made.kubeconfig), folder) as plugin:

        async def look(at: Path) -> None:
            plugin.application_id, plugin.folder = at.name, at
            resources, state = await plugin.live_state()
            assert (len(resources), state.status) == (made.objects_of_each, SyncStatus.SYNCED), state

        before, start = _megabytes(), time.perf_counter()
        await look(folders[0])
        first = time.perf_counter() - start
        for each in folders[1:]:
            await look(each)
        took, after = time.perf_counter() - start, _megabytes()
        start = time.perf_counter()
        with _counted() as calls:
            for each in folders:
                await look(each)
        return Found(before, after, first, took, time.perf_counter() - start, len(calls))


@contextmanager
def _counted() -> Iterator[list[str]]:
    """The calls to a cluster that are made in the block."""
    made: list[str] = []
    original = Calls.send

    async def send(self: Calls, call: Call) -> bytes:
        made.append(call.path)
        return await original(self, call)

    Calls.send = send  # type: ignore[method-assign]  # nothing else sees every call
    try:
        yield made
    finally:
        Calls.send = original  # type: ignore[method-assign]  # as it was


def _megabytes() -> float:
    return ServerProcess(os.getpid(), 0, 0, "").megabytes()


if __name__ == "__main__":
    populated = msgspec.json.decode(sys.argv[2], type=Populated)
    found = bare(populated) if sys.argv[1] == "bare" else asyncio.run(ours(populated, Path(sys.argv[3])))
    print(msgspec.json.encode(found).decode())
