"""A line between an agent and its server that can be slow, or cut without a word, as networks are."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Self


class Line:
    """Passes bytes on between whoever connects and one address."""

    def __init__(self, listening: socket.socket, target: str) -> None:
        host, _, port = target.rpartition(":")
        self._target = (host, int(port))
        self._listening = listening
        #: Seconds that each piece waits before it is passed on.
        self.delay = 0.0
        self._whole = threading.Event()
        self._whole.set()
        self._refuses = False
        self._sockets: list[socket.socket] = []

    @classmethod
    @contextmanager
    def to(cls, target: str) -> Iterator[Self]:
        """A line to an address while the block lasts."""
        listening = socket.create_server(("127.0.0.1", 0))
        line = cls(listening, target)
        threading.Thread(target=line._answer, daemon=True).start()
        try:
            yield line
        finally:
            # A thread that waits in accept is woken by the one and not by the other.
            listening.shutdown(socket.SHUT_RDWR)
            listening.close()
            line._whole.set()
            line._hang_up()

    @property
    def address(self) -> str:
        """Where it begins."""
        host, port = self._listening.getsockname()
        return f"{host}:{port}"

    def cut(self) -> None:
        """Pass nothing on, and tell nobody: bytes are taken and go nowhere."""
        self._whole.clear()

    def refuse(self) -> None:
        """Hang up on everybody, and on whoever calls from now on."""
        self._refuses = True
        self._hang_up()

    def mend(self) -> None:
        """Pass on what comes by new connections; those from before are gone."""
        self._refuses = False
        self._hang_up()
        self._whole.set()

    def _hang_up(self) -> None:
        for each in self._sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        self._sockets = []

    def _answer(self) -> None:
        while True:
            try:
                near, _ = self._listening.accept()
            except OSError:
                return
            self._whole.wait()
            if self._refuses:
                near.close()
                continue
            try:
                far = socket.create_connection(self._target)
            except OSError:
                near.close()
                continue
            self._sockets += [near, far]
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self._pass_on, args=(one, other), daemon=True).start()

    def _pass_on(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while piece := one.recv(65536):
                time.sleep(self.delay)
                self._whole.wait()
                other.sendall(piece)
        for each in (one, other):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
