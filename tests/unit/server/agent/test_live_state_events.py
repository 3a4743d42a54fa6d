from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from fairway.model.application import ApplicationKind
from fairway.model.live_state import (
    Health,
    LiveState,
    LiveStateVersion,
    Resource,
    ResourceChange,
    ResourceEvent,
)
from fairway.server.agent_service.live_state_events import apply_events
from tests.unit.model.builders import NOW


def a_version(seconds: int = 0, index: int = 0) -> LiveStateVersion:
    return LiveStateVersion(at=NOW + timedelta(seconds=seconds), index=index)


def a_state(
    *resources: Resource, version: LiveStateVersion = a_version(), health: Health = Health.HEALTHY
) -> LiveState:
    return LiveState(
        application_id="a-1",
        agent_id="agent-1",
        project_id="shop",
        kind=ApplicationKind.KUBERNETES,
        version=version,
        health=health,
        resources=resources,
    )


def a_resource(id: str = "pod", health: Health = Health.HEALTHY) -> Resource:
    return Resource(id=id, name=id, health=health)


def an_event(resource: Resource, version: LiveStateVersion, deleted: bool = False) -> ResourceEvent:
    change = ResourceChange.DELETED if deleted else ResourceChange.ADDED_OR_UPDATED
    return ResourceEvent(
        id="e", application_id="a-1", change=change, resource=resource, snapshot_version=version, created_at=NOW
    )


def test_changes_are_drawn_into_the_picture() -> None:
    state = a_state(a_resource("old"), a_resource("gone"))
    sick = a_resource("old", Health.OTHER)

    found = apply_events(
        state,
        [an_event(sick, a_version(1)), an_event(a_resource("gone"), a_version(2), deleted=True)],
    )

    assert found == a_state(sick, version=a_version(2), health=Health.OTHER)


def test_a_change_that_is_older_than_the_picture_is_in_it_already() -> None:
    state = a_state(a_resource(), version=a_version(5))

    assert apply_events(state, [an_event(a_resource(), a_version(4), deleted=True)]) is state


def test_a_change_of_the_same_version_as_the_picture_is_drawn() -> None:
    found = apply_events(a_state(), [an_event(a_resource(), a_version())])

    assert found == a_state(a_resource())


def test_a_change_that_comes_twice_changes_nothing_the_second_time() -> None:
    event = an_event(a_resource(), a_version(1))

    once = apply_events(a_state(), [event])

    assert apply_events(once, [event]) is once


@given(st.permutations([(1, False), (2, True), (3, False), (4, True), (5, False)]))
def test_the_order_in_which_changes_are_listed_does_not_matter(listed: list[tuple[int, bool]]) -> None:
    events = [an_event(a_resource(f"pod-{index % 2}"), a_version(1, index), deleted) for index, deleted in listed]

    found = apply_events(a_state(), events)

    assert found == a_state(a_resource("pod-1"), version=a_version(1, 5))
