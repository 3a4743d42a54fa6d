"""The end of a process that need not be a child of ours: scripts and instances outlive whoever started them.

The kernel tells of it, so nobody asks again and again.
"""

import asyncio
import os
from collections.abc import Callable


async def process_end(pid: int, is_meant: Callable[[], bool] = lambda: True) -> None:
    """Return when the process has ended; at once when nobody has that number, or somebody who is not meant."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    gone = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(handle, gone.set)
    try:
        # Asked after the handle was taken: the handle is that of the process we know, or of nobody we wait for.
        if is_meant():
            await gone.wait()
    finally:
        loop.remove_reader(handle)
        os.close(handle)
