"""Room for answers on their way: a share for each, a limit for all, and a place for whoever has none yet."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.rpc.agent_api import messages as agent_messages
from fairway.rpc.user_api import messages as user_messages
from fairway.server.answers import AnswerLimits, AnswerRoom, Place, may_be_large
from fairway.server.status_codes import TooManyRequests

LIMITS = AnswerLimits(each=100, crowded=150, everybody=300, making=2, waiting=3, patience_seconds=60.0)
#: For calls that are not to be kept waiting.
IMPATIENT = AnswerLimits(each=100, crowded=150, everybody=300, making=2, waiting=3, patience_seconds=0.0)


async def a_made_answer(room: AnswerRoom, caller: int, size: int) -> Place:
    place = await room.place(caller)
    place.fill(size)
    return place


async def is_let_in(waiting: "asyncio.Task[Place]") -> bool:
    """Whether a call got its place by now."""
    for _ in range(5):
        await asyncio.sleep(0)
    return waiting.done()


async def test_an_answer_waits_until_another_of_the_caller_was_made() -> None:
    room = AnswerRoom(LIMITS)
    first, _ = await room.place(1), await room.place(1)
    third = asyncio.create_task(room.place(1))

    before = await is_let_in(third)
    first.fill(10)

    assert (before, await is_let_in(third)) == (False, True)


async def test_an_answer_waits_until_the_caller_took_another() -> None:
    room = AnswerRoom(LIMITS)
    first = await a_made_answer(room, 1, 100)
    second = asyncio.create_task(room.place(1))

    before = await is_let_in(second)
    first.clear()

    assert (before, await is_let_in(second)) == (False, True)


async def test_those_who_wait_are_let_in_in_the_order_in_which_they_came() -> None:
    room = AnswerRoom(LIMITS)
    first = await a_made_answer(room, 1, 100)
    waiting = [asyncio.create_task(room.place(1)) for _ in range(3)]
    await is_let_in(waiting[-1])

    first.clear()

    assert [await is_let_in(task) for task in waiting] == [True, True, False]
    (await waiting[1]).fill(0)
    assert await is_let_in(waiting[2])


async def test_in_a_crowd_everybody_has_one_answer_at_a_time() -> None:
    room = AnswerRoom(LIMITS)
    for caller in (1, 2):
        await a_made_answer(room, caller, 90)

    alone = await room.place(3)
    second = asyncio.create_task(room.place(3))

    assert not await is_let_in(second)
    alone.fill(10)
    assert not await is_let_in(second)
    alone.clear()
    assert await is_let_in(second)


async def test_where_all_room_is_taken_nobody_is_let_in() -> None:
    room = AnswerRoom(IMPATIENT)
    for caller in (1, 2, 3):
        await a_made_answer(room, caller, 100)

    with pytest.raises(TooManyRequests, match="take those that were asked for"):
        await room.place(4)


async def test_more_calls_than_may_wait_are_refused_at_once() -> None:
    room = AnswerRoom(LIMITS)
    await a_made_answer(room, 1, 100)
    *waiting, one_more = [asyncio.create_task(room.place(1)) for _ in range(4)]
    await is_let_in(one_more)

    assert isinstance(one_more.exception(), TooManyRequests)
    for task in waiting:
        task.cancel()


async def test_a_call_that_ends_while_it_waits_leaves_its_place_to_the_next() -> None:
    room = AnswerRoom(LIMITS)
    first = await a_made_answer(room, 1, 100)
    gone, let_in_and_gone, last = (asyncio.create_task(room.place(1)) for _ in range(3))
    await is_let_in(last)

    gone.cancel()
    await is_let_in(gone)
    first.clear()
    let_in_and_gone.cancel()
    places = [await last, await room.place(1)]
    for place in places:
        place.fill(0)
        place.clear()

    assert (room.held, room.callers) == (0, 0)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 120), st.booleans()), max_size=40))
def test_whatever_is_asked_and_taken_the_limit_holds_and_nothing_is_left(asked: list[tuple[int, int, bool]]) -> None:
    async def play() -> tuple[int, AnswerRoom]:
        room, most, under_way = AnswerRoom(IMPATIENT), 0, []
        for caller, size, taken in asked:
            try:
                under_way.append(await a_made_answer(room, caller, size))
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


def test_calls_with_more_than_a_few_words_to_answer_are_bounded() -> None:
    unbounded = [
        method
        for service in (agent_messages, user_messages)
        for each in service.DESCRIPTOR.services_by_name.values()
        for method in each.methods
        if not may_be_large(f"/{each.full_name}/{method.name}")
    ]
    large = [
        method.name
        for method in unbounded
        if any(field.is_repeated or field.message_type for field in method.output_type.fields)
    ]

    assert large == []
    assert len(unbounded) > 20
