"""Projects: who sees which, and what they may be called."""

import pytest

from fairway.model.role import ADMIN, VIEWER, Permission, Role
from fairway.server.actions.projects import change_project, create_project, list_projects
from fairway.server.callers import CallerKind
from fairway.server.status_codes import Forbidden, InvalidRequest
from fairway.server.store.errors import AlreadyExists
from tests.integration.server.actions.acting import Acting, a_caller, an_admin


async def test_a_person_sees_the_projects_that_their_roles_cover(parts: Acting) -> None:
    for id in ("shop-eu", "shop-us", "secret"):
        await create_project(parts.desk, an_admin(), id)
    shops = Role(name="Shops", permissions=(Permission(projects=("shop-*",)),))

    seen = await list_projects(parts.desk, a_caller(shops))

    assert [project.id for project in seen] == ["shop-eu", "shop-us"]
    assert await list_projects(parts.desk, a_caller()) == ()
    assert len(await list_projects(parts.desk, a_caller(VIEWER))) == 4


async def test_a_key_sees_and_changes_its_own_project_only(parts: Acting) -> None:
    await create_project(parts.desk, an_admin(), "more")
    key = a_caller(ADMIN, kind=CallerKind.API_KEY, name="key-1")

    assert [project.id for project in await list_projects(parts.desk, key)] == ["acme"]
    with pytest.raises(Forbidden):
        await change_project(parts.desk, key, "more", "mine")
    assert (await change_project(parts.desk, key, "acme", "mine")).desc == "mine"


async def test_a_change_is_recorded_in_the_project_that_it_is_about(parts: Acting) -> None:
    await create_project(parts.desk, an_admin(), "more", "old")

    await change_project(parts.desk, an_admin(), "more", "new")

    (record,) = await parts.audited("more")
    assert (record.before, record.after) == ({"desc": "old"}, {"desc": "new"})


@pytest.mark.parametrize("id", ["", "-", "A", "a b", "a/b", "a-", "x" * 51, "ä", "a\n"])
async def test_a_project_has_an_id_that_stands_in_an_address(parts: Acting, id: str) -> None:
    with pytest.raises(InvalidRequest, match="expected 1 to 50"):
        await create_project(parts.desk, an_admin(), id)


async def test_no_two_projects_have_one_id(parts: Acting) -> None:
    with pytest.raises(AlreadyExists):
        await create_project(parts.desk, an_admin(), "acme")

    assert await parts.audited("") == ()
