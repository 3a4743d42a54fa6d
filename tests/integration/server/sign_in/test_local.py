"""Signing in with a password: who gets in, who does not, and what the server gives away meanwhile."""

from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from fairway.server.sign_in.attempts import BY_ADDRESS, BY_USER
from fairway.server.sign_in.cookies import SESSION
from fairway.server.sign_in.local import Typed, sign_in
from fairway.server.sign_in.passwords import Checked, Passwords
from fairway.server.status_codes import BadCredentials
from fairway.server.store.projects import insert_project
from tests.integration.server.sign_in.browser import CHEAP, PASSWORD, Place, a_place
from tests.integration.server.store.nouns import a_project

TYPED = {"username": "jo", "password": PASSWORD}


async def test_the_right_password_begins_a_session(place: Place) -> None:
    await place.add_user("jo")
    browser = place.browser()

    answer = await browser.send("POST", "/api/v1/session", json=TYPED)
    session = (await browser.get("/api/v1/session")).json()

    assert (answer.status_code, answer.json()["name"], answer.json()["csrf_token"]) == (
        201,
        "jo",
        session["csrf_token"],
    )
    assert (session["kind"], session["name"], session["roles"], session["project_id"]) == (
        "user",
        "jo",
        ["Viewer"],
        "shop",
    )
    assert (await place.user()).last_sign_in_at == place.clock.now()
    assert await place.actions() == [("jo", "session.create", "jo")]


async def test_the_cookie_is_closed_to_scripts_and_other_sites(place: Place) -> None:
    browser = await place.signed_in()

    morsel = browser.set[SESSION]

    assert (morsel["httponly"], morsel["samesite"], morsel["path"], morsel["secure"]) == (True, "lax", "/", "")
    assert (morsel["domain"], int(morsel["max-age"])) == ("", 7 * 24 * 3600)


async def test_over_tls_the_cookie_is_bound_to_the_host(tmp_path: Path) -> None:
    async with a_place(tmp_path, web_url="https://fairway.example.com/") as place:
        browser = await place.signed_in()

        morsel = browser.set[f"__Host-{SESSION}"]
        plain = await place.client.get(
            "/api/v1/session", headers={"cookie": f"{SESSION}={browser.cookies[f'__Host-{SESSION}']}"}
        )

    assert (morsel["secure"], morsel["path"], morsel["domain"]) == (True, "/", "")
    assert plain.status_code == 401


@pytest.mark.parametrize(
    "typed",
    [
        pytest.param({"username": "jo", "password": "incorrect horse"}, id="a wrong password"),
        pytest.param({"username": "nobody", "password": PASSWORD}, id="an unknown name"),
        pytest.param({"username": "al", "password": PASSWORD}, id="somebody disabled"),
        pytest.param({"username": "mo", "password": ""}, id="somebody without a password"),
        pytest.param({"username": "x@dex", "password": ""}, id="somebody of a provider"),
        pytest.param({"username": "jo' OR 1=1 --", "password": PASSWORD}, id="a trick"),
        pytest.param({"username": "j" * 10_000, "password": "p" * 10_000}, id="too long"),
    ],
)
async def test_everybody_else_gets_the_same_answer(place: Place, typed: dict[str, str]) -> None:
    await place.add_user("jo")
    await place.add_user("al", disabled=True)
    await place.add_user("mo", password="")
    await place.add_user("x@dex", password="", provider="dex")

    answer = await place.browser().send("POST", "/api/v1/session", json=typed)

    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "unauthenticated")
    assert answer.json()["error"]["message"].startswith("the name or the password is wrong")
    assert await place.recorded() == []


class Watched(Passwords):
    """Notes what it was given to check."""

    def __init__(self) -> None:
        super().__init__(CHEAP)
        self.checked: list[bool] = []

    async def check(self, stored: str, password: str) -> Checked:
        self.checked.append(bool(stored))
        return await super().check(stored, password)


async def test_an_unknown_name_costs_the_same_work_as_a_wrong_password(place: Place) -> None:
    await place.add_user("jo")
    passwords = Watched()
    desk = msgspec.structs.replace(place.desk, passwords=passwords)

    for name in ("jo", "nobody", "no body"):
        with pytest.raises(BadCredentials):
            await sign_in(desk, Typed(name, "incorrect horse"), "192.0.2.1")

    assert passwords.checked == [True, False, False]


async def test_a_name_is_typed_with_capitals_or_spaces(place: Place) -> None:
    await place.add_user("jo")

    answer = await place.browser().send("POST", "/api/v1/session", json={**TYPED, "username": " Jo "})

    assert answer.status_code == 201


