"""Where `fairway up` lets its server listen."""

import socket

import pytest

from fairway.cli.up import site
from fairway.cli.up.site import choose_address
from fairway.errors import UserError
from tests.ports import a_free_port

#: From here on Linux gives ports to whoever connects to something, or asks for any.
EVERYBODYS = 32_768


def test_any_port_is_none_that_the_next_connection_of_somebody_else_may_get() -> None:
    found = [int(choose_address("127.0.0.1:0").rpartition(":")[2]) for _ in range(20)]

    assert [port for port in found if not 1024 < port < EVERYBODYS] == []


def test_two_that_start_at_once_do_not_take_the_same_port(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "_PORT_PATIENCE", 0.0)
    monkeypatch.setattr(site, "LISTEN", f"127.0.0.1:{a_free_port()}")

    # The server of the first one does not listen yet.
    first, second = choose_address(""), choose_address("")

    assert first == site.LISTEN
    assert second != first


def test_a_port_in_use_and_an_address_of_another_machine_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "_PORT_PATIENCE", 0.0)
    with socket.create_server(("127.0.0.1", 0)) as door:
        for address in (f"127.0.0.1:{door.getsockname()[1]}", "192.0.2.1:0"):
            with pytest.raises(UserError, match=f"nothing can listen on {address}; is it in use"):
                choose_address(address)


def test_the_port_of_before_is_kept_while_it_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "_PORT_PATIENCE", 0.0)
    monkeypatch.setattr(site, "LISTEN", f"127.0.0.1:{a_free_port()}")
    before = f"127.0.0.1:{a_free_port()}"

    # The first one keeps it from the second, which takes the usual one.
    found = [choose_address("", before) for _ in range(2)]

    assert found == [before, site.LISTEN]


def test_an_address_that_was_asked_for_once_is_no_habit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "LISTEN", f"127.0.0.1:{a_free_port()}")

    assert choose_address("", f"0.0.0.0:{a_free_port()}") == site.LISTEN
