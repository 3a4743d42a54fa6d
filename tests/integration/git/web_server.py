"""A small Git server over HTTP with basic authentication, on loopback, in a thread."""

import os
import ssl
import subprocess
import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.certificates import self_signed


class WebServer(ThreadingHTTPServer):
    """Serves every repository below `root` to one user, for reading and writing."""

    daemon_threads = True

    def __init__(self, root: Path, username: str, password: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.root = root
        self.expected = "Basic " + b64encode(f"{username}:{password}".encode()).decode()
        #: What the server answers instead of working, request by request.
        self.failures: list[int] = []
        #: Where every request is sent on to, if anywhere.
        self.redirect: str | None = None
        self.statuses: list[int] = []
        #: The Authorization headers that came.
        self.seen: list[str | None] = []

    @property
    def origin(self) -> str:
        scheme = "https" if isinstance(self.socket, ssl.SSLSocket) else "http"
        return f"{scheme}://127.0.0.1:{self.server_port}"

    def encrypt(self, certificate: Path) -> None:
        """Speak TLS with a certificate (and its key) of our own making."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        self.socket = context.wrap_socket(self.socket, server_side=True)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: WebServer

    def do_GET(self) -> None:
        body = self._body()
        self.server.seen.append(self.headers.get("Authorization"))
        if self.server.failures:
            self._answer(self.server.failures.pop(0), [], b"")
        elif self.server.redirect:
            self._answer(302, [("Location", self.server.redirect + self.path)], b"")
        elif self.headers.get("Authorization") != self.server.expected:
            self._answer(401, [("WWW-Authenticate", 'Basic realm="git"')], b"")
        else:
            self._serve(body)

    do_POST = do_GET

    def _serve(self, body: bytes) -> None:
        path, _, query = self.path.partition("?")
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.server.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "REMOTE_USER": "tester",
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
        }
        done = subprocess.run(["git", "http-backend"], env=environment, input=body, capture_output=True, check=False)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = [(name, value) for name, _, value in (line.partition(": ") for line in head.decode().split("\r\n"))]
        status = next((int(value[:3]) for name, value in headers if name == "Status"), 200)
        self._answer(status, [header for header in headers if header[0] != "Status"], content)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        chunks = []
        while size := int(self.rfile.readline(), 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)

    def _answer(self, status: int, headers: list[tuple[str, str]], content: bytes) -> None:
        self.server.statuses.append(status)
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


@contextmanager
def a_web_server(
    root: Path, username: str = "ada", password: str = "s3cret/ü", certificate: Path | None = None
) -> Iterator[WebServer]:
    """A server that runs as long as the block; with a certificate, over TLS."""
    server = WebServer(root, username, password)
    if certificate is not None:
        server.encrypt(certificate)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def a_certificate(path: Path) -> Path:
    """A certificate for 127.0.0.1 that signs itself, with its key in the same file."""
    made = self_signed()
    path.write_bytes(made.key + made.certificate)
    return path