async def test_after_some_failures_even_the_right_password_has_to_wait(place: Place) -> None:
    await place.add_user("jo")
    browser = place.browser()
    for _ in range(BY_USER.free):
        await browser.send("POST", "/api/v1/session", json={**TYPED, "password": "incorrect"})

    early = await browser.send("POST", "/api/v1/session", json=TYPED)
    place.clock.advance(timedelta(seconds=int(early.headers["retry-after"])))
    late = await browser.send("POST", "/api/v1/session", json=TYPED)

    assert (early.status_code, early.json()["error"]["code"]) == (429, "resource_exhausted")
    assert late.status_code == 201


async def test_many_failures_from_one_address_are_slowed_down_whatever_the_names(place: Place) -> None:
    tries = [{"username": f"u{number}", "password": "incorrect"} for number in range(BY_ADDRESS.free + 1)]

    answers = [await place.browser().send("POST", "/api/v1/session", json=each) for each in tries]

    assert [answer.status_code for answer in answers] == [401] * BY_ADDRESS.free + [429]


async def test_somebody_who_signs_in_often_never_waits(place: Place) -> None:
    await place.add_user("jo")

    answers = [await place.browser().send("POST", "/api/v1/session", json=TYPED) for _ in range(2 * BY_ADDRESS.free)]

    assert {answer.status_code for answer in answers} == {201}


async def test_failures_beyond_the_free_ones_are_recorded_without_what_was_typed(place: Place) -> None:
    await place.add_user("jo")
    for name in ("jo", "my-secret-password"):
        for _ in range(BY_USER.free):
            await place.browser().send("POST", "/api/v1/session", json={"username": name, "password": "incorrect"})

    recorded = await place.recorded()

    assert sorted((each.actor, each.action, each.after["failures"], each.address) for each in recorded) == [
        ("", "session.refuse", 10, "127.0.0.1"),
        ("jo", "session.refuse", 5, "127.0.0.1"),
    ]
    assert b"my-secret" not in msgspec.json.encode(recorded)


async def test_a_hash_of_older_parameters_is_renewed_at_the_next_sign_in(place: Place) -> None:
    await place.add_user("jo")
    before = (await place.user()).password_hash
    dearer = msgspec.structs.replace(place.desk, passwords=Passwords())

    await sign_in(dearer, Typed("jo", PASSWORD), "::1")
    after = (await place.user()).password_hash

    assert before != after
    assert after.startswith("$argon2id$v=19$m=19456")
    assert (await dearer.passwords.check(after, PASSWORD)).right


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({"origin": "https://evil.example"}, id="by origin"),
        pytest.param({"sec-fetch-site": "cross-site"}, id="by fetch metadata"),
    ],
)
async def test_another_sites_page_cannot_sign_somebody_in(place: Place, headers: dict[str, str]) -> None:
    await place.add_user("jo")

    answer = await place.browser().send("POST", "/api/v1/session", json=TYPED, headers=headers)

    assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)


async def test_what_is_no_json_is_not_taken_for_it(place: Place) -> None:
    await place.add_user("jo")
    content = msgspec.json.encode(TYPED)

    answer = await place.browser().send(
        "POST", "/api/v1/session", content=content, headers={"content-type": "text/plain"}
    )

    assert answer.status_code == 415


async def test_signing_in_again_ends_the_session_before(place: Place) -> None:
    browser = await place.signed_in()
    before = dict(browser.cookies)

    await browser.send("POST", "/api/v1/session", json=TYPED)
    old = await place.client.get("/api/v1/session", headers={"cookie": f"{SESSION}={before[SESSION]}"})

    assert browser.cookies[SESSION] != before[SESSION]
    assert old.status_code == 401


async def test_a_planted_cookie_does_not_become_the_session(place: Place) -> None:
    await place.add_user("jo")
    browser = place.browser()
    browser.cookies[SESSION] = "planted.by-somebody"

    await browser.sign_in("jo")

    assert browser.cookies[SESSION].partition(".")[0] != "planted"
    assert (await browser.get("/api/v1/session")).status_code == 200


async def test_signing_out_ends_the_session_wherever_its_cookie_is(place: Place) -> None:
    browser = await place.signed_in()
    stolen = place.browser()
    stolen.cookies = dict(browser.cookies)

    answer = await browser.change("DELETE", "/api/v1/session")

    assert (answer.status_code, SESSION in browser.cookies) == (204, False)
    assert (await stolen.get("/api/v1/session")).status_code == 401
    assert await place.actions() == [("jo", "session.create", "jo"), ("jo", "session.delete", "jo")]


async def test_signing_out_needs_the_token(place: Place) -> None:
    browser = await place.signed_in()

    assert (await browser.send("DELETE", "/api/v1/session")).status_code == 403
    assert (await browser.get("/api/v1/session")).status_code == 200


async def test_a_session_with_several_projects_says_which_there_are(place: Place) -> None:
    browser = await place.signed_in()
    await place.store.write(lambda connection: insert_project(connection, a_project("bank", desc="money")))
    session = (await browser.get("/api/v1/session")).json()

    assert (session["project_id"], session["projects"]) == (
        "",
        [{"id": "bank", "desc": "money"}, {"id": "shop", "desc": ""}],
    )
