"""Greets whoever asks, with what is written in greeting.txt."""

import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

GREETING = Path("greeting.txt").read_text().strip()


class Greeter(BaseHTTPRequestHandler):
    """Answers well at /healthz, and with the greeting elsewhere; one that says "Oops" is no good answer."""

    def do_GET(self) -> None:
        healthy = self.path == "/healthz"
        status = 500 if "Oops" in GREETING and not healthy else 200
        body = ("fine" if healthy else f"{GREETING} ({os.environ['FAIRWAY_VARIANT']})").encode() + b"\n"
        self.send_response(status)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Variant", os.environ["FAIRWAY_VARIANT"])
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Nobody reads it."""


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Greeter).serve_forever()
