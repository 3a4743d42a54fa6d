"""The table of each noun: which columns people get. Pure: nouns and the time in, something to print out."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from fairway.cli.cards import ShownDeployment, application_word, short_commit, stage_word
from fairway.cli.output import ago, labels_text, short_ids, status, table, took
from fairway.model.application import Application
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.event import Event
from fairway.model.stage import StageStatus

if TYPE_CHECKING:
    from rich.console import RenderableType


def application_table(found: Sequence[Application], now: datetime) -> "RenderableType":
    """Applications: how they stand, and when somebody last deployed them."""
    ids = short_ids([each.id for each in found])
    rows = [
        (
            each.name,
            ids[each.id],
            status(application_word(each)),
            each.kind.value if each.kind else ", ".join(each.deploy_targets_by_plugin),
            ago(each.last_triggered.started_at if each.last_triggered else None, now),
            f"{each.git_path.repository.id}:{each.git_path.path}",
        )
        for each in found
    ]
    headers = ("NAME", "ID", "STATUS", "KIND", "LAST DEPLOYMENT", "PATH")
    return table(headers, rows, "no applications; `fairway app add` registers one")


def deployment_table(found: Sequence[ShownDeployment], now: datetime) -> "RenderableType":
    """Deployments: what each brings, and how far it is."""
    ids = short_ids([each.id for each in found])
    rows = [
        (
            ids[each.id],
            each.application_name,
            status(each.status.value),
            _stages(each),
            short_commit(each.trigger.commit),
            ago(each.created_at, now),
            took((each.completed_at or now) - each.created_at),
            _gist(each),
        )
        for each in found
    ]
    headers = ("ID", "APPLICATION", "STATUS", "STAGES", "COMMIT", "CREATED", "TOOK", "SUMMARY")
    return table(headers, rows, "no deployments")


#: Where the reason of the status matters more than what the deployment brings.
_TELL_WHY = frozenset(
    {DeploymentStatus.PENDING, DeploymentStatus.ROLLING_BACK, DeploymentStatus.FAILED, DeploymentStatus.CANCELLED}
)


def _gist(deployment: ShownDeployment) -> str:
    """Why it stands where somebody may have to do something, what it brings where it goes well."""
    if deployment.status is DeploymentStatus.PENDING and deployment.waiting_for:
        return f"waits for {deployment.waiting_for}"
    why = deployment.status_reason if deployment.status in _TELL_WHY else ""
    return why or deployment.summary or deployment.trigger.commit.message.partition("\n")[0]


def _stages(deployment: Deployment) -> str:
    """How many stages have ended, of how many; and the one thing that somebody has to do."""
    forward = [stage for stage in deployment.stages if not stage.is_rollback]
    ended = sum(stage.status is not StageStatus.NOT_STARTED and stage.status.is_terminal for stage in forward)
    waits = any(stage_word(stage) == "waits for approval" for stage in forward)
    return f"{ended}/{len(forward)}{' ◆' if waits and not deployment.status.is_terminal else ''}"


def event_table(found: Sequence[Event], now: datetime) -> "RenderableType":
    """Events: what was told, and what became of it."""
    ids = short_ids([each.id for each in found])
    rows = [
        (
            ids[each.id],
            each.name,
            status(each.status.value),
            each.data,
            labels_text(each.labels),
            ago(each.created_at, now),
            each.status_description,
        )
        for each in found
    ]
    headers = ("ID", "NAME", "STATUS", "DATA", "LABELS", "CREATED", "RESULT")
    return table(headers, rows, "no events")
