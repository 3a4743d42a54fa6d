"""What the launcher does next, whatever happens: a version that was healthy is always there to go back to."""

from hypothesis import given
from hypothesis import strategies as st

from fairway.agent.launcher.decide import (
    MOST_STARTS,
    Ended,
    Leave,
    Start,
    StartAgain,
    decide_end,
    decide_start,
    fallen_back,
    forgiven,
    in_use,
    ready_again,
    settled,
    wanted,
)
from fairway.agent.launcher.record import INSTALLED, Failure, Record, Trial

HERE = Record("0.1.0")
NEW = Trial("0.2.0-aa")
KEYS = ("0.2.0-aa", "0.3.0-bb", INSTALLED)


def test_the_installed_version_runs_when_nothing_is_known() -> None:
    assert decide_start(None, "0.1.0", set(), 7) == Start(HERE, INSTALLED)


def test_a_wanted_version_is_tried_and_the_try_is_counted_before_it() -> None:
    record = wanted(HERE, NEW)

    start = decide_start(record, "0.1.0", {"0.2.0-aa"}, 7)

    assert start == Start(HERE._replace(trial=NEW._replace(starts=1)), "0.2.0-aa", "0.2.0 is tried")


def test_a_wanted_version_that_runs_already_is_not_tried() -> None:
    record = HERE._replace(current="0.2.0-aa", trial=Trial("0.3.0-bb"))

    assert wanted(record, NEW) == record._replace(trial=None)


def test_a_version_that_was_tried_often_enough_is_left_and_the_reason_is_kept() -> None:
    record = wanted(HERE, NEW._replace(starts=MOST_STARTS))

    start = decide_start(record, "0.1.0", {"0.2.0-aa"}, 7)

    reason = "it was started 3 times and never became healthy"
    assert start == Start(HERE._replace(failures=(Failure("0.2.0-aa", reason, 7),)), INSTALLED)


def test_a_version_on_trial_whose_files_are_gone_is_left() -> None:
    start = decide_start(wanted(HERE, NEW), "0.1.0", set(), 7)

    assert start.key == INSTALLED
    assert start.record.failures == (Failure("0.2.0-aa", "its files are gone", 7),)


def test_a_current_version_whose_files_are_gone_gives_way_to_the_previous_one() -> None:
    record = HERE._replace(current="0.3.0-bb", previous="0.2.0-aa")

    start = decide_start(record, "0.1.0", {"0.2.0-aa"}, 7)

    assert start == Start(HERE._replace(current="0.2.0-aa"), "0.2.0-aa", "the files of 0.3.0 are gone")


def test_another_installed_version_is_run_because_somebody_has_installed_it() -> None:
    record = Record("0.1.0", current="0.2.0-aa", trial=Trial("0.3.0-bb"))

    start = decide_start(record, "0.4.0", {"0.2.0-aa", "0.3.0-bb"}, 7)

    assert start == Start(Record("0.4.0"), INSTALLED, "0.4.0 was installed where 0.1.0 was; it is run")


def test_a_version_that_settled_is_current_and_the_one_before_is_kept() -> None:
    record = wanted(HERE._replace(current="0.3.0-bb", failures=(Failure("0.2.0-aa", "x", 1),)), NEW)

    assert settled(record) == HERE._replace(current="0.2.0-aa", previous="0.3.0-bb")
    assert in_use(settled(record)) == {"0.2.0-aa", "0.3.0-bb"}


def test_a_crash_on_trial_is_tried_again_and_the_last_one_is_the_end_of_the_trial() -> None:
    on_trial = wanted(HERE, NEW._replace(starts=1))
    last = wanted(HERE, NEW._replace(starts=MOST_STARTS))

    again, left = decide_end(on_trial, Ended(1), 7), decide_end(last, Ended(-9), 7)

    reason = "it was ended by SIGKILL before it was healthy, 3 times in a row"
    assert again == StartAgain(on_trial, 0.2, "the agent on trial ended with status 1")
    assert left == StartAgain(HERE._replace(failures=(Failure("0.2.0-aa", reason, 7),)), reason=reason)


def test_an_agent_that_cannot_start_takes_the_launcher_with_it_and_one_that_crashes_later_does_not() -> None:
    assert decide_end(HERE, Ended(2), 7) == Leave(HERE, 2)
    assert decide_end(HERE, Ended(2, ever_ready=True, in_a_row=2), 7) == StartAgain(
        HERE, 0.4, "the agent ended with status 2"
    )
    assert decide_end(HERE, Ended(-9), 7) == StartAgain(HERE, 0.2, "the agent was ended by SIGKILL")


