"""Adding, moving, switching and deleting applications.

An application lives in a repository that its agent has reported, under a path of its own. Each change is checked in the
transaction that stores it, and every agent whose list of applications it touches gets a hint.
"""

from collections.abc import Callable
from datetime import datetime

import msgspec
from sqlalchemy import Connection

from fairway.errors import UserError
from fairway.git.names import checked_path
from fairway.model.agent import Agent
from fairway.model.application import Application, GitPath
from fairway.rpc.convert.application import KINDS, from_wire_deploy_targets, from_wire_git_path
from fairway.rpc.user_api import messages as m
from fairway.server.hints import HintTopic
from fairway.server.status_codes import NotNow
from fairway.server.store import agents, applications
from fairway.server.store.errors import AlreadyExists, NotFound
from fairway.server.user_auth import ApiIdentity
from fairway.server.user_service.applications import check_application
from fairway.server.user_service.desk import Desk, check_project


class UnknownRepository(NotFound):
    """A repository that the agent has not reported."""

    def __init__(self, agent: Agent, repository_id: str) -> None:
        known = ", ".join(repository.id for repository in agent.profile.repositories) or "none yet"
        UserError.__init__(
            self,
            f"agent {agent.id} reports no repository {repository_id!r}, it has {known}; "
            "name one of those, or add it to the agent's file and start the agent",
        )


class PathTaken(AlreadyExists):
    """A place in a repository that is another application's."""

    def __init__(self, there: Application) -> None:
        git_path = there.git_path
        UserError.__init__(
            self,
            f"application {there.id} ({there.name}) lives at {git_path.path}, file {git_path.config_filename!r}, of "
            f"repository {git_path.repository.id} already; change or delete that one, or choose another place",
        )


async def add_application(
    desk: Desk, identity: ApiIdentity, request: m.AddApplicationRequest
) -> m.AddApplicationResponse:
    """Register an application of an agent."""
    now = desk.clock.now()
    application = Application(
        id=desk.new_id(),
        name=request.name,
        agent_id=request.piped_id,
        project_id=identity.project_id,
        kind=KINDS.from_wire(request.kind),
        git_path=from_wire_git_path(request.git_path),
        platform_provider=request.platform_provider,
        description=request.description,
        labels=dict(request.labels),
        created_at=now,
        updated_at=now,
    )

    def add(connection: Connection) -> None:
        agent = _agent(connection, identity, request.piped_id)
        placed = msgspec.structs.replace(application, git_path=_place(connection, agent, application))
        applications.insert_application(connection, placed)

    await desk.store.write(add)
    desk.hints.publish(request.piped_id, HintTopic.APPLICATIONS)
    return m.AddApplicationResponse(application_id=application.id)


async def update_application(
    desk: Desk, identity: ApiIdentity, request: m.UpdateApplicationRequest
) -> m.UpdateApplicationResponse:
    """Move an application to another agent, platform provider or path."""
    now = desk.clock.now()

    def update(connection: Connection) -> Application:
        agent = _agent(connection, identity, request.piped_id)

        def move(found: Application) -> Application:
            moved = msgspec.structs.replace(
                _changeable(identity, found),
                agent_id=agent.id,
                platform_provider=request.platform_provider,
                git_path=from_wire_git_path(request.git_path),
                updated_at=now,
            )
            return msgspec.structs.replace(moved, git_path=_place(connection, agent, moved))

        before = applications.load_application(connection, request.application_id)
        applications.update_application(connection, request.application_id, move)
        return before

    before = await desk.store.write(update)
    for agent_id in {before.agent_id, request.piped_id}:
        desk.hints.publish(agent_id, HintTopic.APPLICATIONS)
    return m.UpdateApplicationResponse(application_id=request.application_id)


async def enable_application(
    desk: Desk, identity: ApiIdentity, request: m.EnableApplicationRequest
) -> m.EnableApplicationResponse:
    """Deploy it again."""
    await _change(desk, identity, (request.application_id,), lambda found, now: _switched(found, False, now))
    return m.EnableApplicationResponse(application_id=request.application_id)


