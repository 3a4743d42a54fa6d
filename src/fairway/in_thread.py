"""Work that blocks, done in a thread and waited for in any case.

A thread cannot be stopped. When whoever waits for it is cancelled it goes on, and would write where the next one, or
the one who tidies up, is at work already; so the cancel waits for its end.
"""

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def in_thread(work: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
    """What the work returns. It has ended when this has, also when this was cancelled."""
    working = asyncio.ensure_future(asyncio.to_thread(work, *arguments, **named))
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        await asyncio.wait({working})
        working.exception()  # marked as seen: nobody waits for it any more
        raise
