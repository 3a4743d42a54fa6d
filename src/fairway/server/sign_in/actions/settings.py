"""What administrators decide about people: which group has which role, who else may look, how long a session lasts."""

from sqlalchemy import Connection

from fairway.model.role import Action, Resource
from fairway.server.actions.audit import differences, record
from fairway.server.actions.desk import ActionDesk
from fairway.server.callers import Caller
from fairway.server.permissions import permit, permit_giving_to_people
from fairway.server.sign_in.actions.users import known_roles
from fairway.server.status_codes import InvalidRequest
from fairway.server.store.settings import PeopleSettings, load_people_settings, save_people_settings

#: A year.
MOST_HOURS = 24 * 366
MOST_GROUPS = 1000
LONGEST_GROUP = 300


async def get_settings(desk: ActionDesk, caller: Caller) -> PeopleSettings:
    """What holds now."""
    permit(caller, Resource.SETTINGS, Action.READ, caller.project_id)
    return await desk.store.read(load_people_settings)


async def set_settings(desk: ActionDesk, caller: Caller, settings: PeopleSettings) -> PeopleSettings:
    """What holds from now on: roles of groups at once, the length of a session from the next one on."""
    permit(caller, Resource.SETTINGS, Action.UPDATE, caller.project_id)
    if not 1 <= settings.session_hours <= MOST_HOURS:
        raise InvalidRequest(f"session_hours is {settings.session_hours}; expected 1 to {MOST_HOURS}")
    if len(settings.group_roles) > MOST_GROUPS:
        raise InvalidRequest(f"group_roles has {len(settings.group_roles)} groups; expected at most {MOST_GROUPS}")
    for group in settings.group_roles:
        if not 0 < len(group) <= LONGEST_GROUP:
            raise InvalidRequest(f"a group's name has {len(group)} characters; expected 1 to {LONGEST_GROUP}")

    def change(connection: Connection) -> None:
        before = load_people_settings(connection)
        if before == settings:
            return
        for group, names in settings.group_roles.items():
            for role in known_roles(connection, set(names) - set(before.group_roles.get(group, ()))):
                permit_giving_to_people(caller, role)
        save_people_settings(connection, settings)
        old, new = differences(before, settings)
        record(
            connection,
            caller,
            desk.clock.now(),
            action="settings.update",
            subject_id="people",
            before=old,
            after=new,
            whole_server=True,
        )

    await desk.store.write(change)
    return settings
