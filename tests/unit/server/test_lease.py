"""Who is given a lease."""

from datetime import timedelta
from typing import Any

import pytest

from fairway.server.lease import Asking, HoldDecision, Times, decide_hold, decide_release
from fairway.server.store.leases import Lease, Standby
from tests.unit.model.builders import NOW

TIMES = Times(15.0)
LATER = NOW + timedelta(seconds=40)


def asking(holder: str = "b", **fields: Any) -> Asking:
    return Asking(**{"agent_id": "agent-1", "holder": holder, "description": f"host {holder}", "beat": "new", **fields})


def a_lease(**fields: Any) -> Lease:
    known = {"id": "agent-1", "fencing_token": 4, "holder": "a", "description": "host a", "held_since": NOW}
    return Lease(**{**known, "seconds": 15.0, "beat": "old", **fields})


def waiting(holder: str = "b", at: Any = NOW) -> Standby:
    return Standby(holder=holder, description=f"host {holder}", asked_at=at)


def test_the_first_who_asks_is_given_the_lease_for_long() -> None:
    decision = decide_hold(None, asking(), 0.0, TIMES, NOW)

    lease = a_lease(fencing_token=1, holder="b", description="host b", seconds=300.0, beat="new")
    assert decision == HoldDecision(True, lease, 300.0, False)


@pytest.mark.parametrize(
    ("lease", "asked", "quiet"),
    [
        pytest.param(a_lease(released=True), asking(), 0.0, id="its holder let go of it"),
        pytest.param(a_lease(), asking(), 15.0, id="nothing was heard of its holder for long enough"),
        pytest.param(a_lease(), asking(predecessors=("a",)), 0.0, id="its holder is known to be gone"),
        pytest.param(a_lease(released=True, holder="b"), asking(), 0.0, id="who let go of it wants it again"),
    ],
)
def test_a_free_lease_is_taken_over_with_the_next_token(lease: Lease, asked: Asking, quiet: float) -> None:
    decision = decide_hold(lease, asked, quiet, TIMES, LATER)

    taken = a_lease(
        fencing_token=5, holder="b", description="host b", seconds=300.0, beat="new", held_since=LATER, released=False
    )
    assert decision == HoldDecision(True, taken, 300.0, False)


@pytest.mark.parametrize(
    ("lease", "asked", "quiet"),
    [
        pytest.param(a_lease(), asking(), 14.99, id="its holder was heard of a moment ago"),
        pytest.param(a_lease(seconds=300.0), asking(), 299.0, id="its holder was told that it holds for long"),
        pytest.param(a_lease(), asking(predecessors=("c",)), 0.0, id="somebody else is known to be gone"),
    ],
)
def test_a_lease_that_is_held_is_waited_for(lease: Lease, asked: Asking, quiet: float) -> None:
    decision = decide_hold(lease, asked, quiet, TIMES, LATER)

    assert not decision.granted
    assert decision.lease == a_lease(seconds=lease.seconds, standby=waiting("b", LATER))


def test_a_renewed_lease_keeps_its_token_and_holds_for_long_while_nobody_waits() -> None:
    decision = decide_hold(a_lease(), asking("a", held_seconds=300.0), 14.0, TIMES, LATER)

    assert decision == HoldDecision(True, a_lease(seconds=300.0, beat="new"), 300.0, False)


def test_a_lease_becomes_short_only_when_its_holder_has_said_that_it_knows() -> None:
    lease = a_lease(seconds=300.0, standby=waiting())

    unknown = decide_hold(lease, asking("a", held_seconds=300.0), 0.0, TIMES, NOW)
    known = decide_hold(unknown.lease, asking("a", held_seconds=unknown.seconds), 0.0, TIMES, NOW)

    assert (unknown.seconds, unknown.lease.seconds) == (15.0, 300.0)
    assert (known.seconds, known.lease.seconds) == (15.0, 15.0)


def test_somebody_who_has_not_asked_for_a_while_does_not_wait_any_more() -> None:
    decision = decide_hold(a_lease(standby=waiting()), asking("a"), 0.0, TIMES, LATER)

    assert (decision.standby_waiting, decision.seconds, decision.lease.standby) == (False, 300.0, None)


def test_that_somebody_waits_is_not_noted_again_and_again() -> None:
    lease = a_lease(standby=waiting())

    assert decide_hold(lease, asking(), 0.0, TIMES, NOW + timedelta(seconds=5)).lease is lease


def test_a_database_that_knows_less_than_the_agent_gives_no_token_twice() -> None:
    decision = decide_hold(a_lease(released=True), asking(fencing_token=9), 0.0, TIMES, NOW)

    assert decision.lease.fencing_token == 10


@pytest.mark.parametrize(
    ("holder", "after"),
    [
        pytest.param("a", a_lease(released=True, standby=waiting()), id="who holds it"),
        pytest.param("b", a_lease(), id="who waits for it"),
        pytest.param("c", a_lease(standby=waiting()), id="a stranger changes nothing"),
    ],
)
def test_letting_go(holder: str, after: Lease) -> None:
    assert decide_release(a_lease(standby=waiting()), holder) == after


def test_letting_go_of_what_nobody_holds_is_no_error() -> None:
    assert decide_release(None, "a") is None
