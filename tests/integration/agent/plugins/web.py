"""A web server of a few files, on a free port."""

import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextmanager
def a_web_server(
    files: Mapping[str, bytes],
    asked: list[str],
    guarded: Mapping[str, str] | None = None,
    challenge: str = "",
    *,
    tls: ssl.SSLContext | None = None,
) -> Iterator[str]:
    """Answers these paths while the block lasts, and writes down what it was asked for; its host and port.

    Guarded paths want that Authorization; without it they answer with the challenge, by default one for a token of
    the path /token, as registries do.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = (guarded or {}).get(self.path)
            if wanted is not None and self.headers["Authorization"] != wanted:
                self.refuse()
                return
            self.answer()

        def do_POST(self) -> None:
            form = self.rfile.read(int(self.headers["Content-Length"])).decode()
            if "grant_type=refresh_token&refresh_token=refresh-me" in form:
                self.answer()
            else:
                self.refuse()

        def refuse(self) -> None:
            """Say what is wanted."""
            realm = f'Bearer realm="http://{self.headers["Host"]}/token",service="shop",scope="repository:shop/p:pull"'
            self.send_response(401)
            self.send_header("WWW-Authenticate", challenge or realm)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def answer(self) -> None:
            """Give what is there."""
            asked.append(self.path)
            found = files.get(self.path)
            self.send_response(404 if found is None else 200)
            self.send_header("Content-Length", str(len(found or b"")))
            self.end_headers()
            self.wfile.write(found or b"")

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
