"""Roles come from what was given here and from groups that somebody gave a meaning, and from nothing else."""

import pytest

from fairway.model.role import EDITOR, VIEWER, Role
from fairway.model.user import User
from fairway.server.sign_in.grants import role_names, roles_of
from fairway.server.store.settings import PeopleSettings
from tests.integration.server.sign_in.people import a_user

MAPPED = PeopleSettings(group_roles={"cart/dev": ("Editor", "looker"), "ops": ("Admin",)})
STRAYS = PeopleSettings(allow_stray_as_viewer=True)


@pytest.mark.parametrize(
    ("user", "settings", "names"),
    [
        pytest.param(a_user(roles=("Editor",)), MAPPED, ("Editor",), id="given here"),
        pytest.param(a_user(provider="dex", groups=("cart/dev",)), MAPPED, ("Editor", "looker"), id="of a group"),
        pytest.param(
            a_user(provider="dex", roles=("looker",), groups=("cart/dev", "ops")),
            MAPPED,
            ("looker", "Editor", "Admin"),
            id="both, each once",
        ),
        pytest.param(a_user(provider="dex", groups=("Admin",)), MAPPED, (), id="a group that is called like a role"),
        pytest.param(a_user(provider="dex", groups=("other",)), STRAYS, ("Viewer",), id="a stray who may look"),
        pytest.param(a_user(), STRAYS, (), id="a local person without roles is no stray"),
        pytest.param(a_user(provider="dex", roles=("Editor",)), STRAYS, ("Editor",), id="no stray with a role"),
    ],
)
def test_the_names_of_somebodys_roles(user: User, settings: PeopleSettings, names: tuple[str, ...]) -> None:
    assert role_names(user, settings) == names


def test_a_role_that_is_gone_gives_nothing_and_built_in_ones_cannot_be_replaced() -> None:
    made = {"looker": Role(name="looker", permissions=()), "Viewer": Role(name="Viewer", permissions=())}
    user = a_user(roles=("Viewer", "gone", "looker", "Editor"))

    assert roles_of(user, PeopleSettings(), made.get) == (VIEWER, made["looker"], EDITOR)
