"""May this caller do that? Decided here for every door, and refused unless a role of the caller says yes.

Actions ask with the thing in hand, inside the transaction that changes it, because only then its project and labels are
known. A list asks for its `scope` beforehand, so that what a caller may not see is never read.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase

import msgspec

from fairway.model.role import Action, Permission, Resource, Role
from fairway.server.callers import Caller
from fairway.server.status_codes import Forbidden


class Scope(msgspec.Struct, frozen=True):
    """What of a list a caller may see: things that have all labels of one of these. An empty one fits everything."""

    any_of: tuple[dict[str, str], ...]


def may(
    caller: Caller, resource: Resource, action: Action, project_id: str, labels: Mapping[str, str] | None = None
) -> bool:
    """Whether `permit` lets it pass."""
    covering = _covering(caller, resource, action) if project_id == caller.project_id else []
    return any(_labels_fit(permission, labels or {}) for permission in covering)


def permit(
    caller: Caller, resource: Resource, action: Action, project_id: str, labels: Mapping[str, str] | None = None
) -> None:
    """Raise Forbidden unless the caller may do this to a thing of this project with these labels."""
    # A thing of another project is refused before roles are looked at: no request reaches across projects.
    if project_id != caller.project_id:
        raise Forbidden(
            f"this {_word(resource)} does not belong to project {caller.project_id!r}; ask in the project it belongs to"
        )
    if not may(caller, resource, action, project_id, labels):
        raise _refusal(caller, resource, action, labelled=bool(_covering(caller, resource, action)))


def permit_granting(caller: Caller, role: Role) -> None:
    """Raise Forbidden unless the caller may do all that the role allows: nobody gives away what they do not have."""
    for permission in role.permissions:
        for resource in permission.resources or tuple(Resource):
            for action in permission.actions or tuple(Action):
                if not may(caller, resource, action, caller.project_id):
                    raise Forbidden(
                        f"{caller.name} cannot give the role {role.name}, which may {action.value} {_word(resource)}s: "
                        f"{caller.name} may not; ask an administrator to give it"
                    )


def permit_giving_to_people(caller: Caller, role: Role) -> None:
    """The same where the role is a person's: it then counts in every project it speaks of, and not in this one only."""
    for given in role.permissions:
        for resource in given.resources or tuple(Resource):
            for action in given.actions or tuple(Action):
                if not any(_reaches(own, given) for own in _speaking_of(caller, resource, action)):
                    raise Forbidden(
                        f"{caller.name} cannot give, change or take the role {role.name}, which may {action.value} "
                        f"{_word(resource)}s where {caller.name} may not; ask somebody who may do all of that"
                    )


def scope(caller: Caller, resource: Resource) -> Scope:
    """What the caller may see of a list of the project; Forbidden when that is nothing."""
    covering = _covering(caller, resource, Action.READ)
    if not covering:
        raise _refusal(caller, resource, Action.READ, labelled=False)
    if any(not permission.labels for permission in covering):
        return Scope(({},))
    return Scope(tuple(permission.labels for permission in covering))


def fits(text: str, pattern: str) -> bool:
    """Whether a pattern, in which * stands for any text and ? for one character, describes the whole text."""
    return fnmatchcase(text, pattern.replace("[", "[[]"))


def _covering(caller: Caller, resource: Resource, action: Action) -> list[Permission]:
    """The permissions that speak of this in the caller's project, labels aside."""
    return [
        permission
        for permission in _speaking_of(caller, resource, action)
        if any(fits(caller.project_id, pattern) for pattern in permission.projects)
    ]


def _speaking_of(caller: Caller, resource: Resource, action: Action) -> list[Permission]:
    """The permissions that speak of this, projects and labels aside."""
    return [
        permission
        for role in caller.roles
        for permission in role.permissions
        if (permission.resources is None or resource in permission.resources)
        and (permission.actions is None or action in permission.actions)
    ]


def _reaches(own: Permission, given: Permission) -> bool:
    """Whether one permission reaches as far as another. Patterns are compared as text: in doubt it does not."""
    projects = "*" in own.projects or set(given.projects) <= set(own.projects)
    return projects and own.labels.items() <= given.labels.items()


def _labels_fit(permission: Permission, labels: Mapping[str, str]) -> bool:
    return all(key in labels and fits(labels[key], pattern) for key, pattern in permission.labels.items())


def _refusal(caller: Caller, resource: Resource, action: Action, labelled: bool) -> Forbidden:
    have = ", ".join(role.name for role in caller.roles) or "none"
    why = " with these labels" if labelled else ""
    return Forbidden(
        f"{caller.name} may not {action.value} {_word(resource)}s{why} in project {caller.project_id!r} "
        f"(roles: {have}); ask an administrator for a role that allows it"
    )


def _word(resource: Resource) -> str:
    return resource.value.replace("_", " ")
