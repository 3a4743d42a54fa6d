"""People are added, changed and taken away by whoever may, on record, and never the last administrator."""

from typing import Any

import pytest

from fairway.model.role import Permission, Role
from fairway.server.store.roles import save_role
from fairway.server.store.users import list_users
from tests.integration.server.sign_in.browser import Place


async def test_a_person_is_added_sets_a_password_by_the_link_and_is_in(place: Place) -> None:
    admin = await place.signed_in("root", roles=("Admin",))

    added = await admin.change("POST", "/api/v1/users", json={"id": "jo", "display_name": "Jo", "roles": ["Editor"]})
    link = added.json()["link"]
    browser = place.browser()
    answer = await browser.fill_in(link, password="four unrelated words", again="four unrelated words")

    assert (added.status_code, answer.status_code) == (201, 303)
    assert link.startswith(str(place.client.base_url))
    assert (await browser.get("/api/v1/session")).json()["roles"] == ["Editor"]
    assert await place.actions() == [
        ("jo", "session.create", "jo"),
        ("jo", "user.set_password", "jo"),
        ("root", "session.create", "root"),
        ("root", "user.create", "jo"),
    ]


async def test_nothing_secret_is_shown_or_recorded(place: Place) -> None:
    admin = await place.signed_in("root", roles=("Admin",))
    link = (await admin.change("POST", "/api/v1/users", json={"id": "jo", "roles": []})).json()["link"]
    await place.browser().fill_in(link, password="four unrelated words", again="four unrelated words")

    listed = (await admin.get("/api/v1/users")).text + (await admin.get("/api/v1/users/jo")).text
    recorded = str(await place.recorded())

    for secret in ("argon2", link.rpartition("/")[2], "four unrelated words"):
        assert secret not in listed + recorded
    assert '"has_password":true' in listed


async def test_people_are_listed_in_pages(place: Place) -> None:
    admin = await place.signed_in("root", roles=("Admin",))
    for name in ("al", "bo"):
        await place.add_user(name)

    first = (await admin.get("/api/v1/users?limit=2")).json()
    second = (await admin.get(f"/api/v1/users?limit=2&cursor={first['next_cursor']}")).json()

    assert [user["id"] for user in (*first["items"], *second["items"])] == ["al", "bo", "root"]
    assert second["next_cursor"] == ""


async def test_a_new_role_counts_at_the_next_request(place: Place) -> None:
    admin, jo = await place.signed_in("root", roles=("Admin",)), await place.signed_in("jo", roles=("Viewer",))
    before = await jo.get("/api/v1/users")

    changed = await admin.change("PATCH", "/api/v1/users/jo", json={"roles": ["Admin"]})

    assert (before.status_code, changed.status_code) == (403, 200)
    assert (await jo.get("/api/v1/users")).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        pytest.param("PATCH", "/api/v1/users/jo", {"disabled": True}, id="disabled"),
        pytest.param("DELETE", "/api/v1/users/jo", None, id="deleted"),
        pytest.param("POST", "/api/v1/users/jo/sign-out", None, id="signed out"),
    ],
)
async def test_whoever_is_sent_away_is_out_at_the_next_request(
    place: Place, method: str, path: str, body: dict[str, Any] | None
) -> None:
    admin, jo = await place.signed_in("root", roles=("Admin",)), await place.signed_in("jo")
    before = await jo.get("/api/v1/session")

    answer = await admin.change(method, path, **({"json": body} if body else {}))

    assert (before.status_code, answer.is_success) == (200, True)
    assert (await jo.get("/api/v1/session")).status_code == 401


async def test_everybody_can_sign_themselves_out_everywhere(place: Place) -> None:
    jo = await place.signed_in("jo", roles=())

    answer = await jo.change("POST", "/api/v1/users/jo/sign-out")

    assert answer.status_code == 204
    assert (await jo.get("/api/v1/session")).status_code == 401


async def test_a_new_link_sets_a_new_password_and_ends_all_sessions(place: Place) -> None:
    admin, jo = await place.signed_in("root", roles=("Admin",)), await place.signed_in("jo")
    first = (await admin.change("POST", "/api/v1/users/jo/link")).json()["link"]
    second = (await admin.change("POST", "/api/v1/users/jo/link")).json()["link"]

    used = await place.browser().get(first)
    answer = await place.browser().fill_in(second, password="four unrelated words", again="four unrelated words")

    assert (used.status_code, answer.status_code) == (401, 303)
    assert (await jo.get("/api/v1/session")).status_code == 401
    assert (await place.browser().sign_in("jo", "four unrelated words")).status_code == 303


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "said"),
    [
        pytest.param("PATCH", "users/root", {"disabled": True}, 409, "last enabled person", id="disable"),
        pytest.param("PATCH", "users/root", {"roles": ["Editor"]}, 409, "last enabled person", id="take the role"),
        pytest.param("DELETE", "users/root", None, 409, "last enabled person", id="delete"),
        pytest.param("POST", "users", {"id": "a@b", "roles": []}, 400, "expected 1 to 63 of a-z", id="a name with @"),
        pytest.param("POST", "users", {"id": "Jo", "roles": []}, 400, "expected 1 to 63 of a-z", id="a capital"),
        pytest.param("POST", "users", {"id": "jo", "roles": ["Edtor"]}, 400, "did you mean", id="an unknown role"),
        pytest.param("POST", "users", {"id": "root", "roles": []}, 409, "exists already", id="a name that is taken"),
        pytest.param("POST", "users", {"id": "jo"}, 400, "roles is missing", id="no roles"),
        pytest.param("POST", "users", {"id": "jo", "roles": [], "x": 1}, 400, "x is no field", id="an unknown field"),
        pytest.param("PATCH", "users/nobody", {"disabled": True}, 404, "no user 'nobody'", id="nobody"),
        pytest.param("POST", "users/x@dex/link", None, 409, "signs in with dex", id="a link for a provider's"),
        pytest.param("PUT", "roles/admin", {"permissions": []}, 409, "of Fairway itself", id="a built-in role"),
        pytest.param("DELETE", "roles/Viewer", None, 409, "of Fairway itself", id="delete a built-in role"),
        pytest.param("PUT", "roles/a b", {"permissions": []}, 400, "expected a letter", id="a bad name of a role"),
        pytest.param("PUT", "settings", {"session_hours": 0}, 400, "expected 1 to", id="no hours"),
        pytest.param("PUT", "settings", {"group_roles": {"g": ["gone"]}}, 400, "no role 'gone'", id="a group's role"),
    ],
)
async def test_what_must_not_be_is_refused_and_changes_nothing(
    place: Place, method: str, path: str, body: dict[str, Any] | None, status: int, said: str
) -> None:
    admin = await place.signed_in("root", roles=("Admin",))
    await place.add_user("x@dex", provider="dex", password="")
    before = await place.store.read(list_users), await place.recorded()

    answer = await admin.change(method, f"/api/v1/{path}", **({"json": body} if body is not None else {}))

    assert (answer.status_code, said in answer.json()["error"]["message"]) == (status, True), answer.text
    assert (await place.store.read(list_users), await place.recorded()) == before


