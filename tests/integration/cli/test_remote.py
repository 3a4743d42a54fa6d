"""How the command line talks to a server: again when that is harmless, once when it is not, and never loosely."""

import socket
import threading
from collections.abc import Callable

import pytest

from fairway.cli.profiles import Profile
from fairway.cli.remote import LONGEST_PAUSE, PAUSES, Query, Refused, Remote, Unreachable, segments
from fairway.errors import FairwayError
from tests.integration.cli.scripted import Answer, a_scripted_server, in_turn, refusal

OK = Answer(200, {"id": "a"})
BUSY = refusal(503, "the store does not answer now; try again")


class Pauses(list[float]):
    """Remembers instead of sleeping."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


def get(
    url: str,
    path: str = "/agents",
    query: Query | None = None,
    *,
    sleep: Callable[[float], None] = Pauses(),
    project: str = "",
) -> bytes:
    with Remote(Profile(server=url, api_key="the-key", project=project), sleep=sleep) as remote:
        return remote.get(path, query)


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(BUSY, id="503"),
        pytest.param(refusal(429, "too many"), id="429"),
        pytest.param(Answer(None), id="a broken connection"),
    ],
)
def test_a_get_is_repeated_until_the_server_can_answer(bad: Answer) -> None:
    pauses = Pauses()
    with a_scripted_server(in_turn(bad, bad, OK)) as server:
        assert get(server.url, sleep=pauses) == b'{"id": "a"}'

    assert len(server.asked) == 3
    assert all(wanted * 0.7 < pause < wanted * 1.3 for pause, wanted in zip(pauses, PAUSES, strict=False))


def test_a_get_that_never_succeeds_ends_with_the_servers_sentence() -> None:
    pauses = Pauses()
    with a_scripted_server(in_turn(BUSY)) as server, pytest.raises(Refused, match="the store does not answer now"):
        get(server.url, sleep=pauses)

    assert (len(server.asked), len(pauses)) == (len(PAUSES) + 1, len(PAUSES))


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        pytest.param("3", 3.0, id="some seconds"),
        pytest.param("86400", LONGEST_PAUSE, id="a day is cut"),
    ],
)
def test_the_pause_that_a_server_asks_for_is_kept(asked: str, kept: float) -> None:
    pauses = Pauses()
    with a_scripted_server(in_turn(refusal(429, "slowly", **{"retry-after": asked}), OK)) as server:
        get(server.url, sleep=pauses)

    assert pauses == [kept]


@pytest.mark.parametrize("bad", [pytest.param(BUSY, id="503"), pytest.param(Answer(None), id="a broken connection")])
def test_a_change_is_sent_once(bad: Answer) -> None:
    with (
        a_scripted_server(in_turn(bad, OK)) as server,
        Remote(Profile(server=server.url, api_key="k")) as remote,
        pytest.raises(FairwayError),
    ):
        remote.send("POST", "/agents", {"name": "x"})

    assert [request.body for request in server.asked] == [b'{"name":"x"}']


def test_a_redirect_is_not_followed_so_that_the_key_stays() -> None:
    with a_scripted_server(in_turn(OK)) as thief:
        moved = Answer(307, None, {"location": thief.url})
        with a_scripted_server(in_turn(moved)) as server, pytest.raises(Unreachable, match="sends us to"):
            get(server.url)

    assert thief.asked == []


def test_a_page_of_somebody_else_is_said_so() -> None:
    page = Answer(404, b"<html>nginx</html>")
    with a_scripted_server(in_turn(page)) as server, pytest.raises(Unreachable, match="not as a Fairway server does"):
        get(server.url)


@pytest.mark.parametrize(
    ("query", "project", "sent"),
    [
        pytest.param({}, "", "/api/v1/x", id="nothing"),
        pytest.param({"a": "", "b": None, "c": ()}, "", "/api/v1/x", id="what is not said"),
        pytest.param({"a": ("1", "2"), "b": False}, "", "/api/v1/x?a=1&a=2&b=false", id="lists and words"),
        pytest.param({"a": "ü &"}, "shop", "/api/v1/x?a=%C3%BC+%26&project=shop", id="a project"),
    ],
)
def test_a_query_has_what_was_said(query: Query, project: str, sent: str) -> None:
    with a_scripted_server(in_turn(OK)) as server:
        get(server.url, "/x", query, project=project)

    assert [request.path for request in server.asked] == [sent]


def test_the_key_is_shown_as_a_bearers() -> None:
    with a_scripted_server(in_turn(OK)) as server:
        get(server.url)

    assert {name.lower(): value for name, value in server.asked[0].headers.items()}["authorization"] == "Bearer the-key"


def test_a_segment_cannot_leave_its_place() -> None:
    assert segments("deployments", "../agents?x#y") == "/deployments/..%2Fagents%3Fx%23y"


def test_a_server_without_tls_is_told_apart_from_one_that_is_not_there() -> None:
    with a_scripted_server(in_turn(OK)) as server, pytest.raises(Unreachable, match="begins with http://"):
        get(server.url.replace("http://", "https://"))


def test_the_port_of_the_agents_is_told_apart_from_a_broken_line() -> None:
    def speak_http2(listening: socket.socket) -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection:
                connection.recv(1024)
                connection.sendall(b"\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x05\x00\x00@\x00\x00\x00\x08\x07")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=speak_http2, args=(listening,), daemon=True).start()

        with pytest.raises(Unreachable, match="agents call that port"):
            get(f"http://127.0.0.1:{listening.getsockname()[1]}")
        listening.shutdown(socket.SHUT_RDWR)
