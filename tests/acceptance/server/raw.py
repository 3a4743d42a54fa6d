"""Requests that no well-behaved client would make, byte by byte."""

import json
import socket
from typing import Any
from urllib.parse import urlsplit


def connect(http: str) -> socket.socket:
    """A connection to the server at this address."""
    address = urlsplit(http)
    assert address.hostname is not None
    return socket.create_connection((address.hostname, address.port), timeout=60)


def a_request(path: str, *headers: bytes, method: str = "GET", body: bytes = b"") -> bytes:
    """A whole request; the server closes the connection after its answer."""
    head = f"{method} {path} HTTP/1.1\r\nHost: fairway\r\nConnection: close\r\nContent-Length: {len(body)}\r\n".encode()
    return head + b"".join(header + b"\r\n" for header in headers) + b"\r\n" + body


def ask(http: str, request: bytes) -> tuple[int, bytes]:
    """The status and the body of the answer."""
    with connect(http) as connection:
        connection.sendall(request)
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split(b" ", 2)[1]), body


def ask_json(http: str, path: str, key: str) -> Any:
    """What a caller with the key is told."""
    status, body = ask(http, a_request(path, f"Authorization: Bearer {key}".encode()))
    assert status == 200, body
    return json.loads(body)
