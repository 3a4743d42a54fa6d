"""An agent's file made ready to run: keys read, the line to the server described, secrets masked for the report.

Everything that can be wrong with a file and the files it names is found here, before anything is started.
"""

import base64
import binascii
from pathlib import Path
from typing import TYPE_CHECKING

import grpc
import msgspec
from grpc import aio

from fairway.agent.launcher.link import Link
from fairway.agent.masked_config import masked
from fairway.agent.settings import AgentSettings
from fairway.config.agent import AgentConfig
from fairway.config.agent_file import SecretManagement
from fairway.config.read import read_agent
from fairway.errors import UserError
from fairway.home import from_home
from fairway.model.agent import EncryptionKind, SecretEncryption
from fairway.rpc.channel import CHANNEL_OPTIONS

if TYPE_CHECKING:
    from fairway.secrets.sealed import PrivateKey

#: A server that is back is found within seconds, or somebody else would be taken for the one who lives. Left to itself
#: gRPC waits for minutes after a longer outage.
_OPTIONS = (*CHANNEL_OPTIONS, ("grpc.max_reconnect_backoff_ms", 3_000))


class AgentStartError(UserError):
    """An agent that cannot start as it was told to."""


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """How the server is called."""

    #: Without TLS.
    insecure: bool = False
    #: A certificate to trust instead of the system's.
    certificate: Path | None = None


def agent_settings(text: bytes, file: str, data: Path, line: Line, link: Link | None = None) -> AgentSettings:
    """What `run_agent` is told, from the text of an agent's file."""
    config = read_agent(text, file)
    private = _private_key(config.secret_management)
    token = f"{config.project_id},{config.agent_id},{_key(config)}"
    return AgentSettings(
        config=config,
        # Programs that run elsewhere are told of it.
        data=data.absolute(),
        # After the keys were read: a line that nobody uses would stay open.
        channel=_channel(config.api_address, line),
        token=token,
        unsealer=private,
        secret_encryption=_encryption(private),
        masked_config=masked(text),
        link=link or Link(),
    )


def _key(config: AgentConfig) -> str:
    if config.key_data:
        return _decoded(config.key_data, "pipedKeyData").strip()
    return _read(config.key_file, "pipedKeyFile").strip()


def _private_key(management: SecretManagement | None) -> "PrivateKey | None":
    if management is None or management.config is None:
        return None
    from fairway.secrets.sealed import PrivateKey  # with cryptography, which an agent without a key can spare

    pair = management.config
    if pair.private_key_data:
        return PrivateKey.from_pem(_decoded(pair.private_key_data, "secretManagement.config.privateKeyData"))
    return PrivateKey.from_pem(_read(pair.private_key_file, "secretManagement.config.privateKeyFile"))


def _encryption(private: "PrivateKey | None") -> SecretEncryption:
    if private is None:
        return SecretEncryption()
    # Worked out from the private one: a public key that does not fit it would seal what nobody can open.
    return SecretEncryption(kind=EncryptionKind.KEY_PAIR, public_key=private.public_key_pem())


def _channel(address: str, line: Line) -> aio.Channel:
    if line.insecure:
        return aio.insecure_channel(address, options=_OPTIONS)
    trusted = None if line.certificate is None else _read(str(line.certificate), "--cert-file").encode()
    return aio.secure_channel(address, grpc.ssl_channel_credentials(trusted), options=_OPTIONS)


def _read(path: str, name: str) -> str:
    try:
        return from_home(path).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise AgentStartError(
            f"{name}: {path} cannot be read ({error}); the agent does not start without it"
        ) from error


def _decoded(text: str, name: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError) as error:
        raise AgentStartError(f"{name} is no base64 of a text; encode the key with base64") from error
