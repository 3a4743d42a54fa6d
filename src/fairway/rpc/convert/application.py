"""Applications: wire ⇄ model.

The wire's kind cannot be left out, and its zero means Kubernetes. A registered application that has deploy
targets is one of the newer generation and has no kind here. A discovered one carries no such sign: its kind
is what the number says, and a server that knows its agent to be of the newer generation drops it.
"""

from collections.abc import Mapping

from fairway.model.application import (
    Application,
    ApplicationKind,
    DeploymentReference,
    DiscoveredApplication,
    GitPath,
    Repository,
    SyncState,
    SyncStatus,
    UnusableFile,
)
from fairway.rpc.convert.trigger import (
    from_wire_trigger,
    from_wire_versions,
    to_wire_trigger,
    to_wire_versions,
)
from fairway.rpc.convert.wire_enum import WireEnum
from fairway.rpc.convert.wire_time import from_wire_time, from_wire_time_or_none, to_wire_time
from fairway.rpc.gen.fairway.agent.v1 import applications_pb2
from fairway.rpc.gen.pipecd.model import application_pb2, common_pb2, deployment_pb2

KINDS = WireEnum(
    "application kind",
    {
        ApplicationKind.KUBERNETES: common_pb2.KUBERNETES,
        ApplicationKind.TERRAFORM: common_pb2.TERRAFORM,
        ApplicationKind.LAMBDA: common_pb2.LAMBDA,
        ApplicationKind.CLOUDRUN: common_pb2.CLOUDRUN,
        ApplicationKind.ECS: common_pb2.ECS,
    },
)

SYNC_STATUSES = WireEnum(
    "sync status",
    {
        SyncStatus.UNKNOWN: application_pb2.UNKNOWN,
        SyncStatus.SYNCED: application_pb2.SYNCED,
        SyncStatus.DEPLOYING: application_pb2.DEPLOYING,
        SyncStatus.OUT_OF_SYNC: application_pb2.OUT_OF_SYNC,
        SyncStatus.INVALID_CONFIG: application_pb2.INVALID_CONFIG,
    },
)

#: How many unusable files an agent reports, and how long a reason may be.
MOST_UNUSABLE_FILES = 100
MOST_REASON = 2_000


def to_wire_application(application: Application) -> application_pb2.Application:
    succeeded, triggered = application.last_succeeded, application.last_triggered
    return application_pb2.Application(
        id=application.id,
        name=application.name,
        piped_id=application.agent_id,
        project_id=application.project_id,
        kind=to_wire_kind(application.kind),
        git_path=to_wire_git_path(application.git_path),
        platform_provider=application.platform_provider,
        deploy_targets_by_plugin=to_wire_deploy_targets(application.deploy_targets_by_plugin),
        description=application.description,
        labels=application.labels,
        most_recently_successful_deployment=to_wire_deployment_reference(succeeded) if succeeded else None,
        most_recently_triggered_deployment=to_wire_deployment_reference(triggered) if triggered else None,
        sync_state=to_wire_sync_state(application.sync_state) if application.sync_state else None,
        deploying=application.deploying,
        deleted_at=to_wire_time(application.deleted_at),
        deleted=application.deleted_at is not None,
        disabled=application.disabled,
        created_at=to_wire_time(application.created_at),
        updated_at=to_wire_time(application.updated_at),
    )


def from_wire_application(wire: application_pb2.Application) -> Application:
    succeeded = wire.HasField("most_recently_successful_deployment")
    triggered = wire.HasField("most_recently_triggered_deployment")
    return Application(
        id=wire.id,
        name=wire.name,
        agent_id=wire.piped_id,
        project_id=wire.project_id,
        kind=None if wire.deploy_targets_by_plugin else KINDS.from_wire(wire.kind),
        git_path=from_wire_git_path(wire.git_path),
        platform_provider=wire.platform_provider,
        deploy_targets_by_plugin=from_wire_deploy_targets(wire.deploy_targets_by_plugin),
        description=wire.description,
        labels=dict(wire.labels),
        last_succeeded=from_wire_deployment_reference(wire.most_recently_successful_deployment) if succeeded else None,
        last_triggered=from_wire_deployment_reference(wire.most_recently_triggered_deployment) if triggered else None,
        sync_state=from_wire_sync_state(wire.sync_state) if wire.HasField("sync_state") else None,
        deploying=wire.deploying,
        # Deleted without a time still is deleted; the last change is the nearest time there is.
        deleted_at=from_wire_time(wire.deleted_at or wire.updated_at) if wire.deleted else None,
        disabled=wire.disabled,
        created_at=from_wire_time(wire.created_at),
        updated_at=from_wire_time(wire.updated_at),
    )


