"""A door between an agent and its cluster: it can be shut, busy or choosy, and it can hold what is on its way."""

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPException, HTTPSConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.clusters.running import RunningCluster

_PIECE = 64 * 1024
_CHANGES = frozenset({"POST", "PATCH", "DELETE"})


class Door(ThreadingHTTPServer):
    """Passes everything on, unless it is told otherwise."""

    daemon_threads = True
    #: Whoever comes is let in, though the one who lets in may have to wait for a turn of the machine.
    request_queue_size = 128

    def __init__(self, cluster: RunningCluster) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.upstream = urlsplit(cluster.url)
        self.trusted = ssl.create_default_context(cafile=str(cluster.home / "pki" / "ca.crt"))
        #: Whether the first attempt at every change is refused.
        self.busy = False
        #: What was refused for that, in order.
        self.refused: list[tuple[str, str]] = []
        #: Tokens that are not good any more.
        self.over: set[str] = set()
        #: Whether nobody gets through.
        self.is_shut = False
        #: Which requests, by method and path, are not passed on until they are let go.
        self.holds: Callable[[str, str], bool] = lambda _method, _path: False
        #: How many have been held.
        self.held = 0
        self._let_go = threading.Event()
        self._passing: set[socket.socket] = set()

    def shut(self) -> None:
        """As if the cluster were gone: whatever goes on is broken off, and whoever comes is hung up on."""
        self.is_shut = True
        for each in tuple(self._passing):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def open(self) -> None:
        """Let everybody through again."""
        self.is_shut = False

    def let_go(self) -> None:
        """Pass on what was held, and hold nothing more."""
        self.holds = lambda _method, _path: False
        self._let_go.set()

    def wait_if_held(self, method: str, path: str) -> None:
        """In the thread of one request."""
        if self.holds(method, path):
            self.held += 1
            self._let_go.wait()

    def code_for(self, method: str, path: str, token: str) -> int:
        """With which number it is refused; 0 when it is passed on."""
        if token in self.over:
            return 401
        what = method, urlsplit(path).path
        if not self.busy or method not in _CHANGES or what in self.refused:
            return 0
        self.refused.append(what)
        return 429

    @contextmanager
    def passing(self, line: socket.socket) -> Iterator[None]:
        """While something goes on over that line."""
        self._passing.add(line)
        try:
            yield
        finally:
            self._passing.discard(line)

    def kubeconfig(self, real: Path, user: dict[str, Any] | None = None) -> Path:
        """A kubeconfig that leads here instead, perhaps of a user who shows something else."""
        config: dict[str, Any] = json.loads(real.read_text())
        config["clusters"][0]["cluster"] = {"server": f"http://127.0.0.1:{self.server_port}"}
        config["users"][0]["user"] = user or config["users"][0]["user"]
        made = real.with_name(f"door-{self.server_port}-{real.name}")
        made.write_text(json.dumps(config))
        return made


@contextmanager
def a_door(cluster: RunningCluster) -> Iterator[Door]:
    """One that is there until the end of the block."""
    door = Door(cluster)
    thread = threading.Thread(target=door.serve_forever, daemon=True)
    thread.start()
    try:
        yield door
    finally:
        door.let_go()
        door.shutdown()
        door.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    server: Door
    protocol_version = "HTTP/1.1"

    def handle_one_request(self) -> None:
        """Any method: all are passed on alike."""
        self.raw_requestline = self.rfile.readline(_PIECE)
        if not self.raw_requestline or not self.parse_request():
            self.close_connection = True
            return
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.wait_if_held(self.command, self.path)
        token = str(self.headers.get("Authorization")).removeprefix("Bearer ")
        if self.server.is_shut:
            self.close_connection = True
        elif code := self.server.code_for(self.command, self.path, token):
            self._refuse(code)
        else:
            self._pass_on(body)

    def _refuse(self, code: int) -> None:
        said = json.dumps({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code}).encode()
        self.send_response(code)
        self.send_header("Retry-After", "0")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def _pass_on(self, body: bytes) -> None:
        upstream = self.server.upstream
        connection = HTTPSConnection(str(upstream.hostname), upstream.port, context=self.server.trusted)
        headers = {name: value for name, value in self.headers.items() if name.lower() not in {"host", "connection"}}
        try:
            connection.connect()
            with self.server.passing(connection.sock):
                if self.server.is_shut:
                    return
                connection.request(self.command, self.path, body or None, headers)
                answer = connection.getresponse()
                self.send_response(answer.status)
                self.send_header("Content-Type", answer.headers["Content-Type"] or "application/json")
                self.send_header("Connection", "close")
                self.end_headers()
                # A watch goes on: what comes is passed on as it comes.
                while piece := answer.read1(_PIECE):
                    self.wfile.write(piece)
        except (OSError, HTTPException):
            pass  # The agent hung up, or the cluster did: the other one sees it.
        finally:
            self.close_connection = True
            connection.close()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: a test reads what was refused."""
