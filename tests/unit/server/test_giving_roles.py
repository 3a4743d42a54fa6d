"""Nobody gives a person more than they have themselves, anywhere."""

from contextlib import nullcontext

import pytest

from fairway.model.role import ADMIN, EDITOR, VIEWER, Action, Permission, Resource, Role
from fairway.server.callers import Caller, CallerKind
from fairway.server.permissions import permit_giving_to_people
from fairway.server.status_codes import Forbidden


def a_role(**fields: object) -> Role:
    return Role(name="custom", permissions=(Permission(**fields),))  # type: ignore[arg-type]  # as the test says


SHOP = a_role(projects=("shop",))
SHOPS = a_role(projects=("shop", "bank"))
TEAM = a_role(labels={"team": "cart"})
SYNC = a_role(resources=(Resource.APPLICATION,), actions=(Action.SYNC,))


@pytest.mark.parametrize(
    ("own", "given", "may"),
    [
        pytest.param(ADMIN, ADMIN, True, id="an administrator gives everything"),
        pytest.param(ADMIN, TEAM, True, id="and less"),
        pytest.param(EDITOR, VIEWER, True, id="an editor gives what a viewer has"),
        pytest.param(VIEWER, EDITOR, False, id="a viewer does not give what an editor has"),
        pytest.param(SHOP, ADMIN, False, id="one project is not all"),
        pytest.param(SHOP, SHOPS, False, id="one project is not two"),
        pytest.param(SHOPS, SHOP, True, id="two projects are one"),
        pytest.param(TEAM, ADMIN, False, id="one team is not all"),
        pytest.param(TEAM, TEAM, True, id="one team is itself"),
        pytest.param(TEAM, a_role(labels={"team": "c*"}), False, id="a wider pattern"),
        pytest.param(TEAM, a_role(labels={"team": "cart", "env": "dev"}), True, id="more labels are less"),
        pytest.param(SYNC, SYNC, True, id="the same"),
        pytest.param(SYNC, a_role(resources=(Resource.APPLICATION,)), False, id="one action is not all"),
        pytest.param(Role(name="none", permissions=()), SYNC, False, id="nothing gives nothing"),
    ],
)
def test_who_may_give_what(own: Role, given: Role, may: bool) -> None:
    caller = Caller(kind=CallerKind.USER, name="jo", project_id="shop", roles=(own,))

    with nullcontext() if may else pytest.raises(Forbidden, match="cannot give"):
        permit_giving_to_people(caller, given)
