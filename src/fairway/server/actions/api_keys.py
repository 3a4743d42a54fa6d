"""Keys with which programs act on a project: made, listed, and refused from now on.

A key is shown once, by what made it; afterwards there is only its hash, and that never leaves the store.
"""

import msgspec
from sqlalchemy import Connection

from fairway.model.api_key import APIKey, APIKeyRole
from fairway.model.role import Action, Resource
from fairway.server.actions.audit import differences, record
from fairway.server.actions.desk import ActionDesk
from fairway.server.actions.names import checked_name
from fairway.server.callers import KEY_ROLES, Caller
from fairway.server.keys import new_api_key
from fairway.server.permissions import permit, permit_granting
from fairway.server.store import api_keys


class CreatedAPIKey(msgspec.Struct, frozen=True):
    """A key that was just made: what is known of it, and the key itself, which is nowhere else."""

    api_key: APIKey
    key: str

    def __repr__(self) -> str:
        return f"CreatedAPIKey({self.api_key!r}, key=…)"


async def list_api_keys(desk: ActionDesk, caller: Caller) -> tuple[APIKey, ...]:
    """All keys of the project, by id, without their hashes."""
    permit(caller, Resource.API_KEY, Action.READ, caller.project_id)
    found = await desk.store.read(lambda connection: api_keys.list_api_keys(connection, caller.project_id))
    return tuple(_without_hash(key) for key in found)


async def create_api_key(desk: ActionDesk, caller: Caller, name: str, role: APIKeyRole) -> CreatedAPIKey:
    """A new key of the project, that may do no more than its maker."""
    now, id = desk.clock.now(), desk.new_id()
    made = new_api_key(id)
    key = APIKey(
        id=id,
        name=checked_name(name),
        key_hash=made.stored,
        project_id=caller.project_id,
        creator=caller.name,
        created_at=now,
        updated_at=now,
        role=role,
    )

    def create(connection: Connection) -> None:
        permit(caller, Resource.API_KEY, Action.CREATE, caller.project_id)
        permit_granting(caller, KEY_ROLES[role])
        api_keys.insert_api_key(connection, key)
        _, after = differences(None, key)
        record(connection, caller, now, action="api_key.create", subject_id=id, subject_name=name, after=after)

    await desk.store.write(create)
    return CreatedAPIKey(_without_hash(key), made.shown)


async def disable_api_key(desk: ActionDesk, caller: Caller, key_id: str) -> APIKey:
    """Refuse a key from now on, for ever."""
    now = desk.clock.now()

    def disable(connection: Connection) -> APIKey:
        seen: list[APIKey] = []

        def disabled(found: APIKey) -> APIKey:
            seen.append(found)
            permit(caller, Resource.API_KEY, Action.UPDATE, found.project_id)
            return found if found.disabled else msgspec.structs.replace(found, disabled=True, updated_at=now)

        key = api_keys.update_api_key(connection, key_id, disabled)
        if key is not seen[-1]:
            before, after = differences(seen[-1], key)
            record(
                connection,
                caller,
                now,
                action="api_key.disable",
                subject_id=key.id,
                subject_name=key.name,
                before=before,
                after=after,
            )
        return key

    key = await desk.store.write(disable)
    desk.forget_key(key_id)
    return _without_hash(key)


def _without_hash(key: APIKey) -> APIKey:
    return msgspec.structs.replace(key, key_hash="")
