"""Sign-in with GitHub: teams are groups, all of them, and nothing leads elsewhere."""

from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlencode

import httpx
import msgspec
import pytest

from fairway.server.sign_in.authorities import Authorities
from fairway.server.sign_in.providers import GitHubProvider
from fairway.server.store.settings import PeopleSettings, save_people_settings
from fairway.server.store.users import list_users
from tests.integration.server.sign_in.browser import Browser, Place, a_place
from tests.integration.server.sign_in.github_double import CLIENT, SECRET, GitHubDouble, a_github_double


class Party(msgspec.Struct, frozen=True):
    """Our server and the GitHub it trusts."""

    place: Place
    double: GitHubDouble

    async def sign_in(self, browser: Browser, code: str = "") -> httpx.Response:
        leaving = await browser.get("/sign-in/github/start")
        given, state = self.double.departed(leaving.headers["location"])
        return await browser.get(f"/sign-in/github/callback?{urlencode({'code': code or given, 'state': state})}")


@pytest.fixture
async def party(tmp_path: Path) -> AsyncIterator[Party]:
    async with a_github_double() as double:
        provider = GitHubProvider(name="github", client_id=CLIENT, client_secret=SECRET, base_url=double.url)
        async with a_place(
            tmp_path,
            prepare=lambda desk: msgspec.structs.replace(desk, authorities=Authorities((provider,), desk.clock)),
        ) as place:
            mapped = PeopleSettings(group_roles={"cart/dev": ("Editor",), "cart/team-249": ("Viewer",)})
            await place.store.write(lambda connection: save_people_settings(connection, mapped))
            yield Party(place, double)


async def test_a_team_is_a_group_by_its_slug(party: Party) -> None:
    browser = party.place.browser()

    answer = await party.sign_in(browser)
    session = (await browser.get("/api/v1/session")).json()

    assert answer.status_code == 303
    shown = (session["name"], session["display_name"], session["roles"], session["groups"])
    assert shown == ("octocat@github", "The Octocat", ["Editor"], ["cart/dev"])


async def test_teams_on_later_pages_count_too(party: Party) -> None:
    party.double.teams = [{"slug": f"team-{number}", "organization": {"login": "cart"}} for number in range(250)]
    browser = party.place.browser()

    await party.sign_in(browser)
    session = (await browser.get("/api/v1/session")).json()

    assert (session["roles"], len(session["groups"])) == (["Viewer"], 250)


async def test_a_page_of_teams_on_another_host_is_not_followed(party: Party) -> None:
    party.double.teams *= 101
    party.double.next_page = "https://evil.example/api/v3/user/teams?page=2"

    answer = await party.sign_in(party.place.browser())

    assert (answer.status_code, "another host" in answer.text) == (503, True)
    assert await party.place.store.read(list_users) == ()


async def test_somebody_in_no_team_that_counts_is_refused_in_words(party: Party) -> None:
    party.double.teams = []

    answer = await party.sign_in(party.place.browser())

    assert (answer.status_code, "none of your groups has a role here (groups: none)" in answer.text) == (403, True)


async def test_a_login_that_passed_to_another_account_is_refused(party: Party) -> None:
    await party.sign_in(party.place.browser())
    party.double.account["id"] = 1

    answer = await party.sign_in(party.place.browser())

    assert (answer.status_code, "somebody else" in answer.text) == (403, True)


async def test_a_wrong_code_is_refused_in_words(party: Party) -> None:
    answer = await party.sign_in(party.place.browser(), code="guessed")

    assert (answer.status_code, "bad_verification_code" in answer.text) == (403, True)


async def test_an_answer_that_makes_no_sense_is_the_providers_fault(party: Party) -> None:
    party.double.account = {"message": "Not what you think"}

    answer = await party.sign_in(party.place.browser())

    assert (answer.status_code, "does not answer as a sign-in provider should" in answer.text) == (503, True)
