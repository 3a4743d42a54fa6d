"""Lists show what the caller may see and no more, in whole pages, in the same way on both databases."""

import functools
from datetime import timedelta
from typing import Any

import pytest

from fairway.model.command import Command, CommandStatus, RestartAgent, SyncApplication
from fairway.model.event import Event
from fairway.model.role import Action, Permission, Resource, Role
from fairway.server.actions import commands as command_actions
from fairway.server.actions import events as event_actions
from fairway.server.actions import reading
from fairway.server.actions.audit import record
from fairway.server.commands import LIFETIME
from fairway.server.permissions import fits
from fairway.server.status_codes import Forbidden
from fairway.server.store import applications, commands, deployments, events
from fairway.server.store.applications import ApplicationFilter
from fairway.server.store.audit import AuditFilter
from fairway.server.store.commands import CommandFilter
from fairway.server.store.deployments import DeploymentFilter
from fairway.server.store.events import EventFilter
from fairway.server.store.page import PageRequest
from tests.integration.server.actions.acting import Acting, a_caller, a_running_deployment, an_admin
from tests.unit.server.user.builders import NOW, an_application

VALUES = ("dev", "DEV", "dev-eu", "prod", "d%v", "d_v", "d\\v", "[d]ev", "d*v", "d?v", "ü", "", "a\nb", "'; --")
PATTERNS = ("*", "dev", "dev*", "*e?", "d%v", "d_v", "d\\v", "[d]ev", "d*v", "d?v", "?", "", "*\n*", "'*", "[*")
ALL = PageRequest(limit=1000)


def sees(*labels: dict[str, str], resources: tuple[Resource, ...] | None = None) -> Role:
    """A role that sees what has the labels of one of these."""
    permissions = tuple(Permission(resources=resources, actions=(Action.READ,), labels=each) for each in labels)
    return Role(name="Some", permissions=permissions)


def a_sync(number: int, **fields: Any) -> Command:
    at = NOW + timedelta(minutes=number)
    known: dict[str, Any] = {"agent_id": "agent-1", "project_id": "acme", "application_id": "cart"}
    payload = SyncApplication(application_id="cart")
    return Command(**{"id": f"c-{number}", **known, "payload": payload, "created_at": at, "updated_at": at, **fields})


def an_event(number: int, **fields: Any) -> Event:
    at = NOW + timedelta(minutes=number)
    known: dict[str, Any] = {"name": "image", "data": "v1", "project_id": "acme", "key": "k"}
    return Event(**{"id": f"e-{number}", **known, "created_at": at, "updated_at": at, **fields})


async def test_the_database_reads_patterns_as_permissions_do(parts: Acting) -> None:
    labelled = {f"a-{number}": value for number, value in enumerate(VALUES)}
    await parts.add(
        applications.insert_application, *(an_application(id, labels={"x": value}) for id, value in labelled.items())
    )
    await parts.add(events.insert_event, *(an_event(n, labels={"x": value}) for n, value in enumerate(VALUES)))
    wanted, told = ApplicationFilter(project_id="acme"), EventFilter(project_id="acme")

    for pattern in PATTERNS:
        caller = a_caller(sees({"x": pattern}))
        found = await reading.list_applications(parts.desk, caller, wanted, ALL)
        heard = await event_actions.list_events(parts.desk, caller, told, ALL)

        expected = {value for value in VALUES if fits(value, pattern)}
        assert ({each.labels["x"] for each in found.items}, pattern) == (expected, pattern)
        assert ({each.labels["x"] for each in heard.items}, pattern) == (expected, pattern)


async def test_deployments_are_cut_to_what_may_be_seen_before_a_page_is(parts: Acting) -> None:
    for number in range(6):
        labels = {"env": "prod" if number % 2 else "dev-eu", "team": "pay"}
        deployment = a_running_deployment(f"d-{number + 10}", labels=labels)
        await parts.add(deployments.insert_deployment, deployment)
    caller = a_caller(sees({"env": "dev*", "team": "*"}, {"env": "nothing"}))

    page = await reading.list_deployments(parts.desk, caller, DeploymentFilter(project_id="acme"), PageRequest(limit=2))
    rest = await reading.list_deployments(
        parts.desk, caller, DeploymentFilter(project_id="acme"), PageRequest(page.cursor, 2)
    )

    assert ([each.id for each in page.items], [each.id for each in rest.items]) == (["d-10", "d-12"], ["d-14"])


