"""Where an application may live, and go: in a repository that its agent has reported, under a path that is nobody
else's, and to deploy targets that the agent has."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from sqlalchemy import Connection

from fairway.errors import UserError
from fairway.git.names import checked_path
from fairway.model.agent import Agent
from fairway.model.application import Application
from fairway.server.status_codes import InvalidRequest
from fairway.server.store import applications
from fairway.server.store.errors import AlreadyExists, NotFound


class UnknownRepository(NotFound):
    """A repository that the agent has not reported."""

    def __init__(self, agent: Agent, repository_id: str) -> None:
        known = ", ".join(repository.id for repository in agent.profile.repositories) or "none yet"
        UserError.__init__(
            self,
            f"agent {agent.id} reports no repository {repository_id!r}, it has {known}; "
            "name one of those, or add it to the agent's file and start the agent",
        )


class UnknownTarget(NotFound):
    """A deploy target that the agent has not reported."""

    def __init__(self, agent: Agent, what: str, known: Iterable[str]) -> None:
        UserError.__init__(
            self,
            f"agent {agent.id} has no {what}, it has {', '.join(known) or 'none'}; "
            "name one of those, or add it to the agent's file and start the agent",
        )


class TwoWays(InvalidRequest):
    """A platform provider and deploy targets at once."""

    def __init__(self) -> None:
        super().__init__(
            "an application goes to its platform_provider (PipeCD's older agents) or to its deploy_targets_by_plugin, "
            "and both are given; give one of them"
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


def placed(connection: Connection, agent: Agent, application: Application) -> Application:
    """The application with what its agent says of the repository; refused where it cannot live.

    The project is to be locked first: two agents may have the same repository, so only what they share keeps another
    application from taking the place until the transaction ends.
    """
    wanted = application.git_path
    repository = next((known for known in agent.profile.repositories if known.id == wanted.repository.id), None)
    if repository is None:
        raise UnknownRepository(agent, wanted.repository.id)
    path = wanted.path.rstrip("/")
    # One at the root of its repository lives nowhere below.
    path = path if path == "." else checked_path(path)
    if wanted.config_filename:
        checked_path(wanted.config_filename)
    git_path = msgspec.structs.replace(wanted, repository=repository, path=path)
    moved = msgspec.structs.replace(application, git_path=git_path)
    refuse_taken(connection, moved)
    return moved


def refuse_taken(connection: Connection, application: Application) -> None:
    """Raise PathTaken when the application's place is another one's. The project is to be locked first."""
    place = application.git_path
    there = applications.find_by_path(
        connection, application.project_id, place.repository.id, place.path, place.config_filename
    )
    if there is not None and there.id != application.id:
        raise PathTaken(there)


def one_way(fields: Mapping[str, Any]) -> dict[str, Any]:
    """What is to be otherwise. Who names a platform provider does not go any more where deploy targets led; who names
    deploy targets goes there, and the provider stays for an older agent that has the application still."""
    if fields.get("platform_provider") and fields.get("deploy_targets_by_plugin"):
        raise TwoWays
    return {**fields, **({"deploy_targets_by_plugin": {}} if fields.get("platform_provider") else {})}


def refuse_unknown_targets(agent: Agent, application: Application) -> None:
    """Raise UnknownTarget when the application is to go where its agent does not; one that has never said where it goes
    is believed to go anywhere."""
    plugins = {each.name: each.deploy_targets for each in agent.profile.plugins}
    providers = [each.name for each in agent.profile.platform_providers]
    known = list(dict.fromkeys([*providers, *(name for targets in plugins.values() for name in targets)]))
    if application.platform_provider and known and application.platform_provider not in known:
        raise UnknownTarget(agent, f"platform provider or deploy target {application.platform_provider!r}", known)
    for plugin, names in application.deploy_targets_by_plugin.items():
        if plugins and plugin not in plugins:
            raise UnknownTarget(agent, f"plugin {plugin!r}", plugins)
        for name in names:
            if plugins and name not in plugins[plugin]:
                raise UnknownTarget(agent, f"deploy target {name!r} of plugin {plugin}", plugins[plugin])
