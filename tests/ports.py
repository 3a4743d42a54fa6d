"""Ports for programs that must be told one before they start.

A port that the kernel picks may be the next one's before the program has it: every connection that anybody opens takes
one of the same range. So these are outside of it, and each is promised to one test process only, by the name of a
socket that goes with the process.
"""

import random
import socket
from contextlib import suppress
from pathlib import Path

_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
#: Those below are for well-known servers, and for those of `fairway up` and its demo, which know nothing of promises.
_LOWEST = 16_000
_promised: list[socket.socket] = []


def a_free_port() -> int:
    """A port of loopback on which nobody listens, and that is given to nobody else while this process lives."""
    # The kernel's own range, where this system tells it, and the usual one elsewhere.
    highest = int(_RANGE.read_text().split()[0]) if _RANGE.exists() else 32_768
    candidates = list(range(_LOWEST, highest))
    random.shuffle(candidates)
    for port in candidates:
        with suppress(OSError):
            _promised.append(_promise(port))
            return port
    raise AssertionError(f"no port from {_LOWEST} to {highest} is free")


def _promise(port: int) -> socket.socket:
    """Reserve the port by the name of a socket, which the kernel frees with the process; OSError when it is taken."""
    promise = socket.socket(socket.AF_UNIX)
    try:
        promise.bind(f"\0fairway-test-port-{port}")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
    except OSError:
        promise.close()
        raise
    return promise
