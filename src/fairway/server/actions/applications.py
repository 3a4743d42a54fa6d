"""Registering applications, changing, switching and deleting them, and asking for a deployment.

An agent whose list of applications changes gets a hint. What Git says of a name, a description or labels comes with the
agent's next report and replaces what was said here.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType
from sqlalchemy import Connection

from fairway.git.names import checked_path
from fairway.model.agent import Agent
from fairway.model.application import Application, ApplicationKind, GitPath, Repository
from fairway.model.command import Command
from fairway.model.role import Action, Resource
from fairway.model.trigger import SyncStrategy
from fairway.server import commands as new_commands
from fairway.server.actions.audit import differences, record
from fairway.server.actions.desk import ActionDesk
from fairway.server.actions.names import checked_name
from fairway.server.actions.places import one_way, placed, refuse_taken, refuse_unknown_targets
from fairway.server.callers import Caller
from fairway.server.hints import HintTopic
from fairway.server.permissions import permit
from fairway.server.status_codes import NotNow
from fairway.server.store import agents, applications, commands, projects

#: The fields of a change that are fields of the place.
_PLACE = ("path", "config_filename", "url")
_GOES = frozenset({"platform_provider", "deploy_targets_by_plugin"})


class NewApplication(msgspec.Struct, frozen=True, kw_only=True):
    """What is said of an application that is registered."""

    name: str
    agent_id: str
    repository_id: str
    path: str
    #: Empty means the agent's default file name.
    config_filename: str = ""
    #: A page that shows the directory.
    url: str = ""
    #: v0 only.
    kind: ApplicationKind | None = None
    #: v0 only.
    platform_provider: str = ""
    #: v1 only.
    deploy_targets_by_plugin: dict[str, tuple[str, ...]] = {}
    labels: dict[str, str] = {}
    description: str = ""


class ApplicationChange(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be otherwise; the rest stays."""

    name: str | UnsetType = UNSET
    agent_id: str | UnsetType = UNSET
    repository_id: str | UnsetType = UNSET
    path: str | UnsetType = UNSET
    config_filename: str | UnsetType = UNSET
    url: str | UnsetType = UNSET
    kind: ApplicationKind | UnsetType | None = UNSET
    platform_provider: str | UnsetType = UNSET
    deploy_targets_by_plugin: dict[str, tuple[str, ...]] | UnsetType = UNSET
    labels: dict[str, str] | UnsetType = UNSET
    description: str | UnsetType = UNSET


async def add_application(desk: ActionDesk, caller: Caller, new: NewApplication) -> Application:
    """Register an application of an agent."""
    now, id = desk.clock.now(), desk.new_id()

    def add(connection: Connection) -> Application:
        permit(caller, Resource.APPLICATION, Action.CREATE, caller.project_id, new.labels)
        checked_name(new.name)
        one_way(msgspec.structs.asdict(new))
        agent = _agent(connection, caller, new.agent_id)
        projects.lock_project(connection, caller.project_id)
        application = placed(connection, agent, _made(new, id, caller.project_id, now))
        refuse_unknown_targets(agent, application)
        applications.insert_application(connection, application)
        _record(connection, caller, now, "create", None, application)
        return application

    application = await desk.store.write(add)
    desk.hints.publish(application.agent_id, HintTopic.APPLICATIONS)
    return application


async def update_application(
    desk: ActionDesk, caller: Caller, application_id: str, change: ApplicationChange
) -> Application:
    """Change an application; one that comes to another agent, or place, must be able to live there."""
    fields = one_way({name: value for name, value in msgspec.structs.asdict(change).items() if value is not UNSET})
    if change.name is not UNSET:
        checked_name(change.name)
    place: dict[str, Any] = {name: fields.pop(name) for name in _PLACE if name in fields}
    if "repository_id" in fields:
        place["repository"] = Repository(id=fields.pop("repository_id"))

    def changed(connection: Connection, found: Application, now: datetime) -> Application:
        moved = msgspec.structs.replace(
            found, **fields, git_path=msgspec.structs.replace(found.git_path, **place), updated_at=now
        )
        if place or moved.agent_id != found.agent_id:
            moved = placed(connection, _agent(connection, caller, moved.agent_id), moved)
        if _GOES & fields.keys() or moved.agent_id != found.agent_id:
            refuse_unknown_targets(_agent(connection, caller, moved.agent_id), moved)
        return moved

    moves = bool(place) or "agent_id" in fields
    return await _change(desk, caller, application_id, _Step(Action.UPDATE, "update", changed, moves))


async def enable_application(desk: ActionDesk, caller: Caller, application_id: str) -> Application:
    """Deploy it again."""
    return await _change(desk, caller, application_id, _Step(Action.UPDATE, "enable", _set(disabled=False)))


async def disable_application(desk: ActionDesk, caller: Caller, application_id: str) -> Application:
    """Keep it, but do not deploy it."""
    return await _change(desk, caller, application_id, _Step(Action.UPDATE, "disable", _set(disabled=True)))


async def delete_application(desk: ActionDesk, caller: Caller, application_id: str) -> Application:
    """Take it out of service for good; its deployments stay."""

    def deleted(_: Connection, found: Application, now: datetime) -> Application:
        return msgspec.structs.replace(found, disabled=True, deleted_at=now, updated_at=now)

    return await _change(desk, caller, application_id, _Step(Action.DELETE, "delete", deleted))


