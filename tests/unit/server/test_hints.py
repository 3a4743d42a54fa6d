"""What a watcher of the board hears, whenever it comes and however slow it is."""

import asyncio
from collections.abc import AsyncGenerator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.server.hints import MOST_WATCHES, Hint, HintBoard, HintTopic

ANYTHING, COMMANDS, DEPLOYMENTS, APPLICATIONS, REPOSITORY, LEASE = HintTopic


async def taken(hints: AsyncGenerator[Hint], count: int) -> list[HintTopic]:
    return [(await anext(hints)).topic for _ in range(count)]


async def a_token(board: HintBoard, agent_id: str = "agent") -> str:
    """The token of a watcher that has seen everything so far."""
    hints = board.watch(agent_id)
    token = (await anext(hints)).token
    await hints.aclose()
    return token


async def heard_now(board: HintBoard, token: str, agent_id: str = "agent") -> list[HintTopic]:
    """What a watcher hears that comes back with a token, and after which the board has nothing more for it."""
    board.publish(agent_id, REPOSITORY)
    hints = board.watch(agent_id, token)
    heard: list[HintTopic] = []
    while not heard or heard[-1] not in (REPOSITORY, ANYTHING):
        heard += await taken(hints, 1)
    await hints.aclose()
    return heard[:-1] if heard[-1] is REPOSITORY else heard


@pytest.mark.parametrize(
    "token",
    [
        pytest.param("", id="none"),
        pytest.param("c0ffee.0", id="of another process"),
        pytest.param("nonsense", id="nonsense"),
        pytest.param("." * 5000, id="long nonsense"),
    ],
)
async def test_a_token_that_says_nothing_gets_one_hint_of_anything(token: str) -> None:
    board = HintBoard()
    board.publish("agent", COMMANDS)

    assert await heard_now(board, token) == [ANYTHING]


@pytest.mark.parametrize("number", ["99", "-1", "1_0", "²", "", "1.0", "9" * 5000])
async def test_a_token_with_a_number_never_given_gets_one_hint_of_anything(number: str) -> None:
    board = HintBoard()
    epoch = (await a_token(board)).partition(".")[0]

    assert await heard_now(board, f"{epoch}.{number}") == [ANYTHING]


async def test_a_watcher_hears_what_is_published_to_its_agent_only() -> None:
    board = HintBoard()
    hints = board.watch("agent", await a_token(board))

    board.publish("other", APPLICATIONS)
    board.publish("agent", COMMANDS)
    board.publish("agent", DEPLOYMENTS)

    assert await taken(hints, 2) == [COMMANDS, DEPLOYMENTS]


async def test_a_waiting_watcher_is_woken() -> None:
    board = HintBoard()
    hints = board.watch("agent", await a_token(board))
    waiting = asyncio.ensure_future(anext(hints))
    await asyncio.sleep(0)

    board.publish("agent", COMMANDS)

    assert (await waiting).topic is COMMANDS


async def test_a_watcher_hears_of_nothing_twice() -> None:
    board = HintBoard()
    hints = board.watch("agent", await a_token(board))
    board.publish("agent", COMMANDS)
    assert await taken(hints, 1) == [COMMANDS]

    board.publish("agent", DEPLOYMENTS)

    assert await taken(hints, 1) == [DEPLOYMENTS]


async def test_what_a_slow_watcher_missed_is_one_hint_for_each_topic_the_latest_last() -> None:
    board = HintBoard()
    hints = board.watch("agent", await a_token(board))
    board.publish("agent", COMMANDS)
    assert await taken(hints, 1) == [COMMANDS]

    for topic in [COMMANDS, DEPLOYMENTS, REPOSITORY, DEPLOYMENTS, COMMANDS] * 1000:
        board.publish("agent", topic)
    board.publish("agent", APPLICATIONS)

    assert await taken(hints, 4) == [REPOSITORY, DEPLOYMENTS, COMMANDS, APPLICATIONS]


async def test_a_token_resumes_behind_its_hint() -> None:
    board = HintBoard()
    start = await a_token(board)
    board.publish("agent", COMMANDS)
    board.publish("agent", DEPLOYMENTS)
    hints = board.watch("agent", start)
    first = await anext(hints)
    await hints.aclose()

    assert first.topic is COMMANDS
    assert await heard_now(board, first.token) == [DEPLOYMENTS]
    assert await heard_now(board, start) == [COMMANDS, DEPLOYMENTS]


@given(st.lists(st.sampled_from([COMMANDS, DEPLOYMENTS, APPLICATIONS]) | st.none()))
async def test_every_publication_is_heard_by_whoever_leaves_and_comes_back(steps: list[HintTopic | None]) -> None:
    board = HintBoard()
    token, due = await a_token(board), set[HintTopic]()
    for step in [*steps, None]:
        if step is None:
            assert set(await heard_now(board, token)) == due
            token, due = await a_token(board), set()
        else:
            board.publish("agent", step)
            due.add(step)


async def test_an_agent_that_was_forgotten_is_told_that_anything_may_have_changed() -> None:
    board = HintBoard(remembered_agents=2)
    token = await a_token(board)
    board.publish("agent", COMMANDS)

    for number in range(100):
        board.publish(f"other-{number}", COMMANDS)

    assert await heard_now(board, token) == [ANYTHING]


async def test_the_agent_that_heard_nothing_for_longest_is_forgotten_first() -> None:
    board = HintBoard(remembered_agents=2)
    board.publish("agent", APPLICATIONS)
    board.publish("quiet", APPLICATIONS)
    token = await a_token(board)
    board.publish("agent", COMMANDS)

    board.publish("newcomer", COMMANDS)

    assert await heard_now(board, token) == [COMMANDS]


async def test_several_watchers_of_one_agent_all_hear() -> None:
    board = HintBoard()
    token = await a_token(board)
    watches = [board.watch("agent", token) for _ in range(3)]

    board.publish("agent", COMMANDS)

    assert [await taken(hints, 1) for hints in watches] == [[COMMANDS]] * 3


async def test_closing_ends_every_watch_and_lets_no_new_one_begin() -> None:
    board = HintBoard()
    token = await a_token(board)
    waiting = asyncio.ensure_future(anext(board.watch("agent", token), None))
    await asyncio.sleep(0)

    board.close()

    assert await waiting is None
    assert await anext(board.watch("agent", token), None) is None


async def test_a_watch_that_ends_leaves_nothing_behind() -> None:
    board = HintBoard()
    hints = board.watch("agent")
    await anext(hints)
    assert board.watcher_count == 1

    await hints.aclose()

    assert board.watcher_count == 0


async def test_an_agent_that_opens_too_many_watches_loses_its_oldest() -> None:
    board = HintBoard()
    watches = [board.watch("agent") for _ in range(MOST_WATCHES + 1)]
    other = board.watch("other")
    for hints in (other, *watches):
        await taken(hints, 1)

    rest = [hint async for hint in watches[0]]
    board.publish("agent", COMMANDS)

    assert rest == []
    assert [await taken(hints, 1) for hints in watches[1:]] == [[COMMANDS]] * MOST_WATCHES
    assert board.watcher_count == MOST_WATCHES + 1
    for hints in (other, *watches):
        await hints.aclose()