async def test_a_custom_role_is_made_given_and_cannot_be_deleted_while_in_use(place: Place) -> None:
    admin = await place.signed_in("root", roles=("Admin",))
    body = {"permissions": [{"resources": ["application"], "actions": ["read", "sync"], "labels": {"team": "c*"}}]}
    made = await admin.change("PUT", "/api/v1/roles/cart-team", json=body)
    await admin.change("POST", "/api/v1/users", json={"id": "jo", "roles": ["cart-team"]})
    await admin.change("PUT", "/api/v1/settings", json={"group_roles": {"cart/dev": ["cart-team"]}})

    refused = await admin.change("DELETE", "/api/v1/roles/cart-team")
    await admin.change("DELETE", "/api/v1/users/jo")
    await admin.change("PUT", "/api/v1/settings", json={})
    deleted = await admin.change("DELETE", "/api/v1/roles/cart-team")

    assert (made.status_code, made.json()["permissions"][0]["projects"]) == (200, ["*"])
    assert refused.json()["error"]["message"].startswith("role cart-team is in use by user jo, group cart/dev;")
    assert deleted.status_code == 204
    assert [action for _, action, _ in await place.actions() if "settings" in action] == ["settings.update"] * 2


async def test_what_a_role_allows_counts_at_once_for_whoever_has_it(place: Place) -> None:
    admin, jo = await place.signed_in("root", roles=("Admin",)), await place.signed_in("jo", roles=("watch",))
    before = await jo.get("/api/v1/roles")

    await admin.change("PUT", "/api/v1/roles/watch", json={"permissions": [{"resources": ["role"]}]})

    assert (before.status_code, (await jo.get("/api/v1/roles")).status_code) == (403, 200)


async def test_settings_come_back_as_set_and_are_recorded_with_what_was_before(place: Place) -> None:
    admin = await place.signed_in("root", roles=("Admin",))
    body = {"group_roles": {"ops": ["Admin"]}, "allow_stray_as_viewer": True, "session_hours": 8}

    answer = await admin.change("PUT", "/api/v1/settings", json=body)

    assert (answer.json(), (await admin.get("/api/v1/settings")).json()) == (body, body)
    record = next(each for each in await place.recorded() if each.action == "settings.update")
    assert (record.project_id, record.before["session_hours"], record.after["session_hours"]) == ("", 168, 8)


@pytest.mark.parametrize("role", [pytest.param("Editor", id="an editor"), pytest.param("Viewer", id="a viewer")])
async def test_nobody_but_administrators_sees_people_or_settings(place: Place, role: str) -> None:
    jo = await place.signed_in("jo", roles=(role,))

    answers = [await jo.get(f"/api/v1/{path}") for path in ("users", "users/jo", "roles", "roles/Admin", "settings")]
    tried = await jo.change("PATCH", "/api/v1/users/jo", json={"roles": ["Admin"]})

    assert {answer.status_code for answer in answers} == {403}
    assert tried.status_code == 403


async def test_the_administrator_of_one_project_cannot_become_that_of_all(place: Place) -> None:
    local = Role(name="shop-admin", permissions=(Permission(projects=("shop",)),))
    await place.store.write(lambda connection: save_role(connection, local))
    await place.add_user("root", roles=("Admin",))
    jo = await place.signed_in("jo", roles=("shop-admin",))
    wide = {"permissions": [{"resources": ["application"]}]}

    refused = [
        await jo.change("PATCH", "/api/v1/users/jo", json={"roles": ["Admin"]}),
        await jo.change("POST", "/api/v1/users/root/link"),
        await jo.change("PATCH", "/api/v1/users/root", json={"disabled": True}),
        await jo.change("DELETE", "/api/v1/users/root"),
        await jo.change("PUT", "/api/v1/roles/wide", json=wide),
        await jo.change("PUT", "/api/v1/roles/shop-admin", json=wide),
        await jo.change("PUT", "/api/v1/settings", json={"group_roles": {"g": ["Viewer"]}}),
    ]
    allowed = await jo.change("POST", "/api/v1/users", json={"id": "al", "roles": ["shop-admin"]})

    assert [answer.status_code for answer in refused] == [403] * 7
    assert allowed.status_code == 201