def test_an_agent_that_ends_as_it_was_told_to_ends_the_launcher() -> None:
    assert decide_end(HERE, Ended(0, ever_ready=True), 7) == Leave(HERE, 0)
    assert decide_end(wanted(HERE, NEW._replace(starts=2)), Ended(-15, stopping=True), 7) == Leave(
        wanted(HERE, NEW._replace(starts=1)), -15
    )


def test_an_agent_that_makes_room_is_followed_at_once() -> None:
    assert decide_end(wanted(HERE, NEW), Ended(-9, restarting=True), 7) == StartAgain(wanted(HERE, NEW))


def test_a_version_that_was_late_is_not_blamed_when_the_other_one_is_as_late() -> None:
    record = fallen_back(wanted(HERE, NEW), "it was not ready", 7, unproven=60.0)

    assert ready_again(record, 60.5).failures == (Failure("0.2.0-aa", "it was not ready", 7, excused=True),)
    assert ready_again(record, 5.0).failures == (Failure("0.2.0-aa", "it was not ready", 7),)
    assert ready_again(ready_again(record, 5.0), 60.5) == ready_again(record, 5.0)


def test_a_version_that_was_excused_once_is_not_excused_again() -> None:
    excused = ready_again(fallen_back(wanted(HERE, NEW), "it was not ready", 7, unproven=60.0), 60.5)

    again = fallen_back(wanted(excused, NEW), "it was not ready again", 9, unproven=60.0)

    assert again == HERE._replace(failures=(Failure("0.2.0-aa", "it was not ready again", 9),))
    assert ready_again(again, 60.5) == again


def test_a_restart_that_somebody_asked_for_forgives() -> None:
    assert forgiven(fallen_back(wanted(HERE, NEW), "it crashed", 7)) == HERE


EVENTS = st.one_of(
    st.tuples(st.just("wanted"), st.sampled_from(KEYS)),
    st.tuples(st.just("ended"), st.sampled_from([0, 1, 2, -9, -15])),
    st.sampled_from([("settled", ""), ("late", ""), ("ready", ""), ("power cut", ""), ("restart", "")]),
)


@given(st.lists(EVENTS, max_size=60), st.sets(st.sampled_from(KEYS[:2])))
def test_whatever_happens_the_current_version_has_been_healthy(
    events: list[tuple[str, str | int]], gone: set[str]
) -> None:
    record, healthy, there = Record("0.1.0"), {INSTALLED}, {"0.2.0-aa", "0.3.0-bb"}
    started = decide_start(record, "0.1.0", there, 0)
    for number, (what, detail) in enumerate(events):
        record = started.record
        trial = record.trial
        if what == "wanted":
            record = wanted(record, Trial(str(detail)))
        elif what == "settled" and trial is not None:
            healthy.add(trial.key)
            record = settled(record)
        elif what == "late":
            record = fallen_back(record, "late", number, unproven=60.0)
        elif what == "ready":
            record = ready_again(record, 1.0)
        elif what == "restart":
            record = forgiven(record)
        elif what == "ended":
            then = decide_end(record, Ended(int(detail), ever_ready=True), number)
            record = then.record
        started = decide_start(record, "0.1.0", there - gone if number == 30 else there, number)

        trial = started.record.trial
        assert started.record.current in healthy
        assert started.key == (trial.key if trial else started.record.current)
        assert trial is None or 1 <= trial.starts <= MOST_STARTS
        assert len(started.record.failures) <= 8


@given(st.lists(st.sampled_from([1, -9]), min_size=MOST_STARTS, max_size=10))
def test_a_version_that_always_crashes_is_started_a_few_times_and_then_never(ends: list[int]) -> None:
    record, starts = wanted(HERE, NEW), 0
    for end in ends:
        start = decide_start(record, "0.1.0", {"0.2.0-aa"}, 0)
        starts += start.key == "0.2.0-aa"
        then = decide_end(start.record, Ended(end, ever_ready=True), 0)
        assert isinstance(then, StartAgain)
        record = then.record

    assert starts == MOST_STARTS
    assert record.current == INSTALLED
    assert [each.key for each in record.failures] == ["0.2.0-aa"]
