"""Commit, trigger and artifact versions: wire ⇄ model."""

from collections.abc import Iterable

from fairway.model.artifact import ArtifactKind, ArtifactVersion
from fairway.model.trigger import Commit, SyncStrategy, Trigger
from fairway.rpc.convert.wire_enum import WireEnum
from fairway.rpc.convert.wire_time import from_wire_time, to_wire_time
from fairway.rpc.gen.pipecd.model import common_pb2, deployment_pb2

SYNC_STRATEGIES = WireEnum(
    "sync strategy",
    {
        SyncStrategy.AUTO: common_pb2.AUTO,
        SyncStrategy.QUICK_SYNC: common_pb2.QUICK_SYNC,
        SyncStrategy.PIPELINE: common_pb2.PIPELINE,
    },
)

ARTIFACT_KINDS = WireEnum(
    "artifact kind",
    {
        ArtifactKind.UNKNOWN: common_pb2.ArtifactVersion.UNKNOWN,
        ArtifactKind.CONTAINER_IMAGE: common_pb2.ArtifactVersion.CONTAINER_IMAGE,
        ArtifactKind.S3_OBJECT: common_pb2.ArtifactVersion.S3_OBJECT,
        ArtifactKind.GIT_SOURCE: common_pb2.ArtifactVersion.GIT_SOURCE,
        ArtifactKind.TERRAFORM_MODULE: common_pb2.ArtifactVersion.TERRAFORM_MODULE,
    },
)


def to_wire_trigger(trigger: Trigger) -> deployment_pb2.DeploymentTrigger:
    return deployment_pb2.DeploymentTrigger(
        commit=to_wire_commit(trigger.commit),
        commander=trigger.commander,
        timestamp=to_wire_time(trigger.at),
        sync_strategy=SYNC_STRATEGIES.to_wire(trigger.sync_strategy),
        strategy_summary=trigger.strategy_summary,
    )


def from_wire_trigger(wire: deployment_pb2.DeploymentTrigger) -> Trigger:
    return Trigger(
        commit=from_wire_commit(wire.commit),
        commander=wire.commander,
        at=from_wire_time(wire.timestamp),
        sync_strategy=SYNC_STRATEGIES.from_wire(wire.sync_strategy),
        strategy_summary=wire.strategy_summary,
    )


def to_wire_commit(commit: Commit) -> deployment_pb2.Commit:
    return deployment_pb2.Commit(
        hash=commit.hash,
        message=commit.message,
        author=commit.author,
        branch=commit.branch,
        pull_request=commit.pull_request,
        url=commit.url,
        created_at=to_wire_time(commit.created_at),
    )


def from_wire_commit(wire: deployment_pb2.Commit) -> Commit:
    return Commit(
        hash=wire.hash,
        message=wire.message,
        author=wire.author,
        branch=wire.branch,
        pull_request=wire.pull_request,
        url=wire.url,
        created_at=from_wire_time(wire.created_at),
    )


def to_wire_versions(versions: Iterable[ArtifactVersion]) -> list[common_pb2.ArtifactVersion]:
    return [
        common_pb2.ArtifactVersion(
            kind=ARTIFACT_KINDS.to_wire(version.kind),
            version=version.version,
            name=version.name,
            url=version.url,
        )
        for version in versions
    ]


def from_wire_versions(wire: Iterable[common_pb2.ArtifactVersion]) -> tuple[ArtifactVersion, ...]:
    return tuple(
        ArtifactVersion(
            kind=ARTIFACT_KINDS.from_wire(version.kind),
            version=version.version,
            name=version.name,
            url=version.url,
        )
        for version in wire
    )
