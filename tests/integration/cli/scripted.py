"""A real HTTP server on a loopback port that answers as a test tells it, and remembers what it was asked."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Asked(NamedTuple):
    """One request, whole."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Answer(NamedTuple):
    """What is sent back; None as the status breaks the connection."""

    status: int | None = 200
    body: Any = None
    headers: dict[str, str] = {}


class ScriptedServer(NamedTuple):
    """Where it listens, and what it was asked."""

    url: str
    asked: list[Asked]


@contextmanager
def a_scripted_server(answer: Callable[[Asked], Answer]) -> Iterator[ScriptedServer]:
    """Answer each request with what the function says."""
    asked: list[Asked] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_one(self) -> None:
            length = int(self.headers.get("content-length", 0))
            request = Asked(self.command, self.path, dict(self.headers.items()), self.rfile.read(length))
            asked.append(request)
            status, body, headers = answer(request)
            if status is None:
                self.close_connection = True
                return
            content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
            self.send_response(status)
            for name, value in {"content-length": str(len(content)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_one

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing to the terminal."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield ScriptedServer(f"http://127.0.0.1:{server.server_port}", asked)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def in_turn(*answers: Answer) -> Callable[[Asked], Answer]:
    """One answer after another; the last one again and again."""
    left = list(answers)
    return lambda _: left.pop(0) if len(left) > 1 else left[0]


def refusal(status: int, message: str, **headers: str) -> Answer:
    """As our server refuses."""
    return Answer(status, {"error": {"code": "x", "message": message}}, headers)
