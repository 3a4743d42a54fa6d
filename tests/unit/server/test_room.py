"""Room for what is on its way: a share for each, a limit for all, and a place for whoever has none yet."""

import asyncio
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.server.room import Limits, Place, Room, TooSlow
from fairway.server.status_codes import TooManyRequests

LIMITS = Limits(
    each=100,
    crowded=150,
    everybody=300,
    unsized=2,
    unsized_of_all=6,
    waiting=3,
    waiting_of_all=5,
    patience_seconds=60.0,
)
#: For calls that are not to be kept waiting.
IMPATIENT = msgspec.structs.replace(LIMITS, patience_seconds=0.0)


async def a_thing(room: Room, caller: str, size: int) -> Place:
    place = await room.place(caller)
    place.fill(size)
    return place


async def is_let_in(waiting: "asyncio.Task[Any]") -> bool:
    """Whether a call got its place by now."""
    for _ in range(5):
        await asyncio.sleep(0)
    return waiting.done()


async def test_a_thing_waits_until_the_size_of_another_is_known() -> None:
    room = Room(LIMITS)
    first, _ = await room.place("1"), await room.place("1")
    third = asyncio.create_task(room.place("1"))

    before = await is_let_in(third)
    first.fill(10)

    assert (before, await is_let_in(third)) == (False, True)


async def test_a_thing_waits_until_another_of_the_caller_is_gone() -> None:
    room = Room(LIMITS)
    first = await a_thing(room, "1", 100)
    second = asyncio.create_task(room.place("1"))

    before = await is_let_in(second)
    first.clear()

    assert (before, await is_let_in(second)) == (False, True)


async def test_those_who_wait_are_let_in_in_the_order_in_which_they_came() -> None:
    room = Room(LIMITS)
    first = await a_thing(room, "1", 100)
    waiting = [asyncio.create_task(room.place("1")) for _ in range(3)]
    await is_let_in(waiting[-1])

    first.clear()

    assert [await is_let_in(task) for task in waiting] == [True, True, False]
    (await waiting[1]).fill(0)
    assert await is_let_in(waiting[2])


async def test_in_a_crowd_everybody_has_one_thing_at_a_time() -> None:
    room = Room(LIMITS)
    for caller in ("1", "2"):
        await a_thing(room, caller, 90)

    alone = await room.place("3")
    second = asyncio.create_task(room.place("3"))

    assert not await is_let_in(second)
    alone.fill(10)
    assert not await is_let_in(second)
    alone.clear()
    assert await is_let_in(second)


async def test_where_all_room_is_taken_nobody_is_let_in() -> None:
    room = Room(IMPATIENT)
    for caller in ("1", "2", "3"):
        await a_thing(room, caller, 100)

    with pytest.raises(TooManyRequests, match="wait for their answers"):
        await room.place("4")


async def test_more_calls_than_may_wait_are_refused_at_once() -> None:
    room = Room(LIMITS)
    await a_thing(room, "1", 100)
    *waiting, one_more = [asyncio.create_task(room.place("1")) for _ in range(4)]
    await is_let_in(one_more)

    assert isinstance(one_more.exception(), TooManyRequests)
    for task in waiting:
        task.cancel()


async def test_a_call_that_ends_while_it_waits_leaves_its_place_to_the_next() -> None:
    room = Room(LIMITS)
    first = await a_thing(room, "1", 100)
    gone, let_in_and_gone, last = (asyncio.create_task(room.place("1")) for _ in range(3))
    await is_let_in(last)

    gone.cancel()
    await is_let_in(gone)
    first.clear()
    let_in_and_gone.cancel()
    places = [await last, await room.place("1")]
    for place in places:
        place.fill(0)
        place.clear()

    assert (room.held, room.callers) == (0, 0)


async def test_callers_are_let_in_by_turns() -> None:
    room = Room(msgspec.structs.replace(LIMITS, unsized_of_all=2, waiting_of_all=9))
    first, second = await room.place("1"), await room.place("2")
    many = [asyncio.create_task(room.place("1")) for _ in range(3)]
    await is_let_in(many[-1])
    one = asyncio.create_task(room.place("3"))
    await is_let_in(one)

    first.fill(1)
    second.fill(1)

    assert [await is_let_in(task) for task in (*many, one)] == [True, False, False, True]
    for task in many[1:]:
        task.cancel()


async def test_when_half_of_what_may_be_read_at_once_is_being_read_each_caller_has_one() -> None:
    room = Room(LIMITS)
    for caller in ("1", "1", "2"):
        await room.place(caller)

    again, new = asyncio.create_task(room.place("2")), asyncio.create_task(room.place("3"))

    assert (await is_let_in(again), await is_let_in(new)) == (False, True)
    again.cancel()


