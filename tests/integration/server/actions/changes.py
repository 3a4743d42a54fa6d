"""Every action that changes something, each asked for in a way that succeeds, and the record it must leave."""

from collections.abc import Awaitable, Callable

import msgspec
import pytest

from fairway.server.actions import applications, deployments
from fairway.server.actions.applications import ApplicationChange, NewApplication
from fairway.server.actions.desk import ActionDesk
from fairway.server.callers import Caller


class Change(msgspec.Struct, frozen=True):
    """One action."""

    #: What its record says was done, and to what.
    action: str
    subject_id: str
    ask: Callable[[ActionDesk, Caller], Awaitable[object]]


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
}

every_change = pytest.mark.parametrize("change", [pytest.param(made, id=f.__name__) for f, made in CHANGES.items()])
