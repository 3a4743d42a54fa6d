"""One call to a cluster's API server: bounded in time, repeated where that is safe, and refused in words.

What may be repeated: anything that the server says it did not take up (429), and, for calls that change nothing more
when they are made twice, also broken connections and faults of the server. Waits grow, carry jitter and heed what the
server asks for. A server that has just started knows neither accounts nor roles yet and refuses everybody; it is
believed once it calls itself ready. Nothing else talks HTTP to a cluster.
"""

import asyncio
import random
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar
from weakref import WeakSet

import aiohttp
import msgspec
from yarl import URL

from fairway.errors import FairwayError
from fairway.kube.access import Access, Credentials
from fairway.kube.errors import ClusterAway, CredentialsRefused
from fairway.kube.statuses import Asked, refusal

T = TypeVar("T")

JSON = "application/json"
_OK, _MULTIPLE_CHOICES, _UNAUTHORIZED, _FORBIDDEN, _TOO_MANY, _SERVER_FAULT = 200, 300, 401, 403, 429, 500
#: How often a server is asked again that will not even say whether it is ready: some six seconds.
_MOST_SILENCE = 5
#: Connections side by side; what is more waits for its turn.
_CONNECTIONS = 64
_CONNECT_SECONDS = 10.0
#: How often it is looked whether connections have ended of which nothing is wanted any more.
_CLOSE_LOOKS = 400
_LOOK_SECONDS = 0.005
#: A server that asks for more patience than this is taken to be away.
_LONGEST_RETRY_AFTER = 30.0
#: A line of a watch is one object; etcd takes none that is larger than 1.5 MB, as JSON it may be some times that.
_LINE_BYTES = 16 * 1024 * 1024
#: What goes wrong with connections every day.
_IN_WORDS: tuple[tuple[tuple[type[Exception], ...], str], ...] = (
    ((ConnectionRefusedError,), "the connection was refused"),
    ((socket.gaierror,), "its host name cannot be resolved"),
    ((TimeoutError,), "nothing came in time"),
    ((aiohttp.ClientPayloadError, aiohttp.ServerDisconnectedError, ConnectionError), "the connection was cut"),
)


