"""Every action that changes something, each asked for in a way that succeeds, and the record it must leave."""

from collections.abc import Awaitable, Callable

import msgspec
import pytest

from fairway.model.api_key import APIKeyRole
from fairway.server.actions import (
    agents,
    api_keys,
    applications,
    deployments,
    events,
    leases,
    plan_previews,
    projects,
)
from fairway.server.actions.agents import AgentChange
from fairway.server.actions.applications import ApplicationChange, NewApplication
from fairway.server.actions.desk import ActionDesk
from fairway.server.actions.events import NewEvent
from fairway.server.actions.plan_previews import PreviewRequest
from fairway.server.callers import Caller


class Change(msgspec.Struct, frozen=True):
    """One action."""

    #: What its record says was done, and to what.
    action: str
    subject_id: str
    ask: Callable[[ActionDesk, Caller], Awaitable[object]]
    #: Where its record is; empty for what holds for the whole server.
    project_id: str = "acme"
    #: Whether it is done to nothing that is there yet, so that it cannot be done to something of another project.
    makes: bool = False


_IMAGE = NewEvent(name="image", data="v2")
_MERGE = PreviewRequest(
    remote="https://ada:s3cret@github.com/acme/shop", head_branch="topic", head_commit="c0ffee", base_branch="main"
)
_NEW = NewApplication(name="pay", agent_id="agent-1", repository_id="shop", path="apps/pay")

CHANGES = {
    applications.add_application: Change(
        "application.create", "new-1", lambda desk, who: applications.add_application(desk, who, _NEW)
    ),
    applications.update_application: Change(
        "application.update",
        "cart",
        lambda desk, who: applications.update_application(desk, who, "cart", ApplicationChange(name="basket")),
    ),
    applications.rename_config_files: Change(
        "application.update",
        "cart",
        lambda desk, who: applications.rename_config_files(desk, who, ("cart",), "new.yaml"),
    ),
    applications.disable_application: Change(
        "application.disable", "cart", lambda desk, who: applications.disable_application(desk, who, "cart")
    ),
    applications.enable_application: Change(
        "application.enable", "idle", lambda desk, who: applications.enable_application(desk, who, "idle")
    ),
    applications.delete_application: Change(
        "application.delete", "cart", lambda desk, who: applications.delete_application(desk, who, "cart")
    ),
    applications.sync_application: Change(
        "application.sync", "cart", lambda desk, who: applications.sync_application(desk, who, "cart")
    ),
    deployments.cancel_deployment: Change(
        "deployment.cancel", "d-1", lambda desk, who: deployments.cancel_deployment(desk, who, "d-1")
    ),
    deployments.approve_stage: Change(
        "deployment.approve_stage", "d-1", lambda desk, who: deployments.approve_stage(desk, who, "d-1", "ask")
    ),
    deployments.skip_stage: Change(
        "deployment.skip_stage", "d-1", lambda desk, who: deployments.skip_stage(desk, who, "d-1", "look")
    ),
    plan_previews.request_plan_preview: Change(
        "deployment.preview",
        "c0ffee",
        lambda desk, who: plan_previews.request_plan_preview(desk, who, _MERGE),
        makes=True,
    ),
    agents.register_agent: Change(
        "agent.create", "new-1", lambda desk, who: agents.register_agent(desk, who, "prod"), makes=True
    ),
    agents.update_agent: Change(
        "agent.update",
        "agent-1",
        lambda desk, who: agents.update_agent(desk, who, "agent-1", AgentChange(desired_version="v2")),
    ),
    agents.enable_agent: Change(
        "agent.enable", "agent-off", lambda desk, who: agents.enable_agent(desk, who, "agent-off")
    ),
    agents.disable_agent: Change(
        "agent.disable", "agent-1", lambda desk, who: agents.disable_agent(desk, who, "agent-1")
    ),
    agents.add_agent_key: Change(
        "agent.add_key", "agent-1", lambda desk, who: agents.add_agent_key(desk, who, "agent-1")
    ),
    agents.drop_oldest_agent_key: Change(
        "agent.drop_oldest_key", "agent-2", lambda desk, who: agents.drop_oldest_agent_key(desk, who, "agent-2")
    ),
    agents.restart_agent: Change(
        "agent.restart", "agent-1", lambda desk, who: agents.restart_agent(desk, who, "agent-1")
    ),
    leases.release_lease: Change(
        "agent.release", "agent-1", lambda desk, who: leases.release_lease(desk, who, "agent-1")
    ),
    api_keys.create_api_key: Change(
        "api_key.create",
        "new-1",
        lambda desk, who: api_keys.create_api_key(desk, who, "ci", APIKeyRole.READ_WRITE),
        makes=True,
    ),
    api_keys.disable_api_key: Change(
        "api_key.disable", "key-1", lambda desk, who: api_keys.disable_api_key(desk, who, "key-1")
    ),
    events.register_event: Change(
        "event.create", "new-1", lambda desk, who: events.register_event(desk, who, _IMAGE), makes=True
    ),
    projects.create_project: Change(
        "project.create", "more", lambda desk, who: projects.create_project(desk, who, "more"), "", makes=True
    ),
    projects.change_project: Change(
        "project.update", "acme", lambda desk, who: projects.change_project(desk, who, "acme", "Shops"), makes=True
    ),
}

every_change = pytest.mark.parametrize("change", [pytest.param(made, id=f.__name__) for f, made in CHANGES.items()])
