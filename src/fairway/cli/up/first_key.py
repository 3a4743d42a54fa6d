"""The key with which `fairway up` calls its own server.

It is made in the server's store, not taken from what the server prints on its first start: whoever is killed in between
simply makes another one.
"""

import asyncio
import getpass
import re
import secrets
from contextlib import suppress
from pathlib import Path

from fairway.cli.up.places import Places, write_private

_BYTES_OF_ID = 4
_NOT_IN_IDS = re.compile(r"[^a-z0-9]+")
_SOMEBODY = "you"


def api_key(places: Places) -> str:
    """The key, made on the first call. The server must not be running then."""
    try:
        return places.api_key.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        places.server.mkdir(mode=0o700, exist_ok=True)
        key = asyncio.run(_made(places.server.absolute() / "fairway.db"))
        write_private(places.api_key, f"{key}\n")
        return key


async def _made(database: Path) -> str:
    # Loaded once in the life of a data directory.
    from fairway.clock import SystemClock
    from fairway.model.api_key import APIKey, APIKeyRole
    from fairway.server.first_start import PROJECT, prepare_first_start
    from fairway.server.keys import new_api_key
    from fairway.server.store import api_keys
    from fairway.server.store.store import Store

    clock = SystemClock()
    store = await Store.open(f"sqlite:///{database}")
    try:
        if first := await prepare_first_start(store, clock, _whose()):
            return first.api_key
        id, now = f"up-{secrets.token_hex(_BYTES_OF_ID)}", clock.now()
        shown, stored = new_api_key(id)
        key = APIKey(
            id=id,
            name="made by fairway up",
            key_hash=stored,
            project_id=PROJECT,
            creator="fairway up",
            created_at=now,
            updated_at=now,
            role=APIKeyRole.ADMIN,
        )
        await store.write(lambda connection: api_keys.insert_api_key(connection, key))
        return shown
    finally:
        await store.close()


def _whose() -> str:
    """Whoever works here: a key's id is told with all that is done with it, such as "Approved by ada"."""
    # A machine may not know its user by any name.
    with suppress(KeyError, OSError):
        return _NOT_IN_IDS.sub("-", getpass.getuser().lower()).strip("-") or _SOMEBODY
    return _SOMEBODY
