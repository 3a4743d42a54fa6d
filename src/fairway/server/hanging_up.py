"""Hanging up on somebody who called: the one way to take back an answer that gRPC holds for who does not take it.

gRPC ends no call of its own accord once it was answered, and shows no connection. But a connection is a file of this
process, and its far end has the name that gRPC gives for the peer of a call. To gRPC and to the caller it then looks as
if the line had broken: all calls on it end, and what they held is free. Who is well calls again.
"""

import errno
import os
import socket
import stat
from contextlib import suppress
from ipaddress import IPv6Address, ip_address
from urllib.parse import unquote

#: On Linux, and elsewhere.
_FILES = "/dev/fd"


def hang_up(peer: str) -> bool:
    """End the connections whose far end is called so, such as `ipv4:203.0.113.9:5555`; whether there was one."""
    wanted, found = unquote(peer), False
    for number in os.listdir(_FILES):
        # Files come and go, and most are no sockets.
        with suppress(OSError), _copy(int(number)) as connection:
            if _peer(connection) == wanted:
                connection.shutdown(socket.SHUT_RDWR)
                found = True
    return found


def _copy(number: int) -> socket.socket:
    """What is looked at is a copy, so it is the one that is ended; OSError where it is no socket."""
    if not stat.S_ISSOCK(os.fstat(number).st_mode):
        # To close a copy of a file ends all locks that this process has on it, SQLite's among them.
        raise OSError(errno.ENOTSOCK, os.strerror(errno.ENOTSOCK))
    copy = os.dup(number)
    try:
        return socket.socket(fileno=copy)
    except OSError:
        os.close(copy)
        raise


def _peer(connection: socket.socket) -> str:
    """The far end, written as gRPC does; OSError where there is none."""
    name = connection.getpeername()
    if connection.family is socket.AF_UNIX:
        return f"unix:{name}" if name else ""
    if connection.family not in (socket.AF_INET, socket.AF_INET6):
        return ""
    address = ip_address(name[0])
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return f"ipv4:{address}:{name[1]}" if address.version == 4 else f"ipv6:[{name[0]}]:{name[1]}"
