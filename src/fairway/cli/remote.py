"""The server over HTTP: one request at a time, asked again where asking again is harmless.

A GET that meets a connection error, 429 or 503 is repeated with growing pauses; anything that changes something is
sent once, because nobody knows what became of it. Every refusal becomes one sentence. Redirects are not followed: the
key would go along.
"""

import random
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

import msgspec

from fairway import __version__
from fairway.cli.profiles import Profile
from fairway.errors import TemporaryError, UserError

if TYPE_CHECKING:
    import httpx2

#: Seconds: a server that does not take a connection in this time is not there; one that took it may think longer.
CONNECT_TIMEOUT = 5.0
ANSWER_TIMEOUT = 30.0
#: Pauses in seconds before a GET is sent again.
PAUSES = (0.2, 0.5, 1.0, 2.0)
#: The longest pause that a server may ask for.
LONGEST_PAUSE = 10.0
API = "/api/v1"
_ERROR_NUMBER = re.compile(r"^\[Errno -?\d+\] ")

Query = Mapping[str, str | int | bool | Sequence[str] | None]


class Refused(UserError):
    """An answer that says no."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Unreachable(TemporaryError):
    """A server that does not answer, or not as a Fairway server does."""


class Silent(Unreachable):
    """A stream on which nothing came for a while."""


class _Problem(msgspec.Struct):
    message: str


class _ErrorAnswer(msgspec.Struct):
    error: _Problem


def segments(*parts: str) -> str:
    """A path of the API: each part is one segment, whatever is in it."""
    return "/" + "/".join(quote(part, safe="") for part in parts)


class Remote:
    """One server, asked as one caller."""

    def __init__(
        self, profile: Profile, *, sleep: Callable[[float], None] = time.sleep, patience: float = ANSWER_TIMEOUT
    ) -> None:
        self._profile = profile
        self._sleep = sleep
        self._client = _client(profile, patience)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def get(self, path: str, query: Query | None = None) -> bytes:
        """The body of the answer; asked again, some times, when the server cannot answer now."""
        for pause in (*PAUSES, None):
            try:
                response = self._send("GET", path, query)
            except Unreachable:
                if pause is None:
                    raise
                self._sleep(_jittered(pause))
                continue
            if response.status_code not in {429, 503} or pause is None:
                return self._body(response)
            self._sleep(_asked_pause(response.headers.get("retry-after", "")) or _jittered(pause))
        raise AssertionError("the last try returns or raises")

    def get_once(self, path: str, query: Query | None = None) -> bytes:
        """The body of the answer, without asking again."""
        return self._body(self._send("GET", path, query))

    def send(self, method: str, path: str, body: object = None) -> bytes:
        """Ask for a change, once."""
        return self._body(self._send(method, path, None, body))

    @contextmanager
    def stream(
        self, path: str, query: Query, headers: Mapping[str, str] = {}, silence: float = ANSWER_TIMEOUT
    ) -> Iterator[Iterator[bytes]]:
        """The body as it arrives; Silent when nothing comes for `silence` seconds."""
        import httpx2

        timeout = httpx2.Timeout(silence, connect=CONNECT_TIMEOUT)
        try:
            with self._client.stream(
                "GET", API + path, params=self._query(query), headers=dict(headers), timeout=timeout
            ) as response:
                if not response.is_success:
                    response.read()
                    self._body(response)
                yield response.iter_bytes()
        except httpx2.HTTPError as error:
            raise self._unreachable(error) from error

    def _send(self, method: str, path: str, query: Query | None, body: object = None) -> "httpx2.Response":
        import httpx2

        content = None if body is None else msgspec.json.encode(body)
        headers = {} if body is None else {"content-type": "application/json"}
        try:
            return self._client.request(
                method, API + path, params=self._query(query or {}), content=content, headers=headers
            )
        except httpx2.HTTPError as error:
            raise self._unreachable(error) from error

    def _query(self, query: Query) -> dict[str, Any]:
        """Without what is not said, and with the project where one is."""
        said = {name: value for name, value in query.items() if value is not None and value != "" and value != ()}
        words = {name: str(value).lower() if isinstance(value, bool) else value for name, value in said.items()}
        return {**words, "project": self._profile.project} if self._profile.project else words

    def _body(self, response: "httpx2.Response") -> bytes:
        if response.is_success:
            return response.content
        try:
            message = msgspec.json.decode(response.content, type=_ErrorAnswer).error.message
        except msgspec.DecodeError:
            raise Unreachable(self._strange(response)) from None
        if response.status_code == 401:
            message = f"{self._profile.server} does not accept the API key; store another: fairway profile add"
        raise Refused(response.status_code, message)

    def _strange(self, response: "httpx2.Response") -> str:
        said = f"{self._profile.server} answered {response.status_code}"
        if response.is_redirect:
            return f"{said} and sends us to {response.headers.get('location', 'nowhere')}; use the address of the API"
        return f"{said} to {response.request.url.path}, not as a Fairway server does; is it the address of its API?"

    def _unreachable(self, error: "httpx2.HTTPError") -> Unreachable:
        import httpx2

        server = self._profile.server
        if "WRONG_VERSION_NUMBER" in str(error):
            return Unreachable(
                f"{server} answers without TLS; if it is the right port, its address begins with http://"
            )
        if isinstance(error, httpx2.RemoteProtocolError) and "illegal" in str(error).lower():
            return Unreachable(f"{server} does not answer as HTTP does; agents call that port, people --http-listen's")
        if isinstance(error, httpx2.ConnectTimeout | httpx2.ConnectError):
            return Unreachable(f"cannot reach {server} ({_reason(error)}); is the server running there?")
        if isinstance(error, httpx2.ReadTimeout):
            return Silent(f"{server} did not answer in time; try again")
        if isinstance(error, httpx2.TimeoutException):
            return Unreachable(f"{server} did not answer in time; try again")
        return Unreachable(f"the connection to {server} broke ({_reason(error)}); try again")


def _client(profile: Profile, patience: float) -> "httpx2.Client":
    import ssl

    import httpx2

    try:
        return httpx2.Client(
            base_url=profile.server,
            headers={"authorization": f"Bearer {profile.api_key}", "user-agent": f"fairway/{__version__}"},
            timeout=httpx2.Timeout(patience, connect=min(patience, CONNECT_TIMEOUT)),
            verify=ssl.create_default_context(cafile=profile.ca_file) if profile.ca_file else True,
        )
    except OSError as error:
        raise UserError(f"the certificates in {profile.ca_file} cannot be used: {error}") from error
    except (httpx2.InvalidURL, ValueError):
        # Not chained: the library's error may quote the headers, and the key is one of them.
        raise UserError(
            f"{profile.server} with its key cannot be used; expected http://HOST:PORT or https://…"
        ) from None


def _asked_pause(header: str) -> float:
    return min(float(header), LONGEST_PAUSE) if header.isdigit() else 0.0


def _jittered(pause: float) -> float:
    return pause * random.uniform(0.75, 1.25)  # noqa: S311 - spreads retries, protects nothing


def _reason(error: Exception) -> str:
    """What the library says, without the number that only it knows, as part of a sentence."""
    said = _ERROR_NUMBER.sub("", str(error))
    return f"{said[:1].lower()}{said[1:]}" or type(error).__name__