async def test_more_calls_than_may_wait_in_all_are_refused_whoevers_they_are() -> None:
    room = Room(LIMITS)
    for caller in ("1", "2", "3"):
        await a_thing(room, caller, 100)
    *waiting, one_more = [asyncio.create_task(room.place(caller)) for caller in "abcdef"]
    await is_let_in(one_more)

    assert isinstance(one_more.exception(), TooManyRequests)
    assert not any(task.done() for task in waiting)
    for task in waiting:
        task.cancel()


async def coming(room: Room, caller: str) -> str:
    """Something that never comes; how that ends."""
    place = await room.place(caller)
    try:
        async with room.in_time(place):
            await asyncio.Event().wait()
    except TooSlow:
        return "too slow"
    finally:
        place.fill(0)
        place.clear()
    return "never"


async def test_what_does_not_come_in_time_leaves_its_place() -> None:
    room = Room(msgspec.structs.replace(LIMITS, slow_seconds=0.0))

    assert await coming(room, "1") == "too slow"
    assert (room.held, room.callers) == (0, 0)


async def test_where_nobody_else_can_be_let_in_those_who_dawdle_lose_their_places() -> None:
    room = Room(msgspec.structs.replace(LIMITS, slow_seconds=3600.0, hurried_seconds=0.0))
    slow = [asyncio.create_task(coming(room, caller)) for caller in "abcdef"]
    untouched = await is_let_in(slow[-1])

    place = await room.place("g")

    assert not untouched
    assert await asyncio.gather(*slow) == ["too slow"] * 6
    place.fill(0)
    place.clear()
    assert room.callers == 0


async def test_one_who_waits_for_places_of_their_own_hurries_nobody() -> None:
    room = Room(msgspec.structs.replace(LIMITS, slow_seconds=3600.0, hurried_seconds=0.0))
    slow = [asyncio.create_task(coming(room, "a")) for _ in range(3)]

    assert not await is_let_in(slow[0])
    for task in slow:
        task.cancel()


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 120), st.booleans()), max_size=40))
def test_whatever_is_asked_and_taken_the_limit_holds_and_nothing_is_left(asked: list[tuple[str, int, bool]]) -> None:
    async def play() -> tuple[int, Room]:
        room, most, under_way = Room(IMPATIENT), 0, []
        for caller, size, taken in asked:
            try:
                under_way.append(await a_thing(room, caller, size))
            except TooManyRequests:
                continue
            most = max(most, room.held)
            if taken:
                under_way.pop(0).clear()
        for place in under_way:
            place.clear()
        return most, room

    most, room = asyncio.run(play())

    assert most < IMPATIENT.everybody + 120
    assert (room.held, room.callers) == (0, 0)


async def an_untaken_thing(room: Room, caller: str, size: int, dropped: list[str]) -> Place:
    """A thing that goes only when it is dropped."""

    def drop() -> None:
        dropped.append(caller)
        # As at a real one: the connection ends a moment later.
        asyncio.get_running_loop().call_soon(place.clear)

    place = await room.place(caller)
    place.fill(size, drop)
    return place


async def test_where_all_room_is_taken_who_takes_nothing_loses_it_the_one_with_most_first() -> None:
    room, dropped = Room(msgspec.structs.replace(LIMITS, untaken_seconds=0.0)), list[str]()
    for caller, size in (("1", 90), ("2", 110), ("3", 100)):
        await an_untaken_thing(room, caller, size, dropped)

    place = await room.place("4")

    assert dropped == ["2"]
    assert room.held == 190
    place.fill(0)


async def test_what_was_there_for_a_moment_only_is_not_dropped() -> None:
    room, dropped = Room(msgspec.structs.replace(LIMITS, untaken_seconds=3600.0)), list[str]()
    for caller in ("1", "2", "3"):
        await an_untaken_thing(room, caller, 100, dropped)

    waiting = asyncio.create_task(room.place("4"))

    assert not await is_let_in(waiting)
    assert dropped == []
    waiting.cancel()


async def test_who_waits_for_room_of_their_own_drops_nothing_of_others() -> None:
    room, dropped = Room(msgspec.structs.replace(LIMITS, untaken_seconds=0.0)), list[str]()
    for caller in ("1", "2"):
        await an_untaken_thing(room, caller, 100, dropped)

    waiting = asyncio.create_task(room.place("2"))

    assert not await is_let_in(waiting)
    assert dropped == []
    waiting.cancel()
