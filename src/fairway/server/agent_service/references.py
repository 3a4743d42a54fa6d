"""What an application remembers of its latest deployments, and which of two is the later: pure."""

from datetime import datetime

import msgspec

from fairway.model.application import Application, DeploymentReference
from fairway.model.deployment import Deployment


def reference_to(deployment: Deployment) -> DeploymentReference:
    """What an application remembers of this deployment."""
    return DeploymentReference(
        deployment_id=deployment.id,
        trigger=deployment.trigger,
        started_at=deployment.created_at,
        summary=deployment.summary,
        versions=deployment.versions,
        config_filename=deployment.git_path.config_filename,
        completed_at=deployment.completed_at,
    )


def with_triggered(application: Application, reference: DeploymentReference, at: datetime) -> Application:
    """The application with the deployment that was triggered last; itself when it knew one that is later."""
    known = application.last_triggered
    if known is not None and (
        known == reference or _is_later(known, reference, known.started_at, reference.started_at)
    ):
        return application
    return msgspec.structs.replace(application, last_triggered=reference, updated_at=at)


def with_succeeded(application: Application, reference: DeploymentReference, at: datetime) -> Application:
    """The application with the deployment that succeeded last; itself when it knew one that is later."""
    known = application.last_succeeded
    if known is not None and (known == reference or _is_later(known, reference, _ended(known), _ended(reference))):
        return application
    return msgspec.structs.replace(application, last_succeeded=reference, updated_at=at)


def _is_later(known: DeploymentReference, reported: DeploymentReference, known_at: datetime, at: datetime) -> bool:
    return known.deployment_id != reported.deployment_id and known_at > at


def _ended(reference: DeploymentReference) -> datetime:
    return reference.completed_at or reference.started_at