class Patience(msgspec.Struct, frozen=True):
    """How often, and how patiently, a call is repeated. A test passes its own sleep and waits for nothing."""

    attempts: int = 7
    first_delay: float = 0.25
    longest_delay: float = 5.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    #: A number from 0 up to 1.
    chance: Callable[[], float] = random.SystemRandom().random

    def delay(self, failures: int) -> float:
        """How long to wait after that many failures: between half and all of an exponentially growing time."""
        # What is away for days fails so often that no number would hold the power.
        longest = min(self.longest_delay, self.first_delay * 2.0 ** min(failures - 1, 60))
        return longest * (0.5 + self.chance() / 2)


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked."""

    asked: Asked
    path: str
    method: str = "GET"
    query: Mapping[str, str] = {}
    body: bytes | None = None
    content_type: str = JSON
    accept: str = JSON
    #: Whether it does no harm to ask twice.
    repeatable: bool = True
    seconds: float = 30.0


class Calls:
    """The calls to one cluster. It belongs to one event loop."""

    def __init__(self, access: Access, patience: Patience | None = None) -> None:
        self._access = access
        self._patience = patience or Patience()
        #: For calls with an end, and for those that go on: watches must not take the places of all others.
        self._sessions: dict[bool, aiohttp.ClientSession] = {}
        self._sockets: WeakSet[socket.socket] = WeakSet()

    async def close(self) -> None:
        """Hang up, and wait for a moment until the other side has heard it: TLS ends with a word from each."""
        sessions, self._sessions = self._sessions, {}
        for session in sessions.values():
            await session.close()
        for _ in range(_CLOSE_LOOKS):
            if all(each.fileno() < 0 for each in self._sockets):
                return
            await asyncio.sleep(_LOOK_SECONDS)

    async def send(self, call: Call) -> bytes:
        """The body of a successful answer; an error in words for any other."""
        failures = 0
        doubts = _Doubts()
        while True:
            try:
                return await self._send_once(call)
            except _Failure as answer:
                failure = await self._doubted(answer, doubts, call)
                if failure is None:
                    continue
                failures += 1
                worth = failure.not_taken_up or (call.repeatable and failure.passing)
                if not worth or failures >= self._patience.attempts:
                    raise failure.error from failure.__cause__
                await self._patience.sleep(max(failure.retry_after, self._patience.delay(failures)))

    @asynccontextmanager
    async def lines(self, call: Call) -> AsyncIterator[AsyncIterator[bytes]]:
        """The lines of an answer that goes on, such as a watch; `call.seconds` bounds all of it."""
        doubts = _Doubts()
        while True:
            try:
                response = await self._open(call, goes_on=True)
                break
            except _Failure as answer:
                failure = await self._doubted(answer, doubts, call)
                if failure is not None:
                    raise failure.error from failure.__cause__
        try:
            yield _lines(response, call.asked)
        finally:
            _hang_up(response)

    async def _doubted(self, failure: "_Failure", doubts: "_Doubts", call: Call) -> "_Failure | None":
        """What a failure comes to at a second look; None where the call is worth another try at once, not counted."""
        if failure.refused is not None and doubts.credentials:
            # What is held may only be old.
            doubts.credentials = False
            await self._access.renew(failure.refused)
            return None
        if failure.code == 0 and doubts.place and (call.repeatable or failure.not_taken_up):
            doubts.place = False
            return None if await self._access.has_changed() else failure
        if failure.code not in (_UNAUTHORIZED, _FORBIDDEN) or not doubts.readiness:
            return failure
        code = await self._readiness(call.asked.cluster)
        if code == _FORBIDDEN and failure.code == _FORBIDDEN and doubts.silence < _MOST_SILENCE:
            # Everybody may ask for that, unless somebody took the right away; or it knows of no right at all yet.
            doubts.silence += 1
            await self._patience.sleep(self._patience.delay(doubts.silence))
            return None
        if code == 0 or code >= _SERVER_FAULT:
            words = f"The cluster {call.asked.cluster} is starting and does not know yet who may do what"
            return _Failure(ClusterAway(words), passing=True, not_taken_up=True)
        # It may have become ready since it refused.
        doubts.readiness = False
        return None

    async def _readiness(self, cluster: str) -> int:
        """What the server answers when asked whether it is ready; 0 where it does not. Any refusal is no answer to
        that, and one that does not say is taken to be."""
        asked = Asked(cluster=cluster, verb="get", resource="readyz")
        try:
            await self._send_once(Call(path="/readyz", accept="*/*", asked=asked, seconds=_CONNECT_SECONDS))
        except _Failure as failure:
            return failure.code
        return _OK

    async def _send_once(self, call: Call) -> bytes:
        response = await self._open(call)
        try:
            return await response.read()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise _broken(error, call, self._access.server) from error
        finally:
            response.release()

    async def _open(self, call: Call, *, goes_on: bool = False) -> aiohttp.ClientResponse:
        """The answer, whose body is still to be read."""
        credentials = await self._access.credentials()
        headers = {"Accept": call.accept, **credentials.headers}
        if call.body is not None:
            headers["Content-Type"] = call.content_type
        try:
            response = await self._session(goes_on).request(
                call.method,
                URL(self._access.server + call.path, encoded=True).update_query(call.query),
                data=call.body,
                headers=headers,
                ssl=credentials.tls,
                proxy=self._access.proxy,
                server_hostname=self._access.server_hostname,
                # Elsewhere nobody may see the credentials.
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=call.seconds, connect=_CONNECT_SECONDS),
            )
            if _OK <= response.status < _MULTIPLE_CHOICES:
                return response
            async with response:
                body = await response.read()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise _broken(error, call, self._access.server) from error
        said = refusal(response.status, body, call.asked)
        raise _Failure(
            said,
            code=response.status,
            passing=response.status >= _SERVER_FAULT and said.retry,
            refused=credentials if isinstance(said, CredentialsRefused) else None,
            not_taken_up=response.status == _TOO_MANY,
            retry_after=_retry_after(response.headers.get("Retry-After", "")),
        )

    def _session(self, goes_on: bool) -> aiohttp.ClientSession:
        if goes_on not in self._sessions:
            connector = aiohttp.TCPConnector(limit=0 if goes_on else _CONNECTIONS, socket_factory=self._socket)
            self._sessions[goes_on] = aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                # The agent stands near its cluster: packing large lists costs both more than sending them.
                headers={"User-Agent": "fairway", "Accept-Encoding": "identity"},
                read_bufsize=_LINE_BYTES,
            )
        return self._sessions[goes_on]

    def _socket(self, address: Any) -> socket.socket:
        made = _lively_socket(address)
        self._sockets.add(made)
        return made


def decoded(body: bytes, shape: type[T], cluster: str) -> T:
    """What an answer says."""
    try:
        return msgspec.json.decode(body, type=shape)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ClusterAway(f"The cluster {cluster} answered what cannot be understood: {error}") from error


class _Doubts(msgspec.Struct):
    """Which answers to one call are not believed at once."""

    credentials: bool = True
    readiness: bool = True
    #: How often it would not even say whether it is ready.
    silence: int = 0
    #: That nobody is there.
    place: bool = True


class _Failure(Exception):
    """One try that did not succeed."""

    def __init__(self, error: FairwayError, *, code: int = 0, passing: bool, **more: Any) -> None:
        super().__init__(str(error))
        self.error = error
        self.code = code
        #: Whether it may go by.
        self.passing = passing
        #: Whether the server for certain did nothing.
        self.not_taken_up: bool = more.get("not_taken_up", False)
        self.retry_after: float = more.get("retry_after", 0.0)
        #: The credentials that were not taken; None where they are not the matter.
        self.refused: Credentials | None = more.get("refused")


def _hang_up(response: aiohttp.ClientResponse) -> None:
    """Break off an answer that goes on, without the ceremony by which TLS ends: nobody reads what comes."""
    if response.connection is not None and response.connection.transport is not None:
        response.connection.transport.abort()
    response.close()


async def _lines(response: aiohttp.ClientResponse, asked: Asked) -> AsyncIterator[bytes]:
    try:
        async for line in response.content:
            if line.strip():
                yield line
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
        raise ClusterAway(f"The cluster {asked.cluster} broke off while it told of changes: {_said(error)}") from error


def _broken(error: Exception, call: Call, server: str) -> _Failure:
    asked = call.asked
    if isinstance(error, (ssl.SSLCertVerificationError, aiohttp.ClientConnectorCertificateError)):
        words = f"{server} is not the cluster {asked.cluster} by its certificate: {_said(error)}"
        return _Failure(CredentialsRefused(words), passing=False)
    if isinstance(error, TimeoutError):
        words = f"The cluster {asked.cluster} ({server}) gave no answer in time to: {asked}"
        return _Failure(
            ClusterAway(words), passing=True, not_taken_up=isinstance(error, aiohttp.ConnectionTimeoutError)
        )
    words = f"The cluster {asked.cluster} ({server}) does not answer: {_said(error)}"
    refused = isinstance(error, aiohttp.ClientConnectorError)
    return _Failure(ClusterAway(words), passing=True, not_taken_up=refused)


def _said(error: Exception) -> str:
    """What went wrong with a connection; the words of libraries show how they are written."""
    inner = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    for sorts, words in _IN_WORDS:
        if isinstance(inner, sorts):
            return words
    told = inner.strerror if isinstance(inner, OSError) else ""
    return told or str(inner) or type(inner).__name__


def _retry_after(header: str) -> float:
    try:
        return min(max(float(header), 0.0), _LONGEST_RETRY_AFTER)
    except ValueError:
        return 0.0


def _lively_socket(address: Any) -> socket.socket:
    """A socket that notices within a minute that the other end is gone, though nothing is being sent."""
    family, kind, protocol, _, _ = address
    made = socket.socket(family=family, type=kind, proto=protocol)
    made.setblocking(False)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (("TCP_KEEPIDLE", 20), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, option):
            made.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
    return made
