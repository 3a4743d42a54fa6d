"""One picture of an application from what several plugins see."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from fairway.agent.live_answers import health_of, merged_health, merged_sync, with_times
from fairway.agent.plugins.live_answer import LiveAnswer
from fairway.model.application import SyncState, SyncStatus
from fairway.model.live_state import Health, Resource

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
LATER = NOW + timedelta(minutes=1)


def a_state(status: SyncStatus, short: str = "", reason: str = "") -> SyncState:
    return SyncState(status=status, at=NOW, short_reason=short, reason=reason)


def test_the_part_that_needs_an_eye_most_speaks_for_the_whole() -> None:
    states = [
        a_state(SyncStatus.SYNCED),
        a_state(SyncStatus.OUT_OF_SYNC, "a", "a differs"),
        a_state(SyncStatus.UNKNOWN, "b"),
        a_state(SyncStatus.OUT_OF_SYNC, "c differs"),
    ]

    assert merged_sync(states, LATER) == SyncState(
        status=SyncStatus.OUT_OF_SYNC, at=LATER, short_reason="a", reason="a differs\nc differs"
    )


@pytest.mark.parametrize(
    ("parts", "whole"),
    [
        pytest.param([], Health.UNKNOWN, id="nothing"),
        pytest.param([Health.HEALTHY, Health.HEALTHY], Health.HEALTHY, id="all are well"),
        pytest.param([Health.HEALTHY, Health.UNKNOWN], Health.UNKNOWN, id="one is not known"),
        pytest.param([Health.UNKNOWN, Health.UNHEALTHY], Health.UNHEALTHY, id="one is ill"),
    ],
)
def test_the_whole_is_as_well_as_its_worst_part(parts: list[Health], whole: Health) -> None:
    assert merged_health(parts) is whole


def test_what_one_plugin_sees_does_not_speak_for_one_that_cannot_look() -> None:
    well = LiveAnswer((Resource(id="a", name="a", health=Health.HEALTHY),), a_state(SyncStatus.SYNCED))
    blind, silent = (LiveAnswer((), a_state(SyncStatus.UNKNOWN, words)) for words in ("it is away", ""))

    assert [health_of([well, other]) for other in (well, silent, blind)] == [
        Health.HEALTHY,
        Health.HEALTHY,
        Health.UNKNOWN,
    ]


def test_a_resource_keeps_its_times_until_it_changes() -> None:
    first = with_times([Resource(id="a", name="a"), Resource(id="b", name="b")], (), NOW)
    ill = Resource(id="b", name="b", health=Health.UNHEALTHY)

    second = with_times([Resource(id="a", name="a", updated_at=LATER), ill], first, LATER)

    changed = msgspec.structs.replace(ill, created_at=NOW, updated_at=LATER)
    assert second == (first[0], changed)
