"""Lists: what is let through, in which order, and in pages that lose nothing."""

from typing import Any

import msgspec
import pytest

from fairway.model.application import Application, ApplicationKind, DiscoveredApplication, SyncState, SyncStatus
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.event import EventStatus
from fairway.model.live_state import Health
from fairway.server.store import (
    agents,
    api_keys,
    applications,
    commands,
    deployments,
    events,
    live_states,
    projects,
    shared_objects,
    suggestions,
)
from fairway.server.store.applications import ApplicationFilter, list_applications
from fairway.server.store.deployments import DeploymentFilter, list_deployments
from fairway.server.store.errors import NotFound
from fairway.server.store.page import PageRequest
from fairway.server.store.store import Store
from tests.integration.server.store.nouns import (
    a_live_state,
    a_project,
    an_agent,
    an_api_key,
    an_event,
    keep,
    minutes,
)
from tests.unit.model.builders import a_deployment, a_git_path, an_application

DEPLOYMENTS = (
    a_deployment(id="d-1", status=DeploymentStatus.SUCCEEDED, labels={"team": "a", "env": "prod"}),
    a_deployment(
        id="d-2", application_id="a-2", application_name="pay", kind=ApplicationKind.ECS, labels={"team": "a"}
    ),
    a_deployment(id="d-3", status=DeploymentStatus.FAILED, kind=ApplicationKind.LAMBDA),
    a_deployment(id="d-4", project_id="other", labels={"team": "a"}),
)
SYNCED = SyncState(status=SyncStatus.SYNCED, at=minutes(0))
APPLICATIONS = (
    an_application("a-1", labels={"team": "a", "env": "prod"}),
    an_application("a-2", name="pay", kind=ApplicationKind.ECS, labels={"team": "a"}, disabled=True, sync_state=SYNCED),
    an_application("a-3", agent_id="agent-2", kind=ApplicationKind.LAMBDA),
    an_application("a-4", deleted_at=minutes(1)),
    an_application("a-5", project_id="other"),
)


@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        pytest.param({}, ["d-1", "d-2", "d-3"], id="the project's"),
        pytest.param(
            {"statuses": (DeploymentStatus.FAILED, DeploymentStatus.SUCCEEDED)}, ["d-1", "d-3"], id="all statuses given"
        ),
        pytest.param({"kinds": (ApplicationKind.ECS, ApplicationKind.LAMBDA)}, ["d-2", "d-3"], id="all kinds given"),
        pytest.param({"application_ids": ("a-2", "a-9")}, ["d-2"], id="application ids"),
        pytest.param({"application_name": "cart"}, ["d-1", "d-3"], id="application name"),
        pytest.param({"labels": {"team": "a"}}, ["d-1", "d-2"], id="a label"),
        pytest.param({"labels": {"team": "a", "env": "prod"}}, ["d-1"], id="every label"),
        pytest.param({"labels": {"team": "A"}}, [], id="a label in another case"),
        pytest.param({"labels": {"team": "%"}}, [], id="no wildcards"),
    ],
)
async def test_a_filter_of_deployments_lets_through_what_fits(
    store: Store, wanted: dict[str, Any], ids: list[str]
) -> None:
    await keep(store, deployments.insert_deployment, *DEPLOYMENTS)
    filter = DeploymentFilter(project_id="shop", **wanted)

    page = await store.read(lambda connection: list_deployments(connection, filter, PageRequest()))

    assert [deployment.id for deployment in page.items] == ids


