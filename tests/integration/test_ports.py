"""Ports that tests reserve."""

import random
import socket

import pytest

from tests import ports


@pytest.mark.filterwarnings("error::ResourceWarning", "error::pytest.PytestUnraisableExceptionWarning")
def test_a_port_in_use_is_passed_over_and_its_name_is_free_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as used:
        taken = used.getsockname()[1]
        monkeypatch.setattr(random, "shuffle", lambda candidates: candidates.insert(0, taken))

        given = ports.a_free_port()

        with socket.socket(socket.AF_UNIX) as name:
            name.bind(f"\0fairway-test-port-{taken}")
    assert given != taken
