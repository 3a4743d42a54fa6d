"""Whose a connection is: the kernel knows, for both ends of a connection that stays on this machine.

Its table of sockets says which user has made the other end and under which number it is known; the process that holds a
socket of that number is the one that calls.
"""

import contextlib
import os
import socket
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from fairway.agent.plugins.identity import Identity, session_of

#: The state of a socket that takes connections.
_LISTENS = "0A"
_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
#: The loopback address as the tables write it; the second time as one that a socket for both families has.
_LOOPBACK = f"{struct.unpack('=I', socket.inet_aton('127.0.0.1'))[0]:08X}"
_LOOPBACK_OF_BOTH = "".join(
    f"{word:08X}" for word in struct.unpack("=4I", socket.inet_pton(socket.AF_INET6, "::ffff:127.0.0.1"))
)


class SocketOwner(NamedTuple):
    """Who has one end of a connection."""

    user: int
    #: The kernel's number of the socket; 0 when nobody holds it any more.
    inode: int


def other_end(their_port: int, our_port: int) -> SocketOwner | None:
    """Who has made a connection to a port of ours over the loopback address; None when there is no such connection."""
    for table in _TABLES:
        for local, remote, owner in _sockets(table):
            if (local, remote) == (their_port, our_port):
                return owner
    return None


def listeners(port: int) -> list[SocketOwner]:
    """Who listens on a port of this machine, on whichever address."""
    return [
        owner
        for table in _TABLES
        for fields, owner in _rows(table)
        if fields[3] == _LISTENS and int(fields[1].rpartition(":")[2], 16) == port
    ]


def holds(leader: Identity, inode: int) -> bool | None:
    """Whether a process, or one of its session, holds that socket; None when this user may not know."""
    name = f"socket:[{inode}]"
    try:
        if _holds(leader.pid, name):
            return True
    except PermissionError:
        return None
    for pid in session_of(leader):
        with contextlib.suppress(PermissionError):
            if _holds(pid, name):
                return True
    return False


def _holds(pid: int, name: str) -> bool:
    folder = f"/proc/{pid}/fd"
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for each in os.listdir(folder):
            with contextlib.suppress(FileNotFoundError):
                if os.readlink(f"{folder}/{each}") == name:
                    return True
    return False


def _sockets(table: str) -> Iterator[tuple[int, int, SocketOwner]]:
    """Both ports and the owner of each connection that stays on this machine."""
    for fields, owner in _rows(table):
        (host, _, port), (other_host, _, other_port) = fields[1].partition(":"), fields[2].partition(":")
        if {host, other_host} <= {_LOOPBACK, _LOOPBACK_OF_BOTH}:
            yield int(port, 16), int(other_port, 16), owner


def _rows(table: str) -> Iterator[tuple[list[str], SocketOwner]]:
    with contextlib.suppress(FileNotFoundError):
        for line in Path(table).read_text().splitlines()[1:]:
            fields = line.split()
            yield fields, SocketOwner(int(fields[7]), int(fields[9]))
