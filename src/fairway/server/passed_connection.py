"""A connection that is passed on: two ends, each written to what the other received.

Neither end is read faster than the other takes it, so nothing piles up here. When one end has said all it has to say,
the other is told and may still answer; when one breaks, so does the other.
"""

import asyncio
import ssl
from collections.abc import Callable
from typing import cast

#: What HTTP/2, and so gRPC, begins with.
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


class Side(asyncio.Protocol):
    """One of the two ends of a passed connection: what arrives here is written there."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.other: Side | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Streams over TCP, TLS and unix sockets all have the whole interface.
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        if self.other is not None and self.other.transport is not None:
            self.other.transport.write(data)

    def eof_received(self) -> bool | None:
        """The far end has said all; its answer may still be on the way, so this side stays open."""
        other = self.other.transport if self.other is not None else None
        if other is None:
            return None
        if other.can_write_eof():
            other.write_eof()
            # TLS cannot be closed by halves, and asyncio complains of whoever asks for it.
            return self.transport is not None and self.transport.can_write_eof()
        other.close()
        return None

    def pause_writing(self) -> None:
        if self.other is not None and self.other.transport is not None:
            self.other.transport.pause_reading()

    def resume_writing(self) -> None:
        if self.other is not None and self.other.transport is not None:
            self.other.transport.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        if self.other is not None and self.other.transport is not None:
            # What was received is still delivered, unless the connection broke.
            self.other.transport.abort() if exc else self.other.transport.close()

    def abort(self) -> None:
        """End at once."""
        if self.transport is not None:
            self.transport.abort()


class CallerSide(Side):
    """The end that called us."""

    def __init__(
        self, patience_seconds: float, pass_on: Callable[["CallerSide", bool], None], open_sides: set[Side]
    ) -> None:
        super().__init__()
        self._patience_seconds = patience_seconds
        self._pass_on = pass_on
        self._open = open_sides
        self._seen = b""
        self._timer: asyncio.TimerHandle | None = None
        self.address = ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._open.add(self)
        peer = transport.get_extra_info("peername")
        self.address = peer[0] if peer else ""
        self._timer = asyncio.get_running_loop().call_later(self._patience_seconds, self.abort)
        tls: ssl.SSLObject | None = transport.get_extra_info("ssl_object")
        agreed = tls.selected_alpn_protocol() if tls is not None else None
        if agreed is not None:
            self._decide(is_grpc=agreed == "h2")

    def data_received(self, data: bytes) -> None:
        if self.other is not None:
            super().data_received(data)
            return
        self._seen += data
        if self._timer is not None:
            is_grpc = speaks_grpc(self._seen)
            if is_grpc is not None:
                self._decide(is_grpc)

    def eof_received(self) -> bool | None:
        # Whoever has said nothing yet that can be passed on wants nothing either.
        return super().eof_received() if self.other is not None else None

    def connection_lost(self, exc: Exception | None) -> None:
        self._open.discard(self)
        self._end_timer()
        super().connection_lost(exc)

    def passed_to(self, service: Side) -> None:
        """From now on everything goes there, beginning with what was looked at."""
        self.other = service
        if self.transport is None or service.transport is None:
            return
        if self.transport.is_closing():
            service.transport.abort()
            return
        if self._seen:
            service.transport.write(self._seen)
            self._seen = b""
        self.transport.resume_reading()

    def _decide(self, is_grpc: bool) -> None:
        self._end_timer()
        if self.transport is not None:
            # Until the service has accepted, nothing more is taken in.
            self.transport.pause_reading()
            self._pass_on(self, is_grpc)

    def _end_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class ServiceSide(Side):
    """Our end of the connection to the service that the caller speaks."""

    def __init__(self, caller: CallerSide) -> None:
        super().__init__()
        self.other = caller

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        if isinstance(self.other, CallerSide):
            self.other.passed_to(self)


def speaks_grpc(seen: bytes) -> bool | None:
    """Whether a connection that begins like this speaks HTTP/2; `None` while that cannot be told."""
    if seen.startswith(PREFACE):
        return True
    return None if PREFACE.startswith(seen) else False
