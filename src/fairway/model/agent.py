"""A process near the target that acts: who it is, what it says it can do, and the keys it may show.

Keys are kept as hashes only; making and comparing them belongs to the server.
"""

import enum
from datetime import datetime

import msgspec

from fairway.model.application import Repository, UnusableFile


class ConnectionStatus(enum.Enum):
    """Whether an agent has been heard lately."""

    #: Never heard, or nobody looked.
    UNKNOWN = "unknown"
    #: Heard within the last minutes.
    ONLINE = "online"
    #: Heard once, but not lately.
    OFFLINE = "offline"


class EncryptionKind(enum.Enum):
    """How secrets for an agent are sealed."""

    #: They are not.
    NONE = "none"
    #: With the public key of a pair whose private key only the agent has.
    KEY_PAIR = "key_pair"
    #: With Google's key service; can be written in files, not used.
    GCP_KMS = "gcp_kms"
    #: With Amazon's key service; can be written in files, not used.
    AWS_KMS = "aws_kms"


class SecretEncryption(msgspec.Struct, frozen=True, kw_only=True):
    """What is needed to seal a secret for an agent."""

    kind: EncryptionKind = EncryptionKind.NONE
    #: PEM.
    public_key: str = ""
    encrypt_service_account: str = ""


class PlatformProvider(msgspec.Struct, frozen=True, kw_only=True):
    """A place a v0 agent deploys to."""

    name: str
    #: KUBERNETES, TERRAFORM …, as the agent's file says it.
    type: str


class AgentPlugin(msgspec.Struct, frozen=True, kw_only=True):
    """A plugin of a v1 agent and the places it deploys to."""

    name: str
    deploy_targets: tuple[str, ...] = ()


class AgentProfile(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent says about itself when it starts."""

    version: str = ""
    #: Its configuration as YAML, secrets masked.
    config: str = ""
    repositories: tuple[Repository, ...] = ()
    #: v0 only.
    platform_providers: tuple[PlatformProvider, ...] = ()
    #: v1 only.
    plugins: tuple[AgentPlugin, ...] = ()
    secret_encryption: SecretEncryption = SecretEncryption()


class AgentKey(msgspec.Struct, frozen=True, kw_only=True):
    """A key the agent may show; an agent has two only while one replaces the other."""

    hash: str
    creator: str
    created_at: datetime


class Agent(msgspec.Struct, frozen=True, kw_only=True):
    """One registered agent."""

    id: str
    name: str
    project_id: str
    created_at: datetime
    updated_at: datetime
    desc: str = ""
    keys: tuple[AgentKey, ...] = ()
    profile: AgentProfile = AgentProfile()
    status: ConnectionStatus = ConnectionStatus.UNKNOWN
    #: When it last introduced itself; `None` before the first time.
    started_at: datetime | None = None
    #: The version its launcher should run; empty means whichever it has.
    desired_version: str = ""
    disabled: bool = False
    #: The application files of its repositories that cannot be deployed, as it last reported them.
    unusable_files: tuple[UnusableFile, ...] = ()
