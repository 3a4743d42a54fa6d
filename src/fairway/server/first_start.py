"""An empty store gets a project, a key to act on it, and a first administrator who has no password yet.

There is no default password: the key is made at random, shown once and stored hashed like every other; the
administrator gets a link to set a password. Whoever reads the server's first words has both. Until a link has been
used, each start makes another, because nobody could come in otherwise, and voids the one before, because old words of a
server lie about in logs. So of several replicas that start, the link of the last one counts.
"""

import contextlib
from datetime import datetime

import msgspec
import sqlalchemy as sa

from fairway.clock import Clock
from fairway.model.api_key import APIKey, APIKeyRole
from fairway.model.role import ADMIN
from fairway.model.user import LOCAL, User
from fairway.server.keys import new_api_key
from fairway.server.sign_in.links import NewLink, new_link
from fairway.server.store import api_keys, projects, users
from fairway.server.store.errors import AlreadyExists
from fairway.server.store.projects import Project
from fairway.server.store.sign_in_links import delete_links_of, insert_link
from fairway.server.store.store import Store

PROJECT = "default"
KEY = "first"
ADMINISTRATOR = "admin"


class FirstStart(msgspec.Struct, frozen=True):
    """What was made; the key is nowhere else."""

    project_id: str
    api_key: str

    def __repr__(self) -> str:
        return f"FirstStart({self.project_id!r}, api_key=…)"


async def prepare_first_start(store: Store, clock: Clock, key_id: str = KEY) -> FirstStart | None:
    """The first project and its key; nothing when the store has a project already."""
    shown, stored = new_api_key(key_id)
    now = clock.now()

    def prepare(connection: sa.Connection) -> FirstStart | None:
        if projects.list_projects(connection):
            return None
        try:
            projects.insert_project(connection, Project(id=PROJECT, created_at=now, updated_at=now))
        except AlreadyExists:
            return None  # another replica, as new as this one, was quicker
        key = APIKey(
            id=key_id,
            name="made on the first start",
            key_hash=stored,
            project_id=PROJECT,
            creator="fairway server",
            created_at=now,
            updated_at=now,
            role=APIKeyRole.ADMIN,
        )
        api_keys.insert_api_key(connection, key)
        return FirstStart(PROJECT, shown)

    return await store.write(prepare)


async def prepare_administrator(store: Store, clock: Clock) -> NewLink | None:
    """A link for the first administrator; nothing once that one has a password, or is gone or disabled."""
    now = clock.now()

    def prepare(connection: sa.Connection) -> NewLink | None:
        if not users.any_user(connection):
            # Another replica may be as new as this one.
            with contextlib.suppress(AlreadyExists):
                users.insert_user(connection, _administrator(now))
        found = users.find_user(connection, ADMINISTRATOR)
        if found is None or found.disabled or found.password_hash:
            return None
        # Of two replicas that start at once, the row of the person lets one go first.
        users.update_user(connection, ADMINISTRATOR, lambda found: found)
        delete_links_of(connection, ADMINISTRATOR)
        new = new_link(ADMINISTRATOR, now)
        insert_link(connection, new.link)
        return new

    return await store.write(prepare)


def _administrator(now: datetime) -> User:
    return User(
        id=ADMINISTRATOR,
        created_at=now,
        updated_at=now,
        display_name="First administrator",
        provider=LOCAL,
        roles=(ADMIN.name,),
    )
