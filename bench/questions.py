"""What people and agents ask the store for all day, in the population's words: lists, filters, pages, polls.

One list for two uses: a test shows that each is answered through an index on both databases, and `python -m bench
scale` how long each takes among a million deployments.
"""

import base64
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final

import msgspec
import sqlalchemy as sa

from bench.population import PROJECT, START
from fairway.model.application import ApplicationKind, SyncStatus
from fairway.model.command import CommandStatus
from fairway.model.deployment import DeploymentStatus
from fairway.model.event import EventStatus
from fairway.model.live_state import Health
from fairway.server.store import (
    agents,
    api_keys,
    applications,
    audit,
    chains,
    commands,
    deployments,
    events,
    projects,
    suggestions,
    webhooks,
)
from fairway.server.store.applications import ApplicationFilter
from fairway.server.store.audit import AuditFilter
from fairway.server.store.commands import CommandFilter
from fairway.server.store.deployments import DeploymentFilter
from fairway.server.store.events import EventFilter
from fairway.server.store.page import PageRequest, Sort

Work = Callable[[sa.Connection], Any]


def _cursor(order: str = "") -> str:
    """A position in the middle of the two years: the first of January 2025."""
    return base64.urlsafe_b64encode(msgspec.json.encode((1_735_689_600_000_000, "", order))).decode()


MIDDLE: Final = _cursor()
_APPLICATION, _AGENT, _DEPLOYMENT = "application-0000007", "agent-000001", "d-1"
_LATER = START + timedelta(days=700)
_WEEK: dict[str, Any] = {"since": _LATER, "until": _LATER + timedelta(days=7)}
_CREATED = PageRequest(sort=Sort.CREATION)
_CREATED_MIDDLE = PageRequest(_cursor("created_at"), sort=Sort.CREATION)
_OLDEST = PageRequest(sort=Sort.CREATION, ascending=True)
_OLDEST_MIDDLE = PageRequest(_cursor("created_at reversed"), sort=Sort.CREATION, ascending=True)
_UNCHANGED_LONGEST = PageRequest(ascending=True)
_DAY = timedelta(days=1)
_OPEN = tuple(status for status in DeploymentStatus if not status.is_terminal)


def _deployments(cursor: str = "", page: PageRequest | None = None, **wanted: Any) -> Work:
    filter, asked = DeploymentFilter(project_id=PROJECT, **wanted), page or PageRequest(cursor)
    return lambda connection: deployments.list_deployments(connection, filter, asked)


def _applications(cursor: str = "", **wanted: Any) -> Work:
    filter = ApplicationFilter(project_id=PROJECT, **wanted)
    return lambda connection: applications.list_applications(connection, filter, PageRequest(cursor))


def _commands(cursor: str = "", **wanted: Any) -> Work:
    filter = CommandFilter(project_id=PROJECT, **wanted)
    return lambda connection: commands.list_commands(connection, filter, PageRequest(cursor))


def _events(cursor: str = "", **wanted: Any) -> Work:
    filter = EventFilter(project_id=PROJECT, **wanted)
    return lambda connection: events.page_events(connection, filter, PageRequest(cursor))


def _audit(cursor: str = "", **wanted: Any) -> Work:
    filter = AuditFilter(project_ids=(PROJECT, ""), **wanted)
    return lambda connection: audit.list_audit_records(connection, filter, PageRequest(cursor))


def _home(connection: sa.Connection) -> tuple[Any, ...]:
    """What somebody who comes in sees: what runs, what was done last, who is there."""
    return (
        _deployments(statuses=_OPEN)(connection),
        _deployments()(connection),
        _applications()(connection),
        agents.list_seen_agents(connection, PROJECT),
    )


