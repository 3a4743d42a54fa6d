"""What roles allow: nothing by themselves, never less for one more, and only where project and labels fit."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.model.api_key import APIKeyRole
from fairway.model.role import ADMIN, BUILT_IN_ROLES, EDITOR, VIEWER, Action, Permission, Resource, Role
from fairway.server.callers import KEY_ROLES, Caller, CallerKind
from fairway.server.permissions import fits, may, permit, permit_granting, scope
from fairway.server.status_codes import Forbidden

WORDS = st.sampled_from(["a", "b", "dev", "prod", "shop", "shop-eu"])
PATTERNS = st.sampled_from(["*", "?", "dev", "pr*", "shop*", "shop-??", "[a]", ""])
LABELS = st.dictionaries(st.sampled_from(["env", "team"]), WORDS)
PERMISSIONS = st.builds(
    Permission,
    resources=st.none() | st.lists(st.sampled_from(Resource), max_size=3).map(tuple),
    actions=st.none() | st.lists(st.sampled_from(Action), max_size=3).map(tuple),
    projects=st.lists(PATTERNS, max_size=2).map(tuple),
    labels=st.dictionaries(st.sampled_from(["env", "team"]), PATTERNS, max_size=2),
)
ROLES = st.builds(Role, name=st.just("role"), permissions=st.lists(PERMISSIONS, max_size=3).map(tuple))
ASKED = st.tuples(st.sampled_from(Resource), st.sampled_from(Action), LABELS)


def a_caller(*roles: Role, project_id: str = "shop") -> Caller:
    return Caller(kind=CallerKind.USER, name="ada", project_id=project_id, roles=roles)


@given(ASKED)
def test_who_has_no_role_may_nothing(asked: tuple[Resource, Action, dict[str, str]]) -> None:
    resource, action, labels = asked

    with pytest.raises(Forbidden):
        permit(a_caller(), resource, action, "shop", labels)


@given(st.lists(ROLES, max_size=3), ROLES, ASKED)
def test_one_more_role_never_allows_less(
    roles: list[Role], more: Role, asked: tuple[Resource, Action, dict[str, str]]
) -> None:
    resource, action, labels = asked
    before = may(a_caller(*roles), resource, action, "shop", labels)

    assert may(a_caller(*roles, more), resource, action, "shop", labels) >= before


@given(st.lists(ROLES, max_size=3), ASKED)
def test_no_role_reaches_into_another_project(
    roles: list[Role], asked: tuple[Resource, Action, dict[str, str]]
) -> None:
    resource, action, labels = asked

    assert not may(a_caller(*roles, ADMIN), resource, action, "elsewhere", labels)


@given(st.lists(ROLES, max_size=3), st.sampled_from(Resource), LABELS)
def test_a_list_shows_exactly_what_may_be_read_one_by_one(
    roles: list[Role], resource: Resource, labels: dict[str, str]
) -> None:
    caller = a_caller(*roles)
    try:
        seen = scope(caller, resource).any_of
    except Forbidden:
        seen = ()
    shown = any(all(key in labels and fits(labels[key], each[key]) for key in each) for each in seen)

    assert shown == may(caller, resource, Action.READ, "shop", labels)


@pytest.mark.parametrize(
    ("pattern", "project_id", "expected"),
    [
        pytest.param("*", "shop", True, id="any"),
        pytest.param("shop", "shop", True, id="itself"),
        pytest.param("shop", "shops", False, id="only the beginning"),
        pytest.param("shop-*", "shop-eu", True, id="a beginning"),
        pytest.param("sho?", "shop", True, id="one character"),
        pytest.param("sho?", "sho", False, id="a missing character"),
        pytest.param("SHOP", "shop", False, id="another case"),
        pytest.param("[s]hop", "shop", False, id="no classes"),
        pytest.param("[s]hop", "[s]hop", True, id="brackets are brackets"),
        pytest.param("", "shop", False, id="nothing"),
    ],
)
def test_a_permission_holds_in_the_projects_that_its_patterns_describe(
    pattern: str, project_id: str, expected: bool
) -> None:
    role = Role(name="role", permissions=(Permission(projects=(pattern,)),))

    assert may(a_caller(role, project_id=project_id), Resource.AGENT, Action.READ, project_id) is expected


@pytest.mark.parametrize(
    ("role", "resource", "action", "expected"),
    [
        pytest.param(VIEWER, Resource.APPLICATION, Action.READ, True, id="a viewer looks"),
        pytest.param(VIEWER, Resource.APPLICATION, Action.SYNC, False, id="a viewer syncs nothing"),
        pytest.param(VIEWER, Resource.AUDIT, Action.READ, False, id="a viewer does not see the record"),
        pytest.param(EDITOR, Resource.DEPLOYMENT, Action.APPROVE, True, id="an editor approves"),
        pytest.param(EDITOR, Resource.AGENT, Action.UPDATE, False, id="an editor leaves agents alone"),
        pytest.param(EDITOR, Resource.USER, Action.READ, False, id="an editor does not see people"),
        pytest.param(ADMIN, Resource.SETTINGS, Action.UPDATE, True, id="an administrator may all"),
        pytest.param(KEY_ROLES[APIKeyRole.READ_ONLY], Resource.AGENT, Action.READ, True, id="a reading key looks"),
        pytest.param(KEY_ROLES[APIKeyRole.READ_ONLY], Resource.EVENT, Action.CREATE, False, id="and tells nothing"),
        pytest.param(KEY_ROLES[APIKeyRole.READ_WRITE], Resource.AGENT, Action.CREATE, True, id="a key adds agents"),
        pytest.param(KEY_ROLES[APIKeyRole.READ_WRITE], Resource.API_KEY, Action.CREATE, False, id="but no keys"),
        pytest.param(KEY_ROLES[APIKeyRole.ADMIN], Resource.API_KEY, Action.CREATE, True, id="an admin's key does"),
    ],
)
def test_built_in_roles(role: Role, resource: Resource, action: Action, expected: bool) -> None:
    assert may(a_caller(role), resource, action, "shop") is expected


@given(ROLES, ROLES)
def test_nobody_gives_away_what_they_may_not_do(has: Role, given_away: Role) -> None:
    caller, receiver = a_caller(has), a_caller(msgspec.structs.replace(given_away, name="received"))
    try:
        permit_granting(caller, given_away)
    except Forbidden:
        return

    asked = [(resource, action) for resource in Resource for action in Action]
    assert all(may(caller, *each, "shop") for each in asked if may(receiver, *each, "shop"))


@pytest.mark.parametrize("role", BUILT_IN_ROLES.values(), ids=BUILT_IN_ROLES)
def test_an_administrator_may_give_every_built_in_role(role: Role) -> None:
    permit_granting(a_caller(ADMIN), role)
