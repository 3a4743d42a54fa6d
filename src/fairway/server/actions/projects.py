"""Projects: made, described and listed. A person acts in the project that is named; a key only ever in its own."""

import msgspec
from sqlalchemy import Connection

from fairway.model.role import Action, Resource
from fairway.server.actions.audit import differences, record
from fairway.server.actions.desk import ActionDesk
from fairway.server.actions.names import checked_project_id
from fairway.server.callers import Caller, CallerKind
from fairway.server.permissions import may, permit
from fairway.server.store import projects
from fairway.server.store.projects import Project


async def list_projects(desk: ActionDesk, caller: Caller) -> tuple[Project, ...]:
    """The projects that the caller may see, by id."""
    found = await desk.store.read(projects.list_projects)
    return tuple(
        project for project in found if may(_in(caller, project.id), Resource.PROJECT, Action.READ, project.id)
    )


async def create_project(desk: ActionDesk, caller: Caller, id: str, desc: str = "") -> Project:
    """A new project, with nothing in it."""
    now = desk.clock.now()
    project = Project(id=checked_project_id(id), desc=desc, created_at=now, updated_at=now)

    def create(connection: Connection) -> None:
        permit(caller, Resource.PROJECT, Action.CREATE, caller.project_id)
        projects.insert_project(connection, project)
        _, after = differences(None, project)
        record(connection, caller, now, action="project.create", subject_id=id, after=after, whole_server=True)

    await desk.store.write(create)
    return project


async def change_project(desk: ActionDesk, caller: Caller, project_id: str, desc: str) -> Project:
    """Describe a project in other words."""
    now, there = desk.clock.now(), _in(caller, project_id)

    def change(connection: Connection) -> Project:
        seen: list[Project] = []

        def changed(found: Project) -> Project:
            seen.append(found)
            permit(there, Resource.PROJECT, Action.UPDATE, found.id)
            return found if found.desc == desc else msgspec.structs.replace(found, desc=desc, updated_at=now)

        project = projects.update_project(connection, project_id, changed)
        if project is not seen[-1]:
            before, after = differences(seen[-1], project)
            record(connection, there, now, action="project.update", subject_id=project_id, before=before, after=after)
        return project

    return await desk.store.write(change)


def _in(caller: Caller, project_id: str) -> Caller:
    """The caller as one who asks in that project."""
    return msgspec.structs.replace(caller, project_id=project_id) if caller.kind is CallerKind.USER else caller
