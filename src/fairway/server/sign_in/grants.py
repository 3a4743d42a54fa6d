"""Which roles somebody has: those given here, and those of the groups that a sign-in provider says they are in.

Pure. A group means something only when an administrator said what: a group that happens to be called Admin makes nobody
one. A name that no role has any more gives nothing.
"""

from collections.abc import Callable, Iterable

from fairway.model.role import BUILT_IN_ROLES, VIEWER, Role
from fairway.model.user import LOCAL, User
from fairway.server.permissions import fits
from fairway.server.store.settings import PeopleSettings


def role_names(user: User, settings: PeopleSettings) -> tuple[str, ...]:
    """The names of a person's roles, each once; none means that they may do nothing."""
    of_groups = [name for group in user.groups for name in settings.group_roles.get(group, ())]
    names = tuple(dict.fromkeys((*user.roles, *of_groups)))
    if not names and user.provider != LOCAL and settings.allow_stray_as_viewer:
        return (VIEWER.name,)
    return names


def roles_of(user: User, settings: PeopleSettings, find: Callable[[str], Role | None]) -> tuple[Role, ...]:
    """The roles themselves; `find` knows those that somebody made."""
    named = (BUILT_IN_ROLES.get(name) or find(name) for name in role_names(user, settings))
    return tuple(role for role in named if role is not None)


def means_something_in(project_id: str, roles: Iterable[Role]) -> bool:
    """Whether any of the roles is about this project at all; what it allows there is for `permissions` to say."""
    patterns = (pattern for role in roles for permission in role.permissions for pattern in permission.projects)
    return any(fits(project_id, pattern) for pattern in patterns)
