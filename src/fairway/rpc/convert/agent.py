"""Agents, and what they say about themselves when they start: wire ⇄ model.

The wire has the profile's fields twice, in the stored agent and in the report at the start; both are read
and written by the same code, as the fields have the same names.
"""

from collections.abc import Iterable

from fairway.model.agent import (
    Agent,
    AgentKey,
    AgentPlugin,
    AgentProfile,
    ConnectionStatus,
    EncryptionKind,
    PlatformProvider,
    SecretEncryption,
)
from fairway.rpc.convert.application import from_wire_repository, to_wire_repository
from fairway.rpc.convert.wire_enum import WireEnum, WireError
from fairway.rpc.convert.wire_time import from_wire_time, from_wire_time_or_none, to_wire_time
from fairway.rpc.gen.pipecd.model import piped_pb2
from fairway.rpc.gen.pipecd.service import pipedservice_pb2

CONNECTION_STATUSES = WireEnum(
    "connection status",
    {
        ConnectionStatus.UNKNOWN: piped_pb2.Piped.UNKNOWN,
        ConnectionStatus.ONLINE: piped_pb2.Piped.ONLINE,
        ConnectionStatus.OFFLINE: piped_pb2.Piped.OFFLINE,
    },
)

#: On the wire the kind is text, and text that is empty means the same as NONE.
_ENCRYPTION_KINDS = {
    "": EncryptionKind.NONE,
    "NONE": EncryptionKind.NONE,
    "KEY_PAIR": EncryptionKind.KEY_PAIR,
    "GCP_KMS": EncryptionKind.GCP_KMS,
    "AWS_KMS": EncryptionKind.AWS_KMS,
}


def to_wire_agent(agent: Agent) -> piped_pb2.Piped:
    profile = agent.profile
    return piped_pb2.Piped(
        id=agent.id,
        name=agent.name,
        desc=agent.desc,
        project_id=agent.project_id,
        version=profile.version,
        started_at=to_wire_time(agent.started_at),
        repositories=[to_wire_repository(repository) for repository in profile.repositories],
        status=CONNECTION_STATUSES.to_wire(agent.status),
        config=profile.config,
        platform_providers=_to_wire_platform_providers(profile.platform_providers),
        plugins=_to_wire_plugins(profile.plugins),
        secret_encryption=_to_wire_secret_encryption(profile.secret_encryption),
        keys=[
            piped_pb2.PipedKey(hash=key.hash, creator=key.creator, created_at=to_wire_time(key.created_at))
            for key in agent.keys
        ],
        desired_version=agent.desired_version,
        disabled=agent.disabled,
        created_at=to_wire_time(agent.created_at),
        updated_at=to_wire_time(agent.updated_at),
    )


def from_wire_agent(wire: piped_pb2.Piped) -> Agent:
    return Agent(
        id=wire.id,
        name=wire.name,
        desc=wire.desc,
        project_id=wire.project_id,
        profile=from_wire_profile(wire),
        started_at=from_wire_time_or_none(wire.started_at),
        status=CONNECTION_STATUSES.from_wire(wire.status),
        keys=tuple(
            AgentKey(hash=key.hash, creator=key.creator, created_at=from_wire_time(key.created_at)) for key in wire.keys
        ),
        desired_version=wire.desired_version,
        disabled=wire.disabled,
        created_at=from_wire_time(wire.created_at),
        updated_at=from_wire_time(wire.updated_at),
    )


def to_wire_profile(profile: AgentProfile) -> pipedservice_pb2.ReportPipedMetaRequest:
    """The report that an agent sends when it starts."""
    return pipedservice_pb2.ReportPipedMetaRequest(
        version=profile.version,
        config=profile.config,
        repositories=[to_wire_repository(repository) for repository in profile.repositories],
        platform_providers=_to_wire_platform_providers(profile.platform_providers),
        plugins=_to_wire_plugins(profile.plugins),
        secret_encryption=_to_wire_secret_encryption(profile.secret_encryption),
    )


def from_wire_profile(wire: pipedservice_pb2.ReportPipedMetaRequest | piped_pb2.Piped) -> AgentProfile:
    """The profile in such a report, or in a stored agent."""
    return AgentProfile(
        version=wire.version,
        config=wire.config,
        repositories=tuple(from_wire_repository(repository) for repository in wire.repositories),
        platform_providers=tuple(
            PlatformProvider(name=provider.name, type=provider.type) for provider in wire.platform_providers
        ),
        plugins=tuple(
            AgentPlugin(name=plugin.name, deploy_targets=tuple(plugin.deploy_targets)) for plugin in wire.plugins
        ),
        secret_encryption=_from_wire_secret_encryption(wire.secret_encryption),
    )


def _to_wire_platform_providers(
    providers: Iterable[PlatformProvider],
) -> list[piped_pb2.Piped.PlatformProvider]:
    return [piped_pb2.Piped.PlatformProvider(name=p.name, type=p.type) for p in providers]


def _to_wire_plugins(plugins: Iterable[AgentPlugin]) -> list[piped_pb2.Piped.Plugin]:
    return [piped_pb2.Piped.Plugin(name=p.name, deploy_targets=p.deploy_targets) for p in plugins]


def _to_wire_secret_encryption(encryption: SecretEncryption) -> piped_pb2.Piped.SecretEncryption:
    return piped_pb2.Piped.SecretEncryption(
        type=encryption.kind.name,
        public_key=encryption.public_key,
        encrypt_service_account=encryption.encrypt_service_account,
    )


def _from_wire_secret_encryption(wire: piped_pb2.Piped.SecretEncryption) -> SecretEncryption:
    if wire.type not in _ENCRYPTION_KINDS:
        known = ", ".join(name for name in _ENCRYPTION_KINDS if name)
        raise WireError(f"secret encryption {wire.type!r} is not known; expected {known}")
    return SecretEncryption(
        kind=_ENCRYPTION_KINDS[wire.type],
        public_key=wire.public_key,
        encrypt_service_account=wire.encrypt_service_account,
    )