def to_wire_discovered_application(found: DiscoveredApplication) -> common_pb2.ApplicationInfo:
    return common_pb2.ApplicationInfo(
        id=found.id,
        name=found.name,
        kind=to_wire_kind(found.kind),
        labels=found.labels,
        repo_id=found.repository_id,
        path=found.path,
        config_filename=found.config_filename,
        piped_id=found.agent_id,
        description=found.description,
    )


def from_wire_discovered_application(wire: common_pb2.ApplicationInfo) -> DiscoveredApplication:
    return DiscoveredApplication(
        id=wire.id,
        name=wire.name,
        kind=KINDS.from_wire(wire.kind),
        labels=dict(wire.labels),
        repository_id=wire.repo_id,
        path=wire.path,
        config_filename=wire.config_filename,
        agent_id=wire.piped_id,
        description=wire.description,
    )


def to_wire_unusable_file(unusable: UnusableFile) -> applications_pb2.UnusableFile:
    """A file that cannot be deployed, as our server takes it."""
    return applications_pb2.UnusableFile(
        repository_id=unusable.repository_id,
        file=unusable.file,
        reason=unusable.reason,
        application_id=unusable.application_id,
        nameless=unusable.nameless,
    )


def from_wire_unusable_file(wire: applications_pb2.UnusableFile) -> UnusableFile:
    """A file that cannot be deployed, as an agent reports it."""
    return UnusableFile(
        repository_id=wire.repository_id,
        file=wire.file,
        reason=wire.reason[:MOST_REASON],
        application_id=wire.application_id,
        nameless=wire.nameless,
    )


def to_wire_kind(kind: ApplicationKind | None) -> common_pb2.ApplicationKind:
    """The number; zero, which is Kubernetes, where there is no kind."""
    return common_pb2.KUBERNETES if kind is None else KINDS.to_wire(kind)


def to_wire_sync_state(state: SyncState) -> application_pb2.ApplicationSyncState:
    return application_pb2.ApplicationSyncState(
        status=SYNC_STATUSES.to_wire(state.status),
        short_reason=state.short_reason,
        reason=state.reason,
        head_deployment_id=state.head_deployment_id,
        timestamp=to_wire_time(state.at),
    )


def from_wire_sync_state(wire: application_pb2.ApplicationSyncState) -> SyncState:
    return SyncState(
        status=SYNC_STATUSES.from_wire(wire.status),
        short_reason=wire.short_reason,
        reason=wire.reason,
        head_deployment_id=wire.head_deployment_id,
        at=from_wire_time(wire.timestamp),
    )


def to_wire_deployment_reference(
    reference: DeploymentReference,
) -> application_pb2.ApplicationDeploymentReference:
    return application_pb2.ApplicationDeploymentReference(
        deployment_id=reference.deployment_id,
        trigger=to_wire_trigger(reference.trigger),
        summary=reference.summary,
        version=reference.version,
        config_filename=reference.config_filename,
        versions=to_wire_versions(reference.versions),
        started_at=to_wire_time(reference.started_at),
        completed_at=to_wire_time(reference.completed_at),
    )


def from_wire_deployment_reference(
    wire: application_pb2.ApplicationDeploymentReference,
) -> DeploymentReference:
    return DeploymentReference(
        deployment_id=wire.deployment_id,
        trigger=from_wire_trigger(wire.trigger),
        summary=wire.summary,
        version=wire.version,
        config_filename=wire.config_filename,
        versions=from_wire_versions(wire.versions),
        started_at=from_wire_time(wire.started_at),
        completed_at=from_wire_time_or_none(wire.completed_at),
    )


def to_wire_repository(repository: Repository) -> common_pb2.ApplicationGitRepository:
    return common_pb2.ApplicationGitRepository(id=repository.id, remote=repository.remote, branch=repository.branch)


def from_wire_repository(wire: common_pb2.ApplicationGitRepository) -> Repository:
    return Repository(id=wire.id, remote=wire.remote, branch=wire.branch)


def to_wire_git_path(git_path: GitPath) -> common_pb2.ApplicationGitPath:
    return common_pb2.ApplicationGitPath(
        repo=to_wire_repository(git_path.repository),
        path=git_path.path,
        config_filename=git_path.config_filename,
        url=git_path.url,
    )


def from_wire_git_path(wire: common_pb2.ApplicationGitPath) -> GitPath:
    return GitPath(
        repository=from_wire_repository(wire.repo),
        path=wire.path,
        config_filename=wire.config_filename,
        url=wire.url,
    )


def to_wire_deploy_targets(by_plugin: Mapping[str, tuple[str, ...]]) -> dict[str, deployment_pb2.DeployTargets]:
    return {plugin: deployment_pb2.DeployTargets(deploy_targets=targets) for plugin, targets in by_plugin.items()}


def from_wire_deploy_targets(wire: Mapping[str, deployment_pb2.DeployTargets]) -> dict[str, tuple[str, ...]]:
    return {plugin: tuple(targets.deploy_targets) for plugin, targets in wire.items()}
