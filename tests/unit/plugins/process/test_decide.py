"""What a keeper does next."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.plugins.process.decide import Route, Step, all_answer, decide_step, keeps_failing, what_is_missing
from fairway.plugins.process.records import Instance, Seen, Wanted
from tests.unit.plugins.process.builders import NEW, OLD, a_group, an_instance, wanted


def primary(*instances: str, share: float = 100.0) -> Route:
    return Route(variant="primary", share=share, instances=instances)


def test_missing_processes_are_started() -> None:
    step = decide_step(wanted(a_group()), [an_instance("p1")])

    assert step == Step(start=(a_group(),), routes=(primary("p1"),))


def test_old_processes_serve_until_every_new_one_has_answered() -> None:
    old = [an_instance("o1", OLD), an_instance("o2", OLD)]
    new = [an_instance("n1"), an_instance("n2", ready=False, was_ready=False)]

    step = decide_step(wanted(a_group()), [*old, *new])

    assert step == Step(routes=(primary("o1", "o2"),))


def test_old_processes_leave_when_every_new_one_has_answered() -> None:
    step = decide_step(wanted(a_group()), [an_instance("o1", OLD), an_instance("n1"), an_instance("n2")])

    assert step == Step(leave=("o1",), routes=(primary("n1", "n2"),))


def test_a_process_that_falls_ill_gets_no_connections_while_another_is_well() -> None:
    step = decide_step(wanted(a_group()), [an_instance("n1", ready=False), an_instance("n2")])

    assert step == Step(routes=(primary("n2"),))


def test_where_all_are_ill_they_are_asked_all_the_same() -> None:
    ill = [an_instance("n1", ready=False), an_instance("n2", ready=False)]

    assert decide_step(wanted(a_group()), ill).routes == (primary("n1", "n2"),)


def test_of_too_many_processes_those_that_do_not_answer_leave_first() -> None:
    many = [an_instance("n1", ready=False), an_instance("n2"), an_instance("n3")]

    assert decide_step(wanted(a_group()), many) == Step(leave=("n1",), routes=(primary("n2", "n3"),))


def test_a_variant_that_is_not_wanted_leaves_at_once() -> None:
    found = [an_instance("p1"), an_instance("p2"), an_instance("c1", variant="canary")]

    assert decide_step(wanted(a_group()), found).leave == ("c1",)


def test_going_back_before_the_new_version_answered_ends_only_the_new_one() -> None:
    found = [an_instance("o1", OLD), an_instance("o2", OLD), an_instance("n1", ready=False, was_ready=False)]

    step = decide_step(wanted(a_group(OLD)), found)

    assert step == Step(leave=("n1",), routes=(primary("o1", "o2"),))


INSTANCES = st.builds(
    lambda id, version, variant, ready, was_ready, leaving: an_instance(
        f"i{id}", version, variant=variant, ready=ready, was_ready=ready or was_ready, leaving=leaving
    ),
    st.integers(0, 1000),
    st.sampled_from([OLD, NEW]),
    st.sampled_from(["primary", "canary"]),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)


@given(st.lists(INSTANCES, max_size=8, unique_by=lambda each: each.id), st.integers(1, 4))
def test_nobody_who_serves_leaves_while_the_new_ones_are_too_few(found: list[Instance], replicas: int) -> None:
    wish = wanted(a_group(replicas=replicas))

    step = decide_step(wish, found)

    staying = [each for each in found if not each.leaving and each.variant == "primary"]
    able = [each for each in staying if each.version == NEW.key and each.was_ready]
    olds = {each.id for each in staying if each.version == OLD.key}
    assert len(able) >= replicas or olds.isdisjoint(step.leave)
    assert {id for route in step.routes for id in route.instances}.isdisjoint(step.leave)


@pytest.mark.parametrize(
    ("wish", "instances", "expected"),
    [
        pytest.param(wanted(a_group()), [an_instance("n1"), an_instance("n2")], "", id="as wanted"),
        pytest.param(
            wanted(a_group()),
            [an_instance("n1"), an_instance("n2", ready=False, problem="GET / answers 500")],
            "1 of 2 primary processes answer: GET / answers 500",
            id="one is ill",
        ),
        pytest.param(
            wanted(), [an_instance("n1", leaving=True)], "1 old process has not ended", id="one has not ended"
        ),
        pytest.param(
            wanted(),
            [an_instance("n1", leaving=True), an_instance("n2", leaving=True)],
            "2 old processes have not ended",
            id="two have not ended",
        ),
    ],
)
def test_it_is_said_what_is_missing(wish: Wanted, instances: list[Instance], expected: str) -> None:
    seen = Seen(wanted=wish.key, port=8080, instances=tuple(instances))

    assert what_is_missing(wish, seen) == expected


def test_what_the_keeper_has_not_heard_of_is_missing() -> None:
    assert what_is_missing(wanted(), Seen(wanted="other")) == "the keeper has not yet heard of it"


@pytest.mark.parametrize(
    ("instances", "expected"),
    [
        pytest.param([an_instance("n1"), an_instance("n2"), an_instance("o1", OLD)], True, id="an old one is left"),
        pytest.param([an_instance("n1"), an_instance("o1", OLD)], False, id="a new one is missing"),
        pytest.param([an_instance("n1"), an_instance("n2", ready=False)], False, id="a new one does not answer"),
    ],
)
def test_all_answer_when_every_new_process_does(instances: list[Instance], expected: bool) -> None:
    assert all_answer(wanted(a_group()), Seen(instances=tuple(instances))) is expected


def test_a_process_that_ends_again_and_again_is_found_unless_it_has_been_well() -> None:
    failing = an_instance("n1", ready=False, was_ready=False, exits=3)
    recovering = an_instance("n2", ready=False, was_ready=True, exits=9)

    seen = Seen(instances=(recovering, failing))

    assert keeps_failing(wanted(a_group()), seen, often=3) == failing


def test_the_same_wish_has_the_same_key_after_it_was_written_and_read() -> None:
    whole = wanted(a_group(share=100))

    assert whole.key == wanted(a_group(share=100.0)).key
