"""Roles that people make: named permissions. The built-in ones are part of Fairway and stay as they are."""

import re

from sqlalchemy import Connection

from fairway.model.role import BUILT_IN_ROLES, Action, Permission, Resource, Role
from fairway.server.actions.audit import differences, record
from fairway.server.actions.desk import ActionDesk
from fairway.server.callers import Caller
from fairway.server.permissions import permit, permit_giving_to_people
from fairway.server.status_codes import InvalidRequest, NotNow
from fairway.server.store import roles
from fairway.server.store.settings import load_people_settings
from fairway.server.store.users import list_users

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,62}")
_TAKEN = {name.lower() for name in BUILT_IN_ROLES}
#: How many of those who have a role are named when it cannot be deleted.
_NAMED = 5


async def list_roles(desk: ActionDesk, caller: Caller) -> tuple[Role, ...]:
    """All roles, the built-in ones first."""
    permit(caller, Resource.ROLE, Action.READ, caller.project_id)
    return (*BUILT_IN_ROLES.values(), *await desk.store.read(roles.list_roles))


async def get_role(desk: ActionDesk, caller: Caller, name: str) -> Role:
    """One role."""
    permit(caller, Resource.ROLE, Action.READ, caller.project_id)
    if name in BUILT_IN_ROLES:
        return BUILT_IN_ROLES[name]
    return await desk.store.read(lambda connection: roles.load_role(connection, name))


async def set_role(desk: ActionDesk, caller: Caller, name: str, permissions: tuple[Permission, ...]) -> Role:
    """Make a role, or change what it allows; it counts for everybody who has it at once."""
    permit(caller, Resource.ROLE, Action.UPDATE, caller.project_id)
    _refuse_built_in(name)
    if not _NAME.fullmatch(name):
        raise InvalidRequest(
            f"the role's name is {name!r}; expected a letter and up to 62 of A-Z, a-z, 0-9, ., _ and -"
        )
    role = Role(name=name, permissions=permissions)
    permit_giving_to_people(caller, role)

    def change(connection: Connection) -> None:
        before = roles.find_role(connection, name)
        if before == role:
            return
        if before is not None:
            permit_giving_to_people(caller, before)
        roles.save_role(connection, role)
        _record(connection, desk, caller, "role.create" if before is None else "role.update", before, role)

    await desk.store.write(change)
    return role


async def delete_role(desk: ActionDesk, caller: Caller, name: str) -> None:
    """Take a role away that nobody has."""
    permit(caller, Resource.ROLE, Action.DELETE, caller.project_id)
    _refuse_built_in(name)

    def delete(connection: Connection) -> None:
        before = roles.load_role(connection, name)
        permit_giving_to_people(caller, before)
        having = [f"user {user.id}" for user in list_users(connection) if name in user.roles]
        mapped = load_people_settings(connection).group_roles
        having += [f"group {group}" for group, given in sorted(mapped.items()) if name in given]
        if having:
            more = f" and {len(having) - _NAMED} more" if len(having) > _NAMED else ""
            raise NotNow(f"role {name} is in use by {', '.join(having[:_NAMED])}{more}; take it from them first")
        roles.delete_role(connection, name)
        _record(connection, desk, caller, "role.delete", before, None)

    await desk.store.write(delete)


def _refuse_built_in(name: str) -> None:
    if name.lower() in _TAKEN:
        raise NotNow(f"{name} is, or looks like, a role of Fairway itself, which nobody changes; choose another name")


def _record(
    connection: Connection, desk: ActionDesk, caller: Caller, action: str, before: Role | None, after: Role | None
) -> None:
    old, new = differences(before, after)
    role = after or before
    record(
        connection,
        caller,
        desk.clock.now(),
        action=action,
        subject_id=role.name if role else "",
        before=old,
        after=new,
        whole_server=True,
    )
