"""A stand-in between an agent and its cluster that says "too many requests" before it lets a change through."""

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPSConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.clusters.running import RunningCluster

_PIECE = 64 * 1024
_CHANGES = frozenset({"POST", "PATCH", "DELETE"})
_REFUSAL = b'{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "TooManyRequests", "code": 429}'


class BusyDoor(ThreadingHTTPServer):
    """Refuses the first attempt at every change."""

    daemon_threads = True

    def __init__(self, cluster: RunningCluster) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.upstream = urlsplit(cluster.url)
        self.trusted = ssl.create_default_context(cafile=str(cluster.home / "pki" / "ca.crt"))
        #: What was refused, in order.
        self.refused: list[tuple[str, str]] = []

    def refuses(self, method: str, path: str) -> bool:
        """Whether this is the first attempt."""
        what = method, urlsplit(path).path
        if method not in _CHANGES or what in self.refused:
            return False
        self.refused.append(what)
        return True

    def kubeconfig(self, real: Path) -> Path:
        """A kubeconfig that leads here instead."""
        config: dict[str, Any] = json.loads(real.read_text())
        config["clusters"][0]["cluster"] = {"server": f"http://127.0.0.1:{self.server_port}"}
        made = real.with_name(f"busy-{real.name}")
        made.write_text(json.dumps(config))
        return made


@contextmanager
def a_busy_door(cluster: RunningCluster) -> Iterator[BusyDoor]:
    """One that is open until the end of the block."""
    door = BusyDoor(cluster)
    thread = threading.Thread(target=door.serve_forever, daemon=True)
    thread.start()
    try:
        yield door
    finally:
        door.shutdown()
        door.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    server: BusyDoor
    protocol_version = "HTTP/1.1"

    def handle_one_request(self) -> None:
        """Any method: all are passed on alike."""
        self.raw_requestline = self.rfile.readline(_PIECE)
        if not self.raw_requestline or not self.parse_request():
            self.close_connection = True
            return
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.server.refuses(self.command, self.path):
            self.send_response(429)
            self.send_header("Retry-After", "0")
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(_REFUSAL)))
            self.end_headers()
            self.wfile.write(_REFUSAL)
        else:
            self._pass_on(body)

    def _pass_on(self, body: bytes) -> None:
        upstream = self.server.upstream
        connection = HTTPSConnection(str(upstream.hostname), upstream.port, context=self.server.trusted)
        headers = {name: value for name, value in self.headers.items() if name.lower() not in {"host", "connection"}}
        try:
            connection.request(self.command, self.path, body or None, headers)
            answer = connection.getresponse()
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.headers["Content-Type"] or "application/json")
            self.send_header("Connection", "close")
            self.end_headers()
            # A watch goes on: what comes is passed on as it comes.
            while piece := answer.read1(_PIECE):
                self.wfile.write(piece)
        except OSError:
            pass  # The agent hung up, or the cluster did: the other one sees it.
        finally:
            self.close_connection = True
            connection.close()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: a test reads what was refused."""