async def sync_application(
    desk: ActionDesk, caller: Caller, application_id: str, strategy: SyncStrategy = SyncStrategy.AUTO
) -> Command:
    """Ask for a deployment; the command can be followed."""
    asked = new_commands.Request(command_id=desk.new_id(), commander=caller.name, at=desk.clock.now())

    def ask(connection: Connection) -> Command:
        application = applications.load_application(connection, application_id)
        permit(caller, Resource.APPLICATION, Action.SYNC, application.project_id, application.labels)
        command = new_commands.sync_application(application, asked, strategy)
        commands.insert_command(connection, command)
        record(
            connection,
            caller,
            asked.at,
            action="application.sync",
            subject_id=application.id,
            subject_name=application.name,
            after={"command_id": command.id, "strategy": strategy},
        )
        return command

    command = await desk.store.write(ask)
    desk.hints.publish(command.agent_id, HintTopic.COMMANDS)
    return command


async def rename_config_files(
    desk: ActionDesk, caller: Caller, application_ids: tuple[str, ...], filename: str
) -> tuple[Application, ...]:
    """Note the new name of the file of several applications: of all of them, or of none."""

    checked_path(filename)

    def renamed(connection: Connection, found: Application, now: datetime) -> Application:
        git_path = msgspec.structs.replace(found.git_path, config_filename=filename)
        moved = msgspec.structs.replace(found, git_path=git_path, updated_at=now)
        refuse_taken(connection, moved)
        return moved

    # In one order for everybody, so that two transactions never wait for each other's rows.
    ids = tuple(sorted(set(application_ids)))
    return await _change_all(desk, caller, ids, _Step(Action.UPDATE, "update", renamed, moves=True))


class _Step(msgspec.Struct, frozen=True):
    """One way to change an application."""

    action: Action
    #: As the record says it.
    verb: str
    change: Callable[[Connection, Application, datetime], Application]
    #: Whether it may end in another place, which must be free.
    moves: bool = False


def _set(**fields: Any) -> Callable[[Connection, Application, datetime], Application]:
    return lambda _, found, now: msgspec.structs.replace(found, **fields, updated_at=now)


async def _change(desk: ActionDesk, caller: Caller, application_id: str, step: _Step) -> Application:
    (changed,) = await _change_all(desk, caller, (application_id,), step)
    return changed


async def _change_all(
    desk: ActionDesk, caller: Caller, application_ids: tuple[str, ...], step: _Step
) -> tuple[Application, ...]:
    """Change applications in one transaction, then tell the agents that they belong, or belonged, to."""
    now, told = desk.clock.now(), set[str]()

    def change_all(connection: Connection) -> tuple[Application, ...]:
        told.clear()
        if step.moves:
            projects.lock_project(connection, caller.project_id)
        pairs = [_changed(connection, caller, id, step, now) for id in application_ids]
        for before, after in pairs:
            if after is not before:
                _record(connection, caller, now, step.verb, before, after)
                told.update((before.agent_id, after.agent_id))
        return tuple(after for _, after in pairs)

    changed = await desk.store.write(change_all)
    for agent_id in sorted(told):
        desk.hints.publish(agent_id, HintTopic.APPLICATIONS)
    return changed


def _changed(
    connection: Connection, caller: Caller, application_id: str, step: _Step, now: datetime
) -> tuple[Application, Application]:
    """The application as it was and as it is; the same object twice where nothing is otherwise."""
    seen: list[Application] = []

    def change(found: Application) -> Application:
        seen.append(found)
        permit(caller, Resource.APPLICATION, step.action, found.project_id, found.labels)
        if found.deleted_at is not None:
            raise NotNow(f"application {found.id} has been deleted for good; add it again under a new id")
        changed = step.change(connection, found, now)
        if msgspec.structs.replace(changed, updated_at=found.updated_at) == found:
            return found
        # Nobody labels something away to where they may not act.
        permit(caller, Resource.APPLICATION, step.action, changed.project_id, changed.labels)
        return changed

    after = applications.update_application(connection, application_id, change)
    return seen[-1], after


def _agent(connection: Connection, caller: Caller, agent_id: str) -> Agent:
    """The agent that an application is given to."""
    agent = agents.load_agent(connection, agent_id)
    permit(caller, Resource.AGENT, Action.READ, agent.project_id)
    return agent


def _made(new: NewApplication, id: str, project_id: str, now: datetime) -> Application:
    repository = Repository(id=new.repository_id)
    return Application(
        id=id,
        name=new.name,
        agent_id=new.agent_id,
        project_id=project_id,
        git_path=GitPath(repository=repository, path=new.path, config_filename=new.config_filename, url=new.url),
        kind=new.kind,
        platform_provider=new.platform_provider,
        deploy_targets_by_plugin=new.deploy_targets_by_plugin,
        labels=new.labels,
        description=new.description,
        created_at=now,
        updated_at=now,
    )


def _record(
    connection: Connection, caller: Caller, at: datetime, verb: str, old: Application | None, new: Application
) -> None:
    before, after = differences(old, new)
    record(
        connection,
        caller,
        at,
        action=f"application.{verb}",
        subject_id=new.id,
        subject_name=new.name,
        before=before,
        after=after,
    )
