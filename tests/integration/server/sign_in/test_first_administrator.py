"""The first administrator: no default password, one link at a time that works, and the very first sign-in."""

from datetime import timedelta

from fairway.server.first_start import ADMINISTRATOR, prepare_administrator
from fairway.server.store.users import delete_user, list_users
from tests.integration.server.sign_in.browser import Place

WORDS = "four unrelated words"


async def test_an_empty_server_makes_an_administrator_without_a_password_and_a_link(place: Place) -> None:
    link = await prepare_administrator(place.store, place.clock)

    (admin,) = await place.store.read(list_users)
    assert link is not None
    assert (admin.id, admin.roles, admin.password_hash) == (ADMINISTRATOR, ("Admin",), "")
    assert link.token not in repr(link)
    for password in ("", "admin", "password"):
        assert (await place.browser().sign_in(ADMINISTRATOR, password)).status_code == 401


async def test_the_link_sets_the_password_signs_in_and_is_used_up(place: Place) -> None:
    link = await prepare_administrator(place.store, place.clock)
    assert link is not None
    browser = place.browser()

    looked = [await place.browser().get(link.path) for _ in range(3)]
    answer = await browser.fill_in(link.path, password=WORDS, again=WORDS)
    page = await browser.get(answer.headers["location"])
    again = await place.browser().get(link.path)

    assert ({each.status_code for each in looked}, answer.status_code, again.status_code) == ({200}, 303, 401)
    assert "You are signed in" in page.text
    assert (await place.browser().sign_in(ADMINISTRATOR, WORDS)).status_code == 303


async def test_each_start_makes_a_fresh_link_and_voids_the_one_before_until_one_is_used(place: Place) -> None:
    first = await prepare_administrator(place.store, place.clock)
    second = await prepare_administrator(place.store, place.clock)
    assert first is not None
    assert second is not None

    old = await place.browser().get(first.path)
    new = await place.browser().fill_in(second.path, password=WORDS, again=WORDS)

    assert (old.status_code, new.status_code) == (401, 303)
    assert "was replaced by a newer one" in old.text
    assert await prepare_administrator(place.store, place.clock) is None


async def test_a_link_is_too_old_after_a_day(place: Place) -> None:
    link = await prepare_administrator(place.store, place.clock)
    assert link is not None

    place.clock.advance(timedelta(hours=24))

    assert (await place.browser().get(link.path)).status_code == 401


async def test_a_server_with_people_makes_nobody(place: Place) -> None:
    await place.add_user("root", roles=("Admin",))

    assert await prepare_administrator(place.store, place.clock) is None
    assert [user.id for user in await place.store.read(list_users)] == ["root"]


async def test_a_deleted_first_administrator_does_not_come_back(place: Place) -> None:
    await prepare_administrator(place.store, place.clock)
    await place.add_user("root", roles=("Admin",))
    await place.store.write(lambda connection: delete_user(connection, ADMINISTRATOR))

    assert await prepare_administrator(place.store, place.clock) is None


async def test_passwords_that_differ_or_are_weak_are_said_so_and_the_link_still_works(place: Place) -> None:
    link = await prepare_administrator(place.store, place.clock)
    assert link is not None

    differ = await place.browser().fill_in(link.path, password=WORDS, again=f"{WORDS}!")
    weak = await place.browser().fill_in(link.path, password="short", again="short")
    right = await place.browser().fill_in(link.path, password=WORDS, again=WORDS)

    assert [answer.status_code for answer in (differ, weak, right)] == [400, 400, 303]
    assert "The two passwords differ" in differ.text
    assert "expected 12 to 1000" in weak.text


async def test_a_link_of_somebody_disabled_is_worth_nothing(place: Place) -> None:
    link = await prepare_administrator(place.store, place.clock)
    assert link is not None
    admin = await place.signed_in("root", roles=("Admin",))

    await admin.change("PATCH", f"/api/v1/users/{ADMINISTRATOR}", json={"disabled": True})

    assert (await place.user(ADMINISTRATOR)).disabled
    assert (await place.browser().get(link.path)).status_code == 401
