"""No question that grows with the years reads a whole table: SQLite tells how it would answer each."""

from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from fairway.model.application import ApplicationKind
from fairway.model.deployment import DeploymentStatus
from fairway.model.event import EventStatus
from fairway.server.store import (
    agents,
    api_keys,
    applications,
    commands,
    deployments,
    events,
    suggestions,
)
from fairway.server.store.applications import ApplicationFilter
from fairway.server.store.deployments import DeploymentFilter
from fairway.server.store.page import PageRequest
from fairway.server.store.store import Store
from tests.integration.server.store.nouns import minutes

Work = Callable[[sa.Connection], Any]


def a_list_of_deployments(cursor: str = "", **wanted: Any) -> Work:
    filter = DeploymentFilter(project_id="shop", **wanted)
    return lambda connection: deployments.list_deployments(connection, filter, PageRequest(cursor))


def a_list_of_applications(**wanted: Any) -> Work:
    filter = ApplicationFilter(project_id="shop", **wanted)
    return lambda connection: applications.list_applications(connection, filter, PageRequest())


#: A position after every row.
CURSOR = "WzAsICJ6Il0="
FOUND_BY_INDEX: dict[str, Work] = {
    "open deployments": lambda c: deployments.list_open_deployments(c, "agent-1", "", 10),
    "open deployments, next page": lambda c: deployments.list_open_deployments(c, "agent-1", CURSOR, 10),
    "last deployment": lambda c: deployments.last_deployment(c, "a-1", only_succeeded=False),
    "last successful deployment": lambda c: deployments.last_deployment(c, "a-1", only_succeeded=True),
    "waiting commands": lambda c: commands.list_unhandled_commands(c, "agent-1"),
    "deployments": a_list_of_deployments(),
    "deployments, next page": a_list_of_deployments(CURSOR),
    "deployments by status": a_list_of_deployments(statuses=(DeploymentStatus.FAILED, DeploymentStatus.RUNNING)),
    "deployments by kind": a_list_of_deployments(kinds=(ApplicationKind.ECS,)),
    "deployments by application": a_list_of_deployments(application_ids=("a-1", "a-2")),
    "deployments by name": a_list_of_deployments(application_name="cart"),
    "deployments by label": a_list_of_deployments(labels={"team": "a", "env": "b"}),
    "an agent's applications": lambda c: applications.list_agent_applications(c, "agent-1"),
    "applications": a_list_of_applications(),
    "applications by name": a_list_of_applications(name="cart"),
    "applications by kind": a_list_of_applications(kinds=(ApplicationKind.ECS,)),
    "applications by agent": a_list_of_applications(agent_id="agent-1"),
    "applications by state": a_list_of_applications(disabled=True),
    "applications by label": a_list_of_applications(labels={"team": "a"}),
    "application by path": lambda c: applications.find_by_path(c, "shop", "shop", "apps/cart", ""),
    "events": lambda c: events.list_events(c, "shop", minutes(0), None, EventStatus.WAITING, newest_first=True),
    "latest event": lambda c: events.latest_event(c, "shop", "k"),
    "agents": lambda c: agents.list_agents(c, "shop"),
    "API keys": lambda c: api_keys.list_api_keys(c, "shop"),
    "suggestions": lambda c: suggestions.list_suggestions(c, "shop"),
    "old commands": lambda c: commands.delete_finished_commands(c, minutes(0), 10),
    "old events": lambda c: events.delete_handled_events(c, "shop", minutes(0), 10),
    "old deployments": lambda c: deployments.list_finished_deployments(c, "shop", minutes(0), PageRequest()),
    "old deployments, next page": lambda c: deployments.list_finished_deployments(
        c, "shop", minutes(0), PageRequest(CURSOR)
    ),
    "deletion of a deployment": lambda c: deployments.delete_deployment(c, "d-1"),
    "heartbeat": lambda c: agents.touch_agent(c, "agent-1", minutes(0)),
}
#: Pages in an order that an index gives; sorting would read all that fits for each page.
NEEDS_NO_SORTING = [
    "open deployments",
    "open deployments, next page",
    "last deployment",
    "last successful deployment",
    "waiting commands",
    "deployments",
    "deployments, next page",
    "deployments by kind",
    "deployments by name",
    "applications",
    "events",
    "latest event",
    "old commands",
    "old events",
    "old deployments",
    "old deployments, next page",
]
#: Read whole, because they hold only what waits, or what two days left.
SMALL_INDEXES: dict[str, tuple[Work, list[str]]] = {
    "overdue commands": (
        lambda c: commands.list_overdue_commands(c, minutes(0), 10),
        ["SCAN commands USING INDEX commands_waiting"],
    ),
    "old outputs": (
        lambda c: commands.delete_command_outputs(c, minutes(0), 10),
        ["SCAN command_outputs USING COVERING INDEX sqlite_autoindex_command_outputs_1"],
    ),
}


@pytest.mark.parametrize("work", [pytest.param(work, id=name) for name, work in FOUND_BY_INDEX.items()])
async def test_a_question_is_answered_through_an_index(sqlite_url: str, work: Work) -> None:
    plan = await query_plan(sqlite_url, work)

    assert plan
    assert scans(plan) == []


@pytest.mark.parametrize("name", NEEDS_NO_SORTING)
async def test_a_page_is_read_in_the_order_of_an_index(sqlite_url: str, name: str) -> None:
    plan = await query_plan(sqlite_url, FOUND_BY_INDEX[name])

    assert [step for step in plan if "TEMP B-TREE" in step] == []


@pytest.mark.parametrize("name", SMALL_INDEXES)
async def test_a_look_at_what_grows_old_reads_a_small_index_and_no_table(sqlite_url: str, name: str) -> None:
    work, scanned = SMALL_INDEXES[name]

    plan = await query_plan(sqlite_url, work)

    assert [step for step in plan if step.startswith("SCAN")] == scanned


def scans(plan: list[str]) -> list[str]:
    """What is read from one end to the other, but for results of a subquery, which are few."""
    return [step for step in plan if step.startswith("SCAN") and not step.startswith("SCAN anon_")]


async def query_plan(url: str, work: Work) -> list[str]:
    """How SQLite answers each statement of the work, in its own words."""
    store = await Store.open(url)
    plan: list[str] = []

    def explain(connection: sa.Connection) -> None:
        statements: list[tuple[str, Any]] = []
        sa.event.listen(connection, "before_cursor_execute", lambda *call: statements.append((call[2], call[3])))
        work(connection)
        for statement, parameters in list(statements):
            rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
            plan.extend(row.detail for row in rows)

    await store.write(explain)
    await store.close()
    return plan
