"""`fairway encrypt`: seal a secret on this machine, so that only one agent can open it.

The server gives the agent's public key and never sees the secret.
"""

import base64
import sys
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from fairway.cli.call import Call, UsageError, with_server
from fairway.cli.find import find_id
from fairway.cli.remote import segments
from fairway.cli.suggest import agents
from fairway.model.agent import EncryptionKind

commands = typer.Typer(add_completion=False)


class PublicKey(msgspec.Struct, frozen=True):
    """What the server says about sealing for an agent."""

    kind: EncryptionKind
    public_key: str = ""


@commands.command("encrypt")
@with_server
def encrypt(
    call: Call,
    agent: Annotated[str, typer.Option(help="The agent that may open it: id or name.", autocompletion=agents)],
    input_file: Annotated[
        Path | None, typer.Option(help="A file with the secret; without it, stdin.", exists=True, dir_okay=False)
    ] = None,
    as_base64: Annotated[
        bool, typer.Option("--base64", help="Encode the secret with base64 first, as binary data needs.")
    ] = False,
) -> None:
    """Seal a secret for an agent, here on this machine; only the sealed text is printed.

    The secret comes from a file or from stdin, byte for byte. What is typed at
    the prompt is not shown. An empty secret is refused.
    """
    from fairway.secrets.sealed import seal

    agent_id = find_id(call, "agents", agent)
    key = call.get(PublicKey, segments("agents", agent_id, "public-key"))
    if key.kind is not EncryptionKind.KEY_PAIR or not key.public_key:
        raise UsageError(f"agent {agent_id} has no key pair; give it one in its configuration (secretManagement)")
    sealed = seal(as_text(_secret(input_file), as_base64), key.public_key)
    if call.as_json:
        call.print_json(msgspec.json.encode({"ciphertext": sealed}))
    else:
        typer.echo(sealed)


def as_text(secret: bytes, as_base64: bool) -> str:
    """The secret as it is sealed; UsageError for an empty one, and for bytes that are no text, without showing any."""
    if not secret.strip():
        raise UsageError("the secret is empty; is a variable or a file that should hold it empty?")
    if as_base64:
        return base64.b64encode(secret).decode()
    try:
        return secret.decode()
    except UnicodeDecodeError:
        # Not chained: that error carries the secret.
        raise UsageError("the secret is not UTF-8 text; give --base64 for binary data") from None


def _secret(input_file: Path | None) -> bytes:
    if input_file is not None:
        return input_file.read_bytes()
    if sys.stdin.isatty():
        return str(typer.prompt("Secret", hide_input=True, err=True)).encode()
    return sys.stdin.buffer.read()