@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        pytest.param({}, ["a-1", "a-2", "a-3"], id="the project's that are not deleted"),
        pytest.param({"name": "pay"}, ["a-2"], id="name"),
        pytest.param({"kinds": (ApplicationKind.LAMBDA, ApplicationKind.ECS)}, ["a-2", "a-3"], id="kinds"),
        pytest.param({"agent_id": "agent-2"}, ["a-3"], id="agent"),
        pytest.param({"disabled": True}, ["a-2"], id="disabled"),
        pytest.param({"disabled": False}, ["a-1", "a-3"], id="enabled"),
        pytest.param({"sync_statuses": (SyncStatus.SYNCED, SyncStatus.DEPLOYING)}, ["a-2"], id="sync status"),
        pytest.param({"healths": (Health.HEALTHY, Health.OTHER)}, ["a-3"], id="health"),
        pytest.param({"sync_statuses": (SyncStatus.UNKNOWN,), "healths": (Health.HEALTHY,)}, ["a-3"], id="both"),
        pytest.param({"labels": {"team": "a", "env": "prod"}}, ["a-1"], id="every label"),
    ],
)
async def test_a_filter_of_applications_lets_through_what_fits(
    store: Store, wanted: dict[str, Any], ids: list[str]
) -> None:
    await keep(store, applications.insert_application, *APPLICATIONS)
    await store.write(lambda connection: applications.note_health(connection, "a-3", Health.HEALTHY))
    filter = ApplicationFilter(project_id="shop", **wanted)

    page = await store.read(lambda connection: list_applications(connection, filter, PageRequest()))

    assert [application.id for application in page.items] == ids


async def test_an_agent_gets_its_own_applications_that_are_enabled_and_not_deleted(store: Store) -> None:
    await keep(store, applications.insert_application, *APPLICATIONS)

    found = await store.read(lambda connection: applications.list_agent_applications(connection, "agent-1"))

    assert [application.id for application in found] == ["a-1", "a-5"]


async def test_labels_are_found_as_they_are_now(store: Store) -> None:
    def relabelled(found: Application) -> Application:
        return msgspec.structs.replace(found, labels={"team": "b"})

    await keep(store, applications.insert_application, *APPLICATIONS)
    await store.write(lambda connection: applications.update_application(connection, "a-1", relabelled))

    async def having(team: str) -> list[str]:
        filter = ApplicationFilter(project_id="shop", labels={"team": team})
        page = await store.read(lambda connection: list_applications(connection, filter, PageRequest()))
        return [application.id for application in page.items]

    assert [await having("a"), await having("b")] == [["a-2"], ["a-1"]]


async def test_an_application_is_found_by_its_file(store: Store) -> None:
    gone = an_application("a-0", deleted_at=minutes(1))
    other_file = an_application("a-2", git_path=a_git_path(config_filename="other.pipecd.yaml"))
    await keep(store, applications.insert_application, gone, an_application(), other_file)

    async def at(path: str, filename: str) -> Application | None:
        return await store.read(lambda c: applications.find_by_path(c, "shop", "shop", path, filename))

    assert await at("apps/cart", "") == an_application()
    assert await at("apps/cart", "other.pipecd.yaml") == other_file
    assert await at("apps", "") is None


async def test_the_last_deployment_is_the_one_created_last(store: Store) -> None:
    succeeded = a_deployment(id="d-1", status=DeploymentStatus.SUCCEEDED, updated_at=minutes(9))
    running = a_deployment(id="d-2", status=DeploymentStatus.RUNNING, created_at=minutes(5))
    await keep(store, deployments.insert_deployment, succeeded, running)

    async def last(application_id: str, only_succeeded: bool) -> Deployment | None:
        return await store.read(lambda c: deployments.last_deployment(c, application_id, only_succeeded))

    assert await last("a-1", only_succeeded=False) == running
    assert await last("a-1", only_succeeded=True) == succeeded
    assert await last("a-2", only_succeeded=False) is None


