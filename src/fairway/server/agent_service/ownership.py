"""What belongs to the calling agent, looked up in the transaction that acts on it.

Nothing is remembered between calls, so moving an application to another agent takes effect with the next one. An
object that is not the caller's is denied whether or not it is in the caller's project.
"""

from collections.abc import Callable

from sqlalchemy import Connection

from fairway.model.application import Application
from fairway.model.command import Command
from fairway.model.deployment import Deployment
from fairway.model.notes import thinned
from fairway.server.agent_auth import AgentIdentity
from fairway.server.status_codes import Forbidden
from fairway.server.store import applications, commands, deployments


def load_own_application(connection: Connection, caller: AgentIdentity, id: str) -> Application:
    """The application; NotFound without one, Forbidden when it is not the caller's."""
    application = applications.load_application(connection, id)
    refuse_foreign(caller, application)
    return application


def update_own_application(
    connection: Connection, caller: AgentIdentity, id: str, change: Callable[[Application], Application]
) -> Application:
    """The application as `change` makes it; the owner is checked under the same lock."""

    def checked(application: Application) -> Application:
        refuse_foreign(caller, application)
        return change(application)

    return applications.update_application(connection, id, checked)


def load_own_deployment(connection: Connection, caller: AgentIdentity, id: str) -> Deployment:
    """The deployment, within all limits; NotFound without one, Forbidden when it is not the caller's."""
    deployment = deployments.load_deployment(connection, id)
    refuse_foreign(caller, deployment)
    return thinned(deployment)


def update_own_deployment(
    connection: Connection, caller: AgentIdentity, id: str, change: Callable[[Deployment], Deployment]
) -> Deployment:
    """The deployment as `change` makes it; the owner is checked under the same lock. What was stored before there were
    limits is brought within them, because its agent was not sent the rest either."""

    def checked(deployment: Deployment) -> Deployment:
        refuse_foreign(caller, deployment)
        return change(thinned(deployment))

    return deployments.update_deployment(connection, id, checked)


def update_own_command(
    connection: Connection, caller: AgentIdentity, id: str, change: Callable[[Command], Command]
) -> Command:
    """The command as `change` makes it; the owner is checked under the same lock."""

    def checked(command: Command) -> Command:
        refuse_foreign(caller, command)
        return change(command)

    return commands.update_command(connection, id, checked)


def refuse_foreign(caller: AgentIdentity, found: Application | Deployment | Command) -> None:
    """Raise Forbidden unless what was found belongs to the caller."""
    if (found.project_id, found.agent_id) != (caller.project_id, caller.agent_id):
        noun = type(found).__name__.lower()
        raise Forbidden(f"{noun} {found.id} does not belong to agent {caller.agent_id}; list your {noun}s again")
