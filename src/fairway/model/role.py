"""What somebody may do: roles, each a list of permissions over sorts of things, in projects, with labels.

A role only ever allows; what no role allows is refused. Whether a caller may do something is decided in one place of
the server, from the roles below and the ones that people made.
"""

import enum

import msgspec


class Resource(enum.Enum):
    """A sort of thing that a permission is about."""

    #: Applications, their live state, and what agents suggest to register.
    APPLICATION = "application"
    #: Deployments, their stages, logs and chains.
    DEPLOYMENT = "deployment"
    #: Agents and their keys.
    AGENT = "agent"
    #: What is told from outside, such as a new image.
    EVENT = "event"
    #: Figures over all deployments.
    INSIGHT = "insight"
    #: Projects.
    PROJECT = "project"
    #: People.
    USER = "user"
    #: Roles.
    ROLE = "role"
    #: Keys of programs.
    API_KEY = "api_key"
    #: The record of who changed what.
    AUDIT = "audit"
    #: Places that tell of pushes.
    WEBHOOK = "webhook"
    #: What holds for the whole server.
    SETTINGS = "settings"


class Action(enum.Enum):
    """What is done to it."""

    #: Look at one or at all.
    READ = "read"
    #: Make one.
    CREATE = "create"
    #: Change one; enable and disable too.
    UPDATE = "update"
    #: Take one away.
    DELETE = "delete"
    #: Deploy an application now.
    SYNC = "sync"
    #: Give a deployment up.
    CANCEL = "cancel"
    #: Say yes to a stage that waits for it.
    APPROVE = "approve"
    #: Go on without the rest of a stage.
    SKIP = "skip"
    #: End an agent's process, so that it starts anew.
    RESTART = "restart"


class Permission(msgspec.Struct, frozen=True, kw_only=True):
    """Some actions on some resources, where projects and labels fit."""

    #: None: every one.
    resources: tuple[Resource, ...] | None = None
    #: None: every one.
    actions: tuple[Action, ...] | None = None
    #: Patterns of project ids, with * and ?; one must fit.
    projects: tuple[str, ...] = ("*",)
    #: Label → pattern of its value; each must be there and fit. What has no labels (an agent, a user) is then refused.
    labels: dict[str, str] = {}


class Role(msgspec.Struct, frozen=True, kw_only=True):
    """A name for permissions."""

    name: str
    permissions: tuple[Permission, ...]


_WORK = (Resource.APPLICATION, Resource.DEPLOYMENT)
_SEEN = (*_WORK, Resource.AGENT, Resource.EVENT, Resource.INSIGHT, Resource.PROJECT)

ADMIN = Role(name="Admin", permissions=(Permission(),))
EDITOR = Role(
    name="Editor",
    permissions=(
        Permission(resources=_WORK),
        Permission(resources=(Resource.EVENT,), actions=(Action.CREATE,)),
        Permission(resources=_SEEN, actions=(Action.READ,)),
    ),
)
VIEWER = Role(name="Viewer", permissions=(Permission(resources=_SEEN, actions=(Action.READ,)),))

BUILT_IN_ROLES = {role.name: role for role in (ADMIN, EDITOR, VIEWER)}