@pytest.mark.parametrize(
    ("since", "until", "status", "newest_first", "ids"),
    [
        pytest.param(None, None, None, True, ["e-3", "e-2", "e-1"], id="all, newest first"),
        pytest.param(None, None, None, False, ["e-1", "e-2", "e-3"], id="all, oldest first"),
        pytest.param(minutes(2), None, None, False, ["e-2", "e-3"], id="since includes its moment"),
        pytest.param(None, minutes(2), None, False, ["e-1"], id="until excludes its moment"),
        pytest.param(None, None, EventStatus.WAITING, False, ["e-1", "e-3"], id="waiting"),
    ],
)
async def test_events_are_listed_by_span_and_status(
    store: Store, since: Any, until: Any, status: Any, newest_first: bool, ids: list[str]
) -> None:
    made = [an_event(f"e-{minute}", created_at=minutes(minute)) for minute in (3, 1)]
    failed = an_event("e-2", created_at=minutes(2), status=EventStatus.FAILED)
    await keep(store, events.insert_event, *made, failed, an_event("e-9", project_id="other"))

    found = await store.read(lambda c: events.list_events(c, "shop", since, until, status, newest_first))

    assert [event.id for event in found] == ids


async def test_the_latest_event_of_a_key_is_the_newest(store: Store) -> None:
    newest = an_event("e-2", created_at=minutes(2))
    await keep(store, events.insert_event, an_event(), newest, an_event("e-3", key="z", created_at=minutes(3)))

    assert await store.read(lambda c: events.latest_event(c, "shop", "k")) == newest
    assert await store.read(lambda c: events.latest_event(c, "other", "k")) is None


async def test_agents_keys_and_projects_are_listed_by_id(store: Store) -> None:
    await keep(store, projects.insert_project, a_project("b"), a_project("a"))
    await keep(store, agents.insert_agent, an_agent("b"), an_agent("a"), an_agent("c", project_id="other"))
    await keep(store, api_keys.insert_api_key, an_api_key("b"), an_api_key("a"), an_api_key("c", project_id="other"))

    assert await store.read(projects.list_projects) == (a_project("a"), a_project("b"))
    assert await store.read(lambda c: agents.list_agents(c, "shop")) == (an_agent("a"), an_agent("b"))
    assert await store.read(lambda c: api_keys.list_api_keys(c, "shop")) == (an_api_key("a"), an_api_key("b"))


async def test_what_an_agent_found_replaces_what_it_found_before(store: Store) -> None:
    def found(name: str, agent_id: str) -> DiscoveredApplication:
        return DiscoveredApplication(name=name, agent_id=agent_id, repository_id="r", path="p", config_filename="f")

    await keep(store, agents.insert_agent, an_agent("a"), an_agent("b"), an_agent("c", project_id="other"))
    for agent_id, names in (("a", ("old", "older")), ("b", ("pay",)), ("c", ("far",)), ("a", ("new",))):
        await replace(store, agent_id, tuple(found(name, agent_id) for name in names))

    listed = await store.read(lambda connection: suggestions.list_suggestions(connection, "shop"))
    assert listed == (found("new", "a"), found("pay", "b"))


async def test_bytes_are_kept_by_key_and_the_last_ones_count(store: Store) -> None:
    for output in (b"one", b"\x00two"):
        await put(store, output)

    assert await store.read(lambda c: commands.load_command_output(c, "c-1")) == b"\x00two"
    assert await store.read(lambda c: shared_objects.get_shared_object(c, "a-1", "k8s", "k")) == b"\x00two"
    with pytest.raises(NotFound, match="output of command 'c-2'"):
        await store.read(lambda c: commands.load_command_output(c, "c-2"))
    with pytest.raises(NotFound, match="'a-1/k8s/other'"):
        await store.read(lambda c: shared_objects.get_shared_object(c, "a-1", "k8s", "other"))


async def test_a_live_state_replaces_the_one_before(store: Store) -> None:
    newer = a_live_state(resources=())
    await keep(store, live_states.save_live_state, a_live_state(), newer)

    assert await store.read(lambda connection: live_states.load_live_state(connection, "a-1")) == newer


async def replace(store: Store, agent_id: str, found: tuple[DiscoveredApplication, ...]) -> None:
    await store.write(lambda connection: suggestions.replace_suggestions(connection, agent_id, found))


async def put(store: Store, output: bytes) -> None:
    await store.write(lambda c: commands.store_command_output(c, "c-1", output))
    await store.write(lambda c: shared_objects.put_shared_object(c, "a-1", "k8s", "k", output))
