"""Whether an agent is at work: its decisions, and real leases against the server's own decisions in time of our own."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from fairway.agent.control_plane import KeyRefused, LeasesUnknown, ServerAway
from fairway.agent.lease import Lease, Role
from fairway.agent.own_data import Holders, read_holders, write_holders
from fairway.agent.standing import Ends, Held, Standing, decide_left_alone, decide_standing
from fairway.rpc.agent_api import lease_messages
from tests.unit.agent.leased import Fault, OwnTime, Scripted, Travel, World, in_own_time, run


def held(standby: bool, seconds: float = 15.0) -> Held:
    return Held(token=1, sent_at=100.0, seconds=seconds, standby_waiting=standby)


@pytest.mark.parametrize(
    ("lease", "now", "standing"),
    [
        pytest.param(None, 9e9, Standing.ACT, id="a server without leases lets everybody work for ever"),
        pytest.param(held(True), 109.9, Standing.ACT, id="in time"),
        pytest.param(held(True), 110.0, Standing.STEP_DOWN, id="somebody waits, and what runs needs time to end"),
        pytest.param(held(False, 300.0), 384.9, Standing.ACT, id="a long outage, and nobody waits"),
        pytest.param(held(False, 300.0), 385.0, Standing.PAUSE, id="a very long one: nothing new is begun"),
    ],
)
def test_what_an_agent_may_do_that_cannot_renew(lease: Held | None, now: float, standing: Standing) -> None:
    assert decide_standing(lease, now) is standing


@pytest.mark.parametrize(
    ("lease", "now", "ends"),
    [
        pytest.param(held(True, 12.0), 102.0, Ends(6.0, 8.0), id="somebody waits: when a living agent would end it"),
        pytest.param(held(False, 200.0), 110.0, Ends(170.0, 180.0), id="nobody waits: before anybody may begin"),
        pytest.param(held(False, 200.0), 285.0, Ends(15.0, 17.5), id="nobody waits, and the agent lives on"),
        pytest.param(held(False, 200.0), 310.0, Ends(15.0, 17.5), id="nobody waits, and the lease has run out"),
    ],
)
def test_when_what_an_agent_runs_ends_if_nobody_hears_of_it_any_more(lease: Held, now: float, ends: Ends) -> None:
    assert decide_left_alone(lease, now) == ends


MENDED = [Fault(0.0, "mend", "bb"), Fault(3.0, "mend", "a")]
BOTH = [Fault(0.0, "start", "a"), Fault(2.0, "start", "bb"), Fault(5.0, "wait")]


def roles(world: World) -> dict[str, Role]:
    return {name: agent.lease.role for name, agent in world.agents.items()}


@pytest.mark.parametrize(
    ("faults", "expected", "token"),
    [
        pytest.param([], {"a": Role.ACTIVE, "bb": Role.STANDBY}, 1, id="who comes second stands by"),
        pytest.param([Fault(1.0, "kill", "a")], {"bb": Role.ACTIVE}, 2, id="the first is killed"),
        pytest.param([Fault(1.0, "cut", "a")], {"a": Role.WAITING, "bb": Role.ACTIVE}, 2, id="the first is cut off"),
        pytest.param(
            [Fault(1.0, "cut", "a"), Fault(30.0, "mend", "a")],
            {"a": Role.STANDBY, "bb": Role.ACTIVE},
            2,
            id="the first was cut off for a while",
        ),
        pytest.param(
            [Fault(1.0, "cut", "a"), Fault(0.0, "cut", "bb"), Fault(45.0, "restart replica"), *MENDED],
            {"a": Role.ACTIVE, "bb": Role.STANDBY},
            2,
            id="the server was away: the first comes after itself",
        ),
        pytest.param(
            [Fault(1.0, "kill", "a"), Fault(1.0, "start", "a")],
            {"a": Role.ACTIVE, "bb": Role.STANDBY},
            2,
            id="the first is killed and comes back with its data",
        ),
    ],
)
def test_of_two_agents_one_is_at_work(faults: list[Fault], expected: Mapping[str, Role], token: int) -> None:
    world = run([*BOTH, *faults], {})

    assert roles(world) == expected
    assert world.row is not None
    assert world.row.fencing_token == token


def test_a_clean_stop_hands_over_at_once() -> None:
    world = run([*BOTH, Fault(1.0, "stop", "a")], {}, last=2.0)

    assert roles(world) == {"bb": Role.ACTIVE}


def test_an_agent_alone_works_on_while_the_server_is_away_and_is_waited_for_by_a_newcomer() -> None:
    faults = [Fault(0.0, "start", "a"), Fault(5.0, "cut", "a"), Fault(60.0, "start", "bb")]

    assert roles(run(faults, {}, last=200.0)) == {"a": Role.ACTIVE, "bb": Role.STANDBY}
    assert roles(run(faults, {}, last=330.0))["bb"] is Role.ACTIVE


def test_an_answer_that_got_lost_shortens_no_lease() -> None:
    """The first is told that somebody waits, and does not hear it; whoever waits must not rely on it."""
    lost = [Travel(), Travel(lost_back=True), Travel(lost_there=True)]

    world = run([*BOTH, Fault(0.0, "cut", "a")], {"a": lost}, last=100.0)

    assert roles(world) == {"a": Role.ACTIVE, "bb": Role.STANDBY}


def test_time_counts_from_before_the_question_was_sent() -> None:
    slow = [Travel(), Travel(), Travel(back=4.9), Travel(lost_there=True)]

    world = run(BOTH, {"a": slow}, last=100.0)

    assert roles(world) == {"a": Role.WAITING, "bb": Role.ACTIVE}


TRAVELS = st.lists(
    st.builds(
        Travel,
        there=st.sampled_from([0.01, 0.5, 3.0, 4.9]),
        back=st.sampled_from([0.01, 0.5, 3.0, 4.9]),
        lost_there=st.integers(0, 9).map(lambda number: number == 9),
        lost_back=st.integers(0, 9).map(lambda number: number == 9),
        replica=st.integers(0, 1),
    ),
    min_size=1,
    max_size=30,
)
FAULTS = st.lists(
    st.builds(
        Fault,
        after=st.sampled_from([0.0, 0.3, 1.0, 2.5, 7.0, 14.0, 40.0, 310.0]),
        kind=st.sampled_from(["cut", "mend", "mend", "restart replica", "kill", "stop", "start", "start"]),
        agent=st.sampled_from(["a", "bb", "ccc"]),
    ),
    max_size=25,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(faults=FAULTS, travels=st.fixed_dictionaries({"a": TRAVELS, "bb": TRAVELS, "ccc": TRAVELS}))
def test_never_two_are_at_work_whatever_is_lost_late_cut_or_killed(
    faults: list[Fault], travels: Mapping[str, list[Travel]]
) -> None:
    run([*BOTH, *faults], travels)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(faults=FAULTS)
def test_somebody_is_at_work_again_when_all_is_well(faults: list[Fault]) -> None:
    mended = [Fault(0.0, "mend", name) for name in ("a", "bb", "ccc")]

    world = run([*BOTH, *faults, *mended, Fault(0.0, "start", "a")], {}, last=400.0)

    assert list(roles(world).values()).count(Role.ACTIVE) == 1


def test_that_an_agent_waits_for_its_server_is_said_once_and_so_is_the_end_of_it(tmp_path: Path) -> None:
    away = ServerAway("connection refused")
    server = Scripted(away, away, away, lease_messages.HoldAnswer(granted=True, fencing_token=1, seconds=300.0))

    async def work() -> None:
        async with Lease.open(server, tmp_path, asyncio.get_running_loop().time) as lease:
            await lease.reached(Role.ACTIVE)

    with capture_logs() as logged:
        in_own_time(work())

    assert [(entry["event"], entry.get("reason", "")) for entry in logged] == [
        ("the server does not answer; it is asked again and again", "connection refused"),
        ("the server answers", ""),
        ("this agent is at work", ""),
    ]


def test_against_a_server_without_leases_an_agent_works_and_says_so(tmp_path: Path) -> None:
    server = Scripted(LeasesUnknown("this server gives no leases"))

    async def work() -> None:
        async with Lease.open(server, tmp_path, asyncio.get_running_loop().time) as lease:
            await lease.reached(Role.ACTIVE)
            await lease.may_begin()
            assert lease.state.reason == "this server gives no leases"

    in_own_time(work())
    assert server.shown == [0]


def test_a_server_that_learns_of_leases_later_is_asked_again(tmp_path: Path) -> None:
    granted = lease_messages.HoldAnswer(granted=True, fencing_token=3, seconds=300.0)
    server = Scripted(LeasesUnknown("none"), granted)

    async def work() -> None:
        async with Lease.open(server, tmp_path, asyncio.get_running_loop().time) as lease:
            await asyncio.sleep(120)
            assert lease.role is Role.ACTIVE

    in_own_time(work())
    assert server.shown == [0, 3]


def test_an_agent_whose_key_is_refused_from_the_start_ends(tmp_path: Path) -> None:
    async def work() -> None:
        async with Lease.open(Scripted(KeyRefused("who are you?")), tmp_path) as lease:
            with pytest.raises(KeyRefused):
                await lease.reached(Role.ACTIVE)

    in_own_time(work())


def test_nothing_may_begin_any_more_when_a_report_was_refused(tmp_path: Path) -> None:
    granted = lease_messages.HoldAnswer(granted=True, fencing_token=3, seconds=300.0)

    async def work() -> None:
        async with Lease.open(Scripted(granted), tmp_path, asyncio.get_running_loop().time) as lease:
            await lease.reached(Role.ACTIVE)
            await lease.lose("host b is active")
            for never in (lease.may_begin, lease.at_work):
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(1000):
                        await never()
            assert lease.state.reason == "host b is active"

    in_own_time(work())


def test_whoever_waits_to_begin_misses_no_word_that_it_may(tmp_path: Path) -> None:
    async def work() -> None:
        lease = Lease(Scripted(), tmp_path, asyncio.get_running_loop().time)
        async with lease._changed:
            # As when many wait: the word is on its way when somebody finds that it has to wait for it.
            word = asyncio.create_task(lease._become(Role.ACTIVE, "it is its turn"))
            await asyncio.sleep(0)
            waiting = [asyncio.create_task(each()) for each in (lease.may_begin, lease.at_work)]
            await asyncio.sleep(0)
        async with asyncio.timeout(1000):
            await asyncio.gather(word, *waiting)

    in_own_time(work())


def test_an_agent_alone_begins_nothing_new_in_a_very_long_outage_and_goes_on_when_the_server_is_back(
    tmp_path: Path,
) -> None:
    granted = lease_messages.HoldAnswer(granted=True, fencing_token=3, seconds=300.0)
    server = Scripted(granted, ServerAway("nobody there"))

    async def work() -> None:
        loop = asyncio.get_running_loop()
        async with Lease.open(server, tmp_path, loop.time) as lease:
            await lease.reached(Role.ACTIVE)
            await asyncio.sleep(280)
            await lease.may_begin()
            await asyncio.sleep(10)
            waiting = asyncio.create_task(lease.may_begin())
            await asyncio.sleep(1000)
            assert (waiting.done(), lease.role) == (False, Role.ACTIVE)
            assert lease.state.reason.startswith("nothing new is begun until the server answers")
            # What it has begun goes on, and may be told.
            await lease.at_work()
            server.answer_from_now_on(granted)
            await waiting

    in_own_time(work())


def test_that_the_server_answers_again_is_told_once(tmp_path: Path) -> None:
    granted = lease_messages.HoldAnswer(granted=True, fencing_token=3, seconds=300.0)
    server, told = Scripted(granted, ServerAway("nobody there")), []

    async def work() -> None:
        async with Lease.open(server, tmp_path, asyncio.get_running_loop().time) as lease:
            lease.heard_again = lambda: told.append(len(told))
            await asyncio.sleep(100)
            assert told == []
            server.answer_from_now_on(granted)
            await asyncio.sleep(200)

    in_own_time(work())

    assert told == [0]


def test_an_answer_from_before_the_agent_stepped_down_counts_no_more(tmp_path: Path) -> None:
    granted = lease_messages.HoldAnswer(granted=True, fencing_token=3, seconds=300.0)
    server = Scripted(granted, granted, lease_messages.HoldAnswer(held_by="host b"))

    async def work() -> None:
        async with Lease.open(server, tmp_path, asyncio.get_running_loop().time) as lease:
            await lease.reached(Role.ACTIVE)
            server.slowness = 3.0
            lease.ask_soon()
            await asyncio.sleep(1)
            await lease.lose("a report was refused")
            await lease.stepped_down()
            await asyncio.sleep(2.5)
            assert lease.role is Role.WAITING
            await lease.reached(Role.STANDBY)

    in_own_time(work())


def test_who_was_at_work_in_between_is_known_by_the_token(tmp_path: Path) -> None:
    async def work(token: int) -> bool:
        granted = lease_messages.HoldAnswer(granted=True, fencing_token=token, seconds=300.0)
        async with Lease.open(Scripted(granted), tmp_path, asyncio.get_running_loop().time) as lease:
            await lease.reached(Role.ACTIVE)
            return lease.unbroken

    loop = OwnTime()
    found = [loop.run_until_complete(work(token)) for token in (1, 2, 4, 5)]
    loop.close()

    assert found == [True, True, False, True]


def test_an_agent_that_was_cut_off_begins_anew_when_another_one_was_at_work_and_has_let_go_meanwhile(
    tmp_path: Path,
) -> None:
    granted = [lease_messages.HoldAnswer(granted=True, fencing_token=each, seconds=300.0) for each in (1, 3, 4)]
    server = Scripted(granted[0], ServerAway("cut off"), *granted[1:])

    async def work() -> None:
        async with Lease.open(server, tmp_path, asyncio.get_running_loop().time) as lease:
            await lease.reached(Role.ACTIVE)
            async with asyncio.timeout(1000):
                await lease.reached(Role.STEPPING_DOWN)
            await lease.stepped_down()
            await lease.reached(Role.ACTIVE)
            assert not lease.unbroken

    in_own_time(work())

    # Nothing of what it knew was told with a token by which the server would have taken it.
    assert server.shown == [1, 4]


def test_an_agent_whose_lease_a_person_has_released_goes_on_when_nobody_else_has_taken_it(tmp_path: Path) -> None:
    granted = [lease_messages.HoldAnswer(granted=True, fencing_token=each, seconds=300.0) for each in (1, 2)]
    server = Scripted(*granted)

    async def work() -> None:
        async with Lease.open(server, tmp_path, asyncio.get_running_loop().time) as lease:
            await lease.reached(Role.ACTIVE)
            await asyncio.sleep(120)
            assert (lease.role, lease.unbroken) == (Role.ACTIVE, True)

    in_own_time(work())
    assert server.shown == [1, 2]


def test_a_lease_that_the_disk_did_not_take_is_noted_when_it_does(tmp_path: Path) -> None:
    granted = lease_messages.HoldAnswer(granted=True, fencing_token=3, seconds=300.0)
    server = Scripted(granted, ServerAway("nobody there"))
    in_its_place = tmp_path / "holders.json"
    in_its_place.mkdir()

    async def work() -> None:
        async with Lease.open(server, tmp_path, asyncio.get_running_loop().time) as lease:
            await lease.reached(Role.ACTIVE)
            await asyncio.sleep(30)
            in_its_place.rmdir()
            await asyncio.sleep(2)

    with capture_logs() as logs:
        in_own_time(work())

    # By that the next one knows that what is kept for the server is its own, also when this one is killed.
    assert read_holders(tmp_path).fencing_token == 3
    assert [each["event"] for each in logs].count("the agent cannot note under which name it works") == 1


def test_names_that_were_copied_from_another_machine_count_for_nothing(tmp_path: Path) -> None:
    write_holders(tmp_path, Holders(machine="elsewhere", names=("x",), fencing_token=7))

    assert (read_holders(tmp_path).names, read_holders(tmp_path).fencing_token) == ((), 7)
