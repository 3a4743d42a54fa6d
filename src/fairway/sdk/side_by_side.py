"""Work that is done side by side, and has ended when all of it has, however one of it ends.

What `asyncio.gather` leaves running when one meets a defect, or has been quick to be cancelled, would be at work beside
whatever comes next: another stage, or the rollback.
"""

import asyncio
from collections.abc import Awaitable, Iterable
from typing import TypeVar

T = TypeVar("T")


async def all_ended(work: Iterable[Awaitable[T]]) -> list[T]:
    """What each of it returns; the first error, when all has ended."""
    tasks = [asyncio.ensure_future(each) for each in work]
    await asyncio.gather(*tasks, return_exceptions=True)
    return [each.result() for each in tasks]
