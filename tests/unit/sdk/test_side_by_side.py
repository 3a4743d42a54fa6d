"""Work that is done side by side has ended when all of it has."""

import asyncio

import pytest

from fairway.sdk.side_by_side import all_ended


async def slowly(ended: list[str]) -> str:
    for _ in range(100):
        await asyncio.sleep(0)
    ended.append("slow")
    return "slow"


async def test_what_each_returns_comes_in_its_order_an_error_too() -> None:
    error = KeyError("returned")

    assert await all_ended([slowly([]), asyncio.sleep(0, error)]) == ["slow", error]


async def test_a_defect_of_one_is_raised_when_the_others_have_ended() -> None:
    async def hasty() -> str:
        raise KeyError("a defect")

    ended: list[str] = []
    with pytest.raises(KeyError, match="a defect"):
        await all_ended([hasty(), slowly(ended)])

    assert ended == ["slow"]


async def test_a_cancel_has_ended_when_all_have_tidied_up() -> None:
    async def tidying() -> str:
        try:
            return await asyncio.sleep(1000, "")
        finally:
            await slowly(ended)

    ended: list[str] = []
    work = asyncio.create_task(all_ended([asyncio.sleep(1000, ""), tidying()]))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work

    assert ended == ["slow"]
