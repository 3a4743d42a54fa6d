"""The key pair with which the agent of `fairway up` opens sealed values.

It is made once and never written over: whatever was sealed with it could not be opened any more.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fairway.cli.up.places import Places, write_private


def secret_management(places: Places, before: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """What the agent's file says under `secretManagement`: what its user wrote, or our own pair, made if need be."""
    if before is not None and not _is_lost(places, before):
        return before
    _make_pair(places)
    files = {"privateKeyFile": places.sealing_key, "publicKeyFile": places.public_sealing_key}
    return {"type": "KEY_PAIR", "config": {name: str(file.absolute()) for name, file in files.items()}}


def _is_lost(places: Places, management: Mapping[str, Any]) -> bool:
    """Whether it names our own pair where that is not, as after the data directory was moved."""
    named = Path((management.get("config") or {}).get("privateKeyFile", ""))
    return named.name == places.sealing_key.name and not named.exists()


def _make_pair(places: Places) -> None:
    # With cryptography, which is needed once in the life of a data directory.
    from fairway.secrets.sealed import PrivateKey, generate_key_pair

    if not places.sealing_key.exists():
        write_private(places.sealing_key, generate_key_pair().private_key_pem.reveal())
    # From the private one: whoever is killed in between goes on with that.
    if not places.public_sealing_key.exists():
        write_private(places.public_sealing_key, PrivateKey.from_pem(places.sealing_key.read_text()).public_key_pem())