#: What is asked for in each order.
_SORTED: dict[str, dict[str, Any]] = {
    "deployments": {},
    "deployments of a time": _WEEK,
    "deployments of a status": {"statuses": (DeploymentStatus.FAILED,)},
    "deployments of three statuses": {
        "statuses": (DeploymentStatus.FAILED, DeploymentStatus.CANCELLED, DeploymentStatus.RUNNING)
    },
    "deployments of a kind": {"kinds": (ApplicationKind.ECS,)},
    "deployments of an application": {"application_ids": (_APPLICATION,)},
    "deployments with a frequent label": {"labels": {"region": "r1"}},
    "deployments with a rare label": {"labels": {"service": "s7"}},
    "deployments with a label that nothing has": {"labels": {"team": "none"}},
    "deployments with two labels": {"labels": {"team": "t7", "region": "r1"}},
    "deployments seen by a pattern": {"scope": ({"team": "t7*"},)},
}
#: Pages in the order of an index: sorting would read all that fits for each page.
IN_ORDER: dict[str, Work] = {
    "deployments": _deployments(),
    "deployments, in the middle": _deployments(MIDDLE),
    "deployments of a status": _deployments(statuses=(DeploymentStatus.FAILED,)),
    "deployments of three statuses": _deployments(
        statuses=(DeploymentStatus.FAILED, DeploymentStatus.CANCELLED, DeploymentStatus.RUNNING)
    ),
    "deployments of a status, in the middle": _deployments(MIDDLE, statuses=(DeploymentStatus.CANCELLED,)),
    "deployments of a kind": _deployments(kinds=(ApplicationKind.ECS,)),
    "deployments of two kinds": _deployments(kinds=(ApplicationKind.ECS, ApplicationKind.LAMBDA)),
    "deployments of a kind and status": _deployments(kinds=(ApplicationKind.ECS,), statuses=(DeploymentStatus.FAILED,)),
    "deployments of an application": _deployments(application_ids=(_APPLICATION,)),
    "deployments of two applications": _deployments(application_ids=(_APPLICATION, "application-0000008")),
    "deployments of a name": _deployments(application_name="app-7"),
    "deployments with a frequent label": _deployments(labels={"region": "r1"}),
    "deployments with a frequent label, in the middle": _deployments(MIDDLE, labels={"region": "r1"}),
    "deployments with a label": _deployments(labels={"team": "t7"}),
    "deployments with a rare label": _deployments(labels={"service": "s7"}),
    "deployments with a label that nothing has": _deployments(labels={"team": "none"}),
    "deployments with two labels": _deployments(labels={"team": "t7", "region": "r1"}),
    "deployments with a label and a status": _deployments(labels={"team": "t7"}, statuses=(DeploymentStatus.FAILED,)),
    "deployments with a label, still open": _deployments(labels={"team": "t7"}, statuses=_OPEN),
    "deployments seen by one label": _deployments(scope=({"team": "t7"},)),
    "deployments seen by a pattern": _deployments(scope=({"team": "t7*"},)),
    "deployments seen by one of two patterns": _deployments(scope=({"team": "t7*"}, {"region": "r1", "team": "t8"})),
    "deployments of a time": _deployments(**_WEEK),
    "deployments, longest unchanged first": _deployments(page=_UNCHANGED_LONGEST),
    "deployments with a label, longest unchanged first": _deployments(page=_UNCHANGED_LONGEST, labels={"team": "t7"}),
    **{
        f"{name}, by creation{where}": _deployments(page=page, **wanted)
        for where, page in {
            "": _CREATED,
            ", in the middle": _CREATED_MIDDLE,
            ", oldest first": _OLDEST,
            ", oldest first, in the middle": _OLDEST_MIDDLE,
        }.items()
        for name, wanted in _SORTED.items()
    },
    "deployments to forget": lambda c: deployments.list_finished_deployments(c, PROJECT, START + _DAY, PageRequest()),
    "applications": _applications(),
    "applications, in the middle": _applications(MIDDLE),
    "applications of a kind": _applications(kinds=(ApplicationKind.ECS,)),
    "applications that are disabled": _applications(disabled=True),
    "applications with a frequent label": _applications(labels={"region": "r1"}),
    "applications seen by a pattern": _applications(scope=({"team": "t7*"},)),
    "commands": _commands(),
    "commands, in the middle": _commands(MIDDLE),
    "commands of an application": _commands(application_id=_APPLICATION),
    "commands of a deployment": _commands(deployment_id=_DEPLOYMENT),
    "commands of a status": _commands(status=CommandStatus.SUCCEEDED),
    "commands seen by a pattern": _commands(scope=({"team": "t7*"},)),
    "events": _events(),
    "events, in the middle": _events(MIDDLE),
    "events of a name": _events(name="image-7"),
    "events of a status": _events(status=EventStatus.SUCCEEDED),
    "events of a time": _events(since=_LATER, until=_LATER + _DAY),
    "chains": lambda c: chains.list_chains(c, PROJECT, PageRequest()),
    "chains, in the middle": lambda c: chains.list_chains(c, PROJECT, PageRequest(MIDDLE)),
    "audit": _audit(),
    "audit, in the middle": _audit(MIDDLE),
    "audit of an actor": _audit(actor="user-7"),
    "audit of an action": _audit(action="application.sync"),
    "audit of a subject": _audit(subject_id=_APPLICATION),
    "audit of a time": _audit(since=_LATER, until=_LATER + _DAY),
    "an agent's open deployments": lambda c: deployments.list_open_deployments(c, _AGENT, "", 10),
    "an agent's open deployments, next page": lambda c: deployments.list_open_deployments(c, _AGENT, MIDDLE, 10),
    "an agent's open deployments of two applications": lambda c: deployments.list_open_of_applications(
        c, _AGENT, (_APPLICATION, "application-0000008")
    ),
    "an agent's commands": lambda c: commands.list_unhandled_commands(c, _AGENT),
    "last deployment": lambda c: deployments.last_deployment(c, _APPLICATION, only_succeeded=False),
    "last successful deployment": lambda c: deployments.last_deployment(c, _APPLICATION, only_succeeded=True),
    "latest event": lambda c: events.latest_event(c, PROJECT, "image-7"),
    "events of a day, as agents ask": lambda c: events.list_events(
        c, PROJECT, START + timedelta(days=729), None, EventStatus.WAITING, newest_first=True
    ),
}
#: Found through an index; what is sorted afterwards are the few rows of one application, agent or name.
BY_INDEX: dict[str, Work] = {
    "home page": _home,
    "deployments of a name, by creation": _deployments(page=_CREATED, application_name="app-7"),
    "applications of a state": _applications(sync_statuses=(SyncStatus.OUT_OF_SYNC,), healths=(Health.UNHEALTHY,)),
    "applications of a name": _applications(name="app-7"),
    "applications of an agent": _applications(agent_id=_AGENT),
    "applications with a label": _applications(labels={"team": "t7", "region": "r1"}),
    "an agent's applications": lambda c: applications.list_agent_applications(c, _AGENT),
    "application by its path": lambda c: applications.find_by_path(c, PROJECT, "shop", "apps/app-7", "app.pipecd.yaml"),
    "agents": lambda c: agents.list_seen_agents(c, PROJECT),
    "API keys": lambda c: api_keys.list_api_keys(c, PROJECT),
    "project": lambda c: projects.load_project(c, PROJECT),
    "suggestions": lambda c: suggestions.list_suggestions(c, PROJECT),
    "webhooks": lambda c: webhooks.list_webhooks(c, PROJECT),
}