async def disable_application(
    desk: Desk, identity: ApiIdentity, request: m.DisableApplicationRequest
) -> m.DisableApplicationResponse:
    """Keep it, but do not deploy it."""
    await _change(desk, identity, (request.application_id,), lambda found, now: _switched(found, True, now))
    return m.DisableApplicationResponse(application_id=request.application_id)


async def delete_application(
    desk: Desk, identity: ApiIdentity, request: m.DeleteApplicationRequest
) -> m.DeleteApplicationResponse:
    """Take it out of service for good; its deployments stay."""

    def delete(found: Application, now: datetime) -> Application:
        return msgspec.structs.replace(found, disabled=True, deleted_at=now, updated_at=now)

    await _change(desk, identity, (request.application_id,), delete)
    return m.DeleteApplicationResponse(application_id=request.application_id)


async def rename_config_file(
    desk: Desk, identity: ApiIdentity, request: m.RenameApplicationConfigFileRequest
) -> m.RenameApplicationConfigFileResponse:
    """Note the new name of the file of several applications: of all of them, or of none."""
    filename = checked_path(request.new_filename)

    def rename(found: Application, now: datetime) -> Application:
        if found.git_path.config_filename == filename:
            return found
        git_path = msgspec.structs.replace(found.git_path, config_filename=filename)
        return msgspec.structs.replace(found, git_path=git_path, updated_at=now)

    await _change(desk, identity, tuple(dict.fromkeys(request.application_ids)), rename)
    return m.RenameApplicationConfigFileResponse()


async def update_deploy_targets(
    desk: Desk, identity: ApiIdentity, request: m.UpdateApplicationDeployTargetsRequest
) -> m.UpdateApplicationDeployTargetsResponse:
    """Replace the deploy targets. Kind and platform provider stay: a v0 agent may go on until it is replaced."""
    targets = from_wire_deploy_targets(request.deploy_targets_by_plugin)

    def retarget(found: Application, now: datetime) -> Application:
        return msgspec.structs.replace(found, deploy_targets_by_plugin=targets, updated_at=now)

    await _change(desk, identity, (request.application_id,), retarget)
    return m.UpdateApplicationDeployTargetsResponse()


async def _change(
    desk: Desk,
    identity: ApiIdentity,
    application_ids: tuple[str, ...],
    change: Callable[[Application, datetime], Application],
) -> None:
    """Change applications of the caller's project in one transaction, then tell their agents."""
    now = desk.clock.now()

    def change_all(connection: Connection) -> set[str]:
        return {
            applications.update_application(
                connection, application_id, lambda found: change(_changeable(identity, found), now)
            ).agent_id
            for application_id in application_ids
        }

    for agent_id in await desk.store.write(change_all):
        desk.hints.publish(agent_id, HintTopic.APPLICATIONS)


def _changeable(identity: ApiIdentity, application: Application) -> Application:
    check_application(identity, application)
    if application.deleted_at is not None:
        raise NotNow(f"application {application.id} has been deleted for good; add it again under a new id")
    return application


def _switched(application: Application, disabled: bool, now: datetime) -> Application:
    if application.disabled is disabled:
        return application
    return msgspec.structs.replace(application, disabled=disabled, updated_at=now)


def _agent(connection: Connection, identity: ApiIdentity, agent_id: str) -> Agent:
    # Locked, so that two applications that are added to one agent at once cannot both find the path free.
    agent = agents.update_agent(connection, agent_id, lambda found: found)
    check_project(identity, agent.project_id, f"agent {agent_id}")
    return agent


def _place(connection: Connection, agent: Agent, application: Application) -> GitPath:
    """Where the application lives, with what its agent says of the repository; refused where it cannot live."""
    wanted = application.git_path
    repository = next((known for known in agent.profile.repositories if known.id == wanted.repository.id), None)
    if repository is None:
        raise UnknownRepository(agent, wanted.repository.id)
    path = checked_path(wanted.path.rstrip("/"))
    if wanted.config_filename:
        checked_path(wanted.config_filename)
    there = applications.find_by_path(connection, agent.project_id, repository.id, path, wanted.config_filename)
    if there is not None and there.id != application.id:
        raise PathTaken(there)
    return msgspec.structs.replace(wanted, repository=repository, path=path)
