"""What actions work with, over a real store, and one of each noun to act on."""

import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import Connection

from fairway.clock import FakeClock
from fairway.model.agent import AgentKey
from fairway.model.api_key import APIKey
from fairway.model.audit import AuditRecord
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.role import ADMIN, Role
from fairway.model.stage import ManualOperation, StageStatus
from fairway.server.actions.desk import ActionDesk
from fairway.server.callers import Caller, CallerKind
from fairway.server.logs import LogStore
from fairway.server.store import agents, api_keys, applications, deployments, projects
from fairway.server.store.audit import AuditFilter, list_audit_records
from fairway.server.store.leases import Lease, change_lease
from fairway.server.store.page import PageRequest
from fairway.server.store.projects import Project
from fairway.server.store.store import Store
from tests.integration.server.recorded_hints import RecordedHints
from tests.unit.model.builders import a_deployment, a_stage
from tests.unit.server.user.builders import NOW, an_agent, an_application

#: From where callers of these tests come.
ADDRESS = "198.51.100.7"


class Acting(msgspec.Struct, frozen=True):
    """A desk, and what is behind it."""

    desk: ActionDesk
    clock: FakeClock
    hints: RecordedHints
    #: Agents and API keys whose keys are not to be trusted any longer.
    forgotten: list[str]

    @property
    def store(self) -> Store:
        return self.desk.store

    async def audited(self, project_id: str = "acme") -> tuple[AuditRecord, ...]:
        """The records of a project, newest first."""
        wanted = AuditFilter(project_ids=(project_id,))
        found = await self.store.read(lambda c: list_audit_records(c, wanted, PageRequest(limit=1000)))
        return found.items

    async def add(self, insert: Callable[[Connection, Any], None], *nouns: object) -> None:
        """Put nouns into the store."""

        def insert_all(connection: Connection) -> None:
            for noun in nouns:
                insert(connection, noun)

        await self.store.write(insert_all)


def a_caller(*roles: Role, **fields: Any) -> Caller:
    known: dict[str, Any] = {"kind": CallerKind.USER, "name": "ada", "project_id": "acme", "address": ADDRESS}
    return Caller(**{**known, "roles": roles, **fields})


def an_admin(**fields: Any) -> Caller:
    return a_caller(ADMIN, **fields)


def a_running_deployment(id: str = "d-1", **fields: Any) -> Deployment:
    """With a stage that waits for a yes and one that can be skipped."""
    stages = (
        a_stage("ask", name="WAIT_APPROVAL", status=StageStatus.RUNNING, available_operation=ManualOperation.APPROVE),
        a_stage("look", name="ANALYSIS", status=StageStatus.RUNNING, available_operation=ManualOperation.SKIP),
        a_stage("next", name="K8S_PRIMARY_ROLLOUT"),
    )
    known: dict[str, Any] = {"project_id": "acme", "agent_id": "agent-1", "application_id": "cart", "stages": stages}
    return a_deployment(**{"id": id, **known, "status": DeploymentStatus.RUNNING, **fields})


def an_agent_key(number: int) -> AgentKey:
    return AgentKey(hash=f"sha256$hash-{number}", creator="ada", created_at=NOW + timedelta(minutes=number))


def an_api_key(id: str = "key-1", **fields: Any) -> APIKey:
    known = {"name": "ci", "key_hash": "sha256$hash", "project_id": "acme", "creator": "ada"}
    return APIKey(**{"id": id, **known, "created_at": NOW, "updated_at": NOW, **fields})


@asynccontextmanager
async def acting(folder: Path, database: str) -> AsyncIterator[Acting]:
    """A desk on a database that holds a project, an agent, an application and a deployment of it."""
    store = await Store.open(database)
    logs = LogStore.open(folder / "logs")
    hints, clock, forgotten = RecordedHints(), FakeClock(NOW), list[str]()
    numbers = itertools.count(1)
    desk = ActionDesk(
        store=store,
        logs=logs,
        hints=hints,
        clock=clock,
        new_id=lambda: f"new-{next(numbers)}",
        forget_agent=forgotten.append,
        forget_key=forgotten.append,
    )
    parts = Acting(desk, clock, hints, forgotten)
    await parts.add(projects.insert_project, Project(id="acme", created_at=NOW, updated_at=NOW))
    keys = tuple(an_agent_key(number) for number in (1, 2))
    await parts.add(
        agents.insert_agent,
        an_agent(keys=keys[:1]),
        an_agent("agent-2", keys=keys),
        an_agent("agent-off", disabled=True),
    )
    await parts.add(_insert_lease, a_lease())
    await parts.add(api_keys.insert_api_key, an_api_key())
    await parts.add(
        applications.insert_application, an_application(labels={"env": "dev"}), an_application("idle", disabled=True)
    )
    await parts.add(deployments.insert_deployment, a_running_deployment(labels={"env": "dev"}))
    try:
        yield parts
    finally:
        await logs.close()
        await store.close()


def a_lease() -> Lease:
    return Lease(
        id="agent-1",
        fencing_token=1,
        holder="h",
        description="host a, pid 7",
        held_since=NOW,
        seconds=15.0,
        beat="b",
    )


def _insert_lease(connection: Connection, lease: Lease) -> None:
    change_lease(connection, lease.id, lambda _: lease)