async def test_commands_are_seen_with_what_they_are_about(parts: Acting) -> None:
    restart = a_sync(3, application_id="", payload=RestartAgent(agent_id="agent-1"))
    await parts.add(commands.insert_command, a_sync(1), a_sync(2, application_id="idle"), restart)

    async def seen(*roles: Role) -> list[str]:
        wanted = CommandFilter(project_id="acme")
        page = await command_actions.list_commands(parts.desk, a_caller(*roles), wanted, ALL)
        return [command.id for command in page.items]

    assert await seen(sees({})) == ["c-3", "c-2", "c-1"]
    assert await seen(sees({}, resources=(Resource.APPLICATION,))) == ["c-2", "c-1"]
    assert await seen(sees({"env": "dev"})) == ["c-1"]
    with pytest.raises(Forbidden):
        await seen(sees({}, resources=(Resource.AGENT,)))


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        pytest.param(CommandFilter(project_id="acme"), ["c-4", "c-3", "c-2", "c-1"], id="all"),
        pytest.param(CommandFilter(project_id="acme", application_id="cart"), ["c-3", "c-1"], id="of an application"),
        pytest.param(CommandFilter(project_id="acme", deployment_id="d-1"), ["c-3"], id="of a deployment"),
        pytest.param(CommandFilter(project_id="acme", status=CommandStatus.SUCCEEDED), ["c-4"], id="by status"),
    ],
)
async def test_commands_are_found_newest_first(parts: Acting, wanted: CommandFilter, expected: list[str]) -> None:
    done = a_sync(4, application_id="idle", status=CommandStatus.SUCCEEDED)
    await parts.add(
        commands.insert_command, a_sync(1), a_sync(2, application_id="idle"), a_sync(3, deployment_id="d-1"), done
    )

    found, cursor = [], ""
    while True:
        page = await command_actions.list_commands(parts.desk, an_admin(), wanted, PageRequest(cursor, 1))
        found += [command.id for command in page.items]
        if not (cursor := page.cursor):
            break

    assert found == expected


async def test_a_command_that_nobody_answered_is_shown_and_stored_as_timed_out(parts: Acting) -> None:
    await parts.add(commands.insert_command, a_sync(0))
    parts.clock.advance(LIFETIME)

    listed = await command_actions.list_commands(parts.desk, an_admin(), CommandFilter(project_id="acme"), ALL)
    found = await command_actions.get_command(parts.desk, an_admin(), "c-0")

    stored = await parts.store.read(lambda connection: commands.load_command(connection, "c-0"))
    assert {each.status for each in (*listed.items, found, stored)} == {CommandStatus.TIMED_OUT}


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        pytest.param(EventFilter(project_id="acme"), ["e-3", "e-2", "e-1"], id="all"),
        pytest.param(EventFilter(project_id="acme", name="chart"), ["e-2"], id="by name"),
        pytest.param(EventFilter(project_id="acme", since=NOW + timedelta(minutes=2)), ["e-3", "e-2"], id="since"),
        pytest.param(EventFilter(project_id="acme", until=NOW + timedelta(minutes=2)), ["e-1"], id="until"),
    ],
)
async def test_events_are_found_newest_first(parts: Acting, wanted: EventFilter, expected: list[str]) -> None:
    foreign = an_event(4, project_id="other")
    await parts.add(events.insert_event, an_event(1), an_event(2, name="chart"), an_event(3), foreign)

    page = await event_actions.list_events(parts.desk, an_admin(), wanted, ALL)

    assert [event.id for event in page.items] == expected


async def test_the_record_of_a_project_comes_with_that_of_the_whole_server_in_one_order(parts: Acting) -> None:
    for number in range(6):
        at = NOW + timedelta(minutes=number)
        who = an_admin(project_id="other") if number == 5 else an_admin()
        said: dict[str, Any] = {"action": "x.y", "subject_id": str(number), "whole_server": number % 2 == 0}
        await parts.store.write(functools.partial(record, caller=who, at=at, **said))

    found, cursor = [], ""
    while True:
        page = await reading.list_audit_records(
            parts.desk, an_admin(), AuditFilter(project_ids=()), PageRequest(cursor, 2)
        )
        found += [each.subject_id for each in page.items]
        if not (cursor := page.cursor):
            break

    assert found == ["4", "3", "2", "1", "0"]
