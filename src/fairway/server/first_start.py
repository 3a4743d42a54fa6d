"""An empty store gets a project and a key to act on it, once; whoever reads the server's first words has it.

There is no default password: the key is made at random, shown once and stored hashed like every other.
"""

import msgspec
import sqlalchemy as sa

from fairway.clock import Clock
from fairway.model.api_key import APIKey, APIKeyRole
from fairway.server.keys import new_api_key
from fairway.server.store import api_keys, projects
from fairway.server.store.projects import Project
from fairway.server.store.store import Store

PROJECT = "default"
KEY = "first"


class FirstStart(msgspec.Struct, frozen=True):
    """What was made; the key is nowhere else."""

    project_id: str
    api_key: str

    def __repr__(self) -> str:
        return f"FirstStart({self.project_id!r}, api_key=…)"


async def prepare_first_start(store: Store, clock: Clock) -> FirstStart | None:
    """The first project and its key; nothing when the store has a project already."""
    shown, stored = new_api_key(KEY)
    now = clock.now()

    def prepare(connection: sa.Connection) -> FirstStart | None:
        if projects.list_projects(connection):
            return None
        projects.insert_project(connection, Project(id=PROJECT, created_at=now, updated_at=now))
        key = APIKey(
            id=KEY,
            name="made on the first start",
            key_hash=stored,
            project_id=PROJECT,
            creator="fairway server",
            created_at=now,
            updated_at=now,
            role=APIKeyRole.READ_WRITE,
        )
        api_keys.insert_api_key(connection, key)
        return FirstStart(PROJECT, shown)

    return await store.write(prepare)
