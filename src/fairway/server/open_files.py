"""How many files this process may have open: each caller takes some, and the system's first answer is few.

The soft limit is often 1024, for the sake of programs that put files into a fixed set of bits. We do not, and may go up
to the hard limit by ourselves.
"""

import resource
from contextlib import suppress

import structlog

#: More than all connections of every door, and few enough for the kernel's memory.
_ENOUGH = 65_536

_log = structlog.get_logger()


def allow_many_files() -> None:
    """Raise the limit as far as it goes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = _ENOUGH if hard == resource.RLIM_INFINITY else min(hard, _ENOUGH)
    if soft == resource.RLIM_INFINITY or soft >= allowed:
        return
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
        _log.debug("the limit of open files was raised", before=soft, now=allowed)
