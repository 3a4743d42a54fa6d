"""Requests that no well-behaved client would make, byte by byte."""

import json
import re
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

from tests.patience import PATIENCE_SECONDS


def connect(http: str) -> socket.socket:
    """A connection to the server at this address."""
    address = urlsplit(http)
    assert address.hostname is not None
    return socket.create_connection((address.hostname, address.port), timeout=PATIENCE_SECONDS)


@contextmanager
def a_crowd(http: str, size: int) -> Iterator[list[socket.socket]]:
    """So many connections at once, during the block."""
    with ExitStack() as stack:
        yield [stack.enter_context(connect(http)) for _ in range(size)]


def send_what_goes(connections: list[socket.socket], content: bytes) -> None:
    """As much of the content on each connection as is taken, by turns, until nobody takes any more."""
    sent, takers = dict.fromkeys(connections, 0), connections
    for connection in connections:
        connection.setblocking(False)
    while takers:
        before = dict(sent)
        for connection in takers:
            with suppress(OSError):
                sent[connection] += connection.send(content[sent[connection] :][:65536])
        takers = [each for each in takers if before[each] < sent[each] < len(content)]


def a_request(path: str, *headers: bytes, method: str = "GET", body: bytes = b"") -> bytes:
    """A whole request; the server closes the connection after its answer."""
    head = f"{method} {path} HTTP/1.1\r\nHost: fairway\r\nConnection: close\r\nContent-Length: {len(body)}\r\n".encode()
    return head + b"".join(header + b"\r\n" for header in headers) + b"\r\n" + body


def first_line(connection: socket.socket) -> bytes:
    """How the answer begins, as far as its status; nothing when the server hung up instead."""
    try:
        return connection.recv(12)
    except ConnectionError:
        return b""


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


class UnreadCalls:
    """gRPC calls on one connection that takes no byte of any answer: HTTP/2 with a window of nothing."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._connection = socket.create_connection((host, int(port)), timeout=PATIENCE_SECONDS)
        self._stream = -1
        no_window = (4).to_bytes(2, "big") + (0).to_bytes(4, "big")
        self._connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + _frame(4, 0, 0, no_window))

    def call(self, path: str, message: bytes, authorization: str) -> None:
        """Ask, and leave it at that."""
        self._open(path, authorization)
        body = b"\0" + len(message).to_bytes(4, "big") + message
        self._connection.sendall(_frame(0, 1, self._stream, body))

    def begin(self, path: str, authorization: str, length: int, sent: bytes) -> None:
        """Begin to send a message of that length, and never go on."""
        self._open(path, authorization)
        self._connection.sendall(_frame(0, 0, self._stream, b"\0" + length.to_bytes(4, "big") + sent))

    def status(self) -> str:
        """The number of the status in the next answer."""
        read = b""
        while (found := re.search(rb"grpc-status(.)(\d+)", read)) is None:
            chunk = self._connection.recv(65536)
            assert chunk, read
            read += chunk
        return found[2][: found[1][0]].decode()

    def _open(self, path: str, authorization: str) -> None:
        self._stream += 2
        headers = {
            ":method": "POST",
            ":scheme": "http",
            ":path": path,
            ":authority": "fairway",
            "te": "trailers",
            "content-type": "application/grpc",
            "authorization": authorization,
        }
        head = b"".join(b"\0" + _text(name) + _text(value) for name, value in headers.items())
        self._connection.sendall(_frame(1, 4, self._stream, head))

    def close(self) -> None:
        self._connection.close()


def _frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def _text(value: str) -> bytes:
    """A text as HPACK has it, its length in seven bits and then in as many as it takes."""
    raw, rest = value.encode(), len(value.encode()) - 127
    if rest < 0:
        return bytes([len(raw)]) + raw
    length = b"\x7f"
    while rest >= 128:
        length += bytes([rest % 128 + 128])
        rest //= 128
    return length + bytes([rest]) + raw
