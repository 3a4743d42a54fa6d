"""Hanging up on one of several callers."""

import fcntl
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from fairway.server.hanging_up import hang_up


def a_listener(dual: bool) -> socket.socket:
    """One that callers over IPv4 reach; as IPv6 where the machine has it and it is wanted."""
    if dual and socket.has_dualstack_ipv6():
        return socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True)
    return socket.create_server(("127.0.0.1", 0))


@pytest.mark.parametrize("dual", [pytest.param(False, id="IPv4"), pytest.param(True, id="IPv4 within IPv6")])
def test_one_caller_is_hung_up_on_and_no_other(dual: bool) -> None:
    with ExitStack() as stack:
        listener = stack.enter_context(a_listener(dual))
        address = ("127.0.0.1", listener.getsockname()[1])
        one, other = (stack.enter_context(socket.create_connection(address)) for _ in range(2))
        accepted = [listener.accept() for _ in range(2)]
        ends = {peer[1]: stack.enter_context(end) for end, peer in accepted}

        found = hang_up(f"ipv4:127.0.0.1:{one.getsockname()[1]}")

        ends[other.getsockname()[1]].sendall(b"still here")
        assert (found, one.recv(100), other.recv(100)) == (True, b"", b"still here")


def test_nobody_is_found_under_a_name_that_nobody_has() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        assert [hang_up(peer) for peer in (f"ipv4:127.0.0.1:{port}", "unix:", "", "ipv6:[::1]:1")] == [False] * 4


def test_looking_for_a_caller_leaves_no_file_open() -> None:
    # In a process of its own: threads of earlier tests, such as those of gRPC, open and close descriptors.
    program = """
import os, socket
from fairway.server.hanging_up import hang_up
pair = socket.socketpair()
before = os.listdir("/dev/fd")
hang_up("ipv4:127.0.0.1:1")
assert os.listdir("/dev/fd") == before, (before, os.listdir("/dev/fd"))
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_looking_for_somebody_leaves_files_locked(tmp_path: Path) -> None:
    lock = "import fcntl, sys; fcntl.lockf(open(sys.argv[1], 'r+'), fcntl.LOCK_EX | fcntl.LOCK_NB)"
    command = [sys.executable, "-c", lock, str(tmp_path / "database")]
    with (tmp_path / "database").open("w") as database:
        fcntl.lockf(database, fcntl.LOCK_EX)

        hang_up("ipv4:127.0.0.1:1")

        another = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "BlockingIOError" in another.stderr
