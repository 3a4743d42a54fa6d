"""Applications of the process platform: a small web server in several versions, and somebody who keeps asking it."""

import asyncio
import json
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import msgspec

from fairway.plugins.process.identity import is_alive, signal_group
from fairway.plugins.process.records import SEEN, Instance, Seen, load
from tests.integration.agent.running import World
from tests.patience import PATIENCE_SECONDS

#: An agent with the platform.
PLUGINS = "[{name: process, url: 'builtin:process'}]"

SERVER = """\
import os, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

version = Path("version").read_text().strip()
if version == "broken":
    sys.exit("this version is broken")
if version == "slow":
    time.sleep(1.5)

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        sick = self.path == "/healthz" and version == "sick"
        body = f"{version} {os.environ['FAIRWAY_VARIANT']} {os.getpid()}".encode()
        self.send_response(500 if sick else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass

class Server(ThreadingHTTPServer):
    request_queue_size = 128

Server(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"""


class Shop(msgspec.Struct, frozen=True):
    """An application of the platform, for one test."""

    port: int
    replicas: int = 2
    #: How long its processes may take to answer; a busy machine takes long to start them.
    patience: float = PATIENCE_SECONDS

    def files(self, version: str, *stages: str) -> dict[str, str]:
        """The application at a version, with these stages or without a pipeline."""
        pipeline = {"pipeline": {"stages": [json.loads(stage) for stage in stages]}} if stages else {}
        process = {
            "command": [sys.executable, "server.py"],
            "replicas": self.replicas,
            "port": self.port,
            "health": {"path": "/healthz", "timeout": f"{self.patience:g}s", "interval": "100ms"},
            # They end when they are asked to; what they are answering then may take long on a busy machine, too.
            "stopTimeout": f"{PATIENCE_SECONDS:g}s",
        }
        spec = {"name": "web", "plugins": {"process": process}, **pipeline}
        file = {"apiVersion": "pipecd.dev/v1beta1", "kind": "Application", "spec": spec}
        return {"web/app.pipecd.yaml": json.dumps(file), "web/server.py": SERVER, "web/version": version}

    async def ask(self) -> str:
        """Which version answers, and as what; with its process."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(b"GET / HTTP/1.0\r\n\r\n")
            answer = await reader.read()
        finally:
            writer.close()
        head, _, body = answer.partition(b"\r\n\r\n")
        if b" 200 " not in head.splitlines()[0]:
            raise ConnectionError(head.decode())
        return body.decode()

    async def answers(self, times: int) -> Counter[str]:
        """How often each version has answered as what."""
        return Counter([(await self.ask()).rpartition(" ")[0] for _ in range(times)])


def a_stage(name: str, **options: object) -> str:
    """A stage of a pipeline."""
    return json.dumps({"name": name, "with": options})


class Asked(msgspec.Struct):
    """What somebody who kept asking has got."""

    answers: Counter[str] = msgspec.field(default_factory=Counter)
    failures: list[str] = []


@asynccontextmanager
async def somebody_asking(shop: Shop) -> AsyncIterator[Asked]:
    """Ask all the time while the block lasts."""
    asked, stop = Asked(), asyncio.Event()

    async def ask() -> None:
        while not stop.is_set():
            try:
                asked.answers[(await shop.ask()).rpartition(" ")[0]] += 1
            except (OSError, IndexError) as error:
                asked.failures.append(repr(error))
            await asyncio.sleep(0)

    asking = asyncio.create_task(ask())
    try:
        yield asked
    finally:
        stop.set()
        await asking


def seen(world: World, application: str = "a-web") -> Seen:
    """What the keeper of an application has written down."""
    return load(directory(world, application), SEEN, Seen) or Seen()


def directory(world: World, application: str = "a-web") -> Path:
    """Where the platform keeps an application."""
    return world.data / "plugins" / "process" / "apps" / application


def instances(world: World, variant: str) -> list[Instance]:
    """The processes of a variant that run."""
    return [each for each in seen(world).instances if each.variant == variant and is_alive(each.process)]


@contextmanager
def nothing_left(folder: Path) -> Iterator[None]:
    """End the processes of a test, however it ends."""
    try:
        yield
    finally:
        for file in folder.glob(f"**/{SEEN}"):
            found = load(file.parent, SEEN, Seen) or Seen()
            for process in (found.keeper, *(each.process for each in found.instances)):
                if process is not None:
                    # It may just be ending by itself.
                    signal_group(process, signal.SIGKILL)
