"""One deployable thing in Git, as the server knows it: where it lives, where it goes, how it stands.

What its file says in detail is `config.application`; this is the record that agents list and report on.
"""

import enum
from datetime import datetime

import msgspec

from fairway.model.artifact import ArtifactVersion
from fairway.model.trigger import Trigger


class ApplicationKind(enum.Enum):
    """The platform of a v0 application. v1 applications have none: their plugins say it."""

    #: Manifests, Kustomize or Helm on a Kubernetes cluster.
    KUBERNETES = "kubernetes"
    #: A Terraform root module.
    TERRAFORM = "terraform"
    #: One AWS Lambda function.
    LAMBDA = "lambda"
    #: One Cloud Run service.
    CLOUDRUN = "cloudrun"
    #: One Amazon ECS service or task.
    ECS = "ecs"


class SyncStatus(enum.Enum):
    """How what runs compares with what Git says."""

    #: Nobody has looked yet, or looking failed.
    UNKNOWN = "unknown"
    #: What runs is what Git says.
    SYNCED = "synced"
    #: A deployment is on its way, so a difference is expected.
    DEPLOYING = "deploying"
    #: What runs differs from Git.
    OUT_OF_SYNC = "out_of_sync"
    #: The application's file cannot be read, so nothing can be compared.
    INVALID_CONFIG = "invalid_config"


class SyncState(msgspec.Struct, frozen=True, kw_only=True):
    """One comparison of what runs with what Git says."""

    status: SyncStatus
    at: datetime
    short_reason: str = ""
    reason: str = ""
    #: The deployment that was under way when this was seen; empty when none was.
    head_deployment_id: str = ""


class Repository(msgspec.Struct, frozen=True, kw_only=True):
    """A Git repository under the name that the agent's configuration gives it."""

    id: str
    remote: str = ""
    branch: str = ""


class GitPath(msgspec.Struct, frozen=True, kw_only=True):
    """Where an application's directory is."""

    repository: Repository
    #: From the root of the repository, without a leading slash.
    path: str
    #: Empty means the agent's default file name.
    config_filename: str = ""
    #: A page that shows the directory.
    url: str = ""


class DeploymentReference(msgspec.Struct, frozen=True, kw_only=True):
    """What an application remembers of its latest triggered, or latest successful, deployment."""

    deployment_id: str
    trigger: Trigger
    started_at: datetime
    summary: str = ""
    #: One version in words, as older agents report it; `versions` has them all.
    version: str = ""
    versions: tuple[ArtifactVersion, ...] = ()
    config_filename: str = ""
    completed_at: datetime | None = None


class Application(msgspec.Struct, frozen=True, kw_only=True):
    """One registered application."""

    id: str
    name: str
    agent_id: str
    project_id: str
    git_path: GitPath
    created_at: datetime
    updated_at: datetime
    #: v0 only.
    kind: ApplicationKind | None = None
    #: v0 only: the name of the place it is deployed to.
    platform_provider: str = ""
    #: v1 only: plugin name → names of the places that plugin deploys to.
    deploy_targets_by_plugin: dict[str, tuple[str, ...]] = {}
    description: str = ""
    labels: dict[str, str] = {}
    #: The latest deployment that succeeded: the source of "what runs now".
    last_succeeded: DeploymentReference | None = None
    #: The latest deployment that was created, whatever became of it.
    last_triggered: DeploymentReference | None = None
    sync_state: SyncState | None = None
    #: Whether a deployment is being planned or run.
    deploying: bool = False
    disabled: bool = False
    #: Set for ever once the application is deleted.
    deleted_at: datetime | None = None


class UnusableFile(msgspec.Struct, frozen=True, kw_only=True):
    """An application's file in Git that cannot be deployed."""

    repository_id: str
    #: From the root of the repository.
    file: str
    reason: str
    #: The application that the file belongs to; empty when none of the agent's has it.
    application_id: str = ""
    #: Whether nothing is wrong but that it has no name, which matters only while no application is registered for it.
    nameless: bool = False


class DiscoveredApplication(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent read in Git about an application, registered or not."""

    #: Empty when nobody has registered it yet.
    id: str = ""
    name: str
    agent_id: str
    repository_id: str
    path: str
    config_filename: str
    kind: ApplicationKind | None = None
    labels: dict[str, str] = {}
    description: str = ""
