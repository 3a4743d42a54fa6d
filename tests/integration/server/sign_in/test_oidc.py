"""Sign-in with OpenID Connect: who gets in with what, and everything about a token that must fit."""

from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import msgspec
import pytest
from joserfc.jwk import OctKey, RSAKey

from fairway.model.user import User
from fairway.server.sign_in.authorities import Authorities
from fairway.server.sign_in.cookies import JOURNEY, SESSION
from fairway.server.sign_in.journeys import LASTS
from fairway.server.sign_in.providers import OidcProvider
from fairway.server.store.settings import PeopleSettings, save_people_settings
from fairway.server.store.users import list_users, update_user
from tests.integration.server.sign_in.browser import Browser, Place, a_place
from tests.integration.server.sign_in.oidc_double import CLIENT, SECRET, OidcDouble, an_oidc_double
from tests.unit.model.builders import NOW

MAPPED = PeopleSettings(group_roles={"cart/dev": ("Editor",)})


class Party(msgspec.Struct, frozen=True):
    """Our server and the provider it trusts."""

    place: Place
    double: OidcDouble

    async def decide(self, settings: PeopleSettings) -> None:
        await self.place.store.write(lambda connection: save_people_settings(connection, settings))

    async def sign_in(self, browser: Browser, onward: str = "") -> httpx.Response:
        """There and back."""
        leaving = await browser.get(f"/sign-in/dex/start?{urlencode({'next': onward})}")
        code, state = self.double.departed(leaving.headers["location"])
        return await browser.get(f"/sign-in/dex/callback?{urlencode({'code': code, 'state': state})}")

    async def users(self) -> tuple[User, ...]:
        return await self.place.store.read(list_users)


@pytest.fixture
async def party(tmp_path: Path) -> AsyncIterator[Party]:
    async with an_oidc_double() as double:
        provider = OidcProvider(name="dex", title="Dex", issuer=double.url, client_id=CLIENT, client_secret=SECRET)
        async with a_place(
            tmp_path,
            prepare=lambda desk: msgspec.structs.replace(desk, authorities=Authorities((provider,), desk.clock)),
        ) as place:
            found = Party(place, double)
            await found.decide(MAPPED)
            yield found


async def test_somebody_in_a_mapped_group_comes_in_with_its_role(party: Party) -> None:
    browser = party.place.browser()

    answer = await party.sign_in(browser, "/deployments?id=1")
    session = (await browser.get("/api/v1/session")).json()

    assert (answer.status_code, answer.headers["location"]) == (303, "/deployments?id=1")
    shown = (session["name"], session["display_name"], session["provider"], session["roles"], session["groups"])
    assert shown == ("jo@dex", "Jo Doe", "dex", ["Editor"], ["cart/dev"])
    assert (JOURNEY in browser.cookies, SESSION in browser.cookies) == (False, True)
    assert await party.place.actions() == [("jo@dex", "session.create", "jo@dex"), ("jo@dex", "user.create", "jo@dex")]


async def test_the_sign_in_page_offers_the_provider(party: Party) -> None:
    page = (await party.place.browser().get("/sign-in?next=/apps")).text

    assert '<a class="button other" href="/sign-in/dex/start?next=%2Fapps">Sign in with Dex</a>' in page


async def test_a_second_sign_in_brings_new_groups_and_keeps_what_was_given_here(party: Party) -> None:
    await party.sign_in(party.place.browser())
    await party.place.store.write(
        lambda connection: update_user(
            connection, "jo@dex", lambda user: msgspec.structs.replace(user, roles=("Viewer",))
        )
    )
    party.double.claims["groups"] = ["ops"]

    browser = party.place.browser()
    await party.sign_in(browser)

    assert (await browser.get("/api/v1/session")).json()["roles"] == ["Viewer"]
    assert [(user.id, user.groups) for user in await party.users()] == [("jo@dex", ("ops",))]


@pytest.mark.parametrize("groups", [["Admin"], ["Editor", "Viewer"], [], "Admin", None, [1, {"a": 2}]])
async def test_without_a_mapped_group_nobody_comes_in_whatever_the_groups_are_called(party: Party, groups: Any) -> None:
    party.double.claims["groups"] = groups

    answer = await party.sign_in(party.place.browser())

    assert (answer.status_code, "none of your groups has a role here" in answer.text) == (403, True)
    assert (await party.users(), "set-cookie" in answer.headers) == ((), False)


async def test_strays_may_look_where_that_is_allowed(party: Party) -> None:
    await party.decide(PeopleSettings(allow_stray_as_viewer=True))
    browser = party.place.browser()

    await party.sign_in(browser)

    assert (await browser.get("/api/v1/session")).json()["roles"] == ["Viewer"]


@pytest.mark.parametrize("claim", ["groups", "roles", "cognito:groups", "custom:roles", "custom:groups"])
async def test_groups_are_found_in_the_usual_claims(party: Party, claim: str) -> None:
    party.double.claims = {"sub": "7f3", "preferred_username": "jo", claim: ["cart/dev"]}

    assert (await party.sign_in(party.place.browser())).status_code == 303


async def test_groups_may_come_with_the_user_info(party: Party) -> None:
    party.double.claims = {"sub": "7f3"}
    party.double.user_info = {"sub": "7f3", "preferred_username": "al", "groups": ["cart/dev"]}

    await party.sign_in(party.place.browser())

    assert [user.id for user in await party.users()] == ["al@dex"]


async def test_nobody_takes_over_a_local_person_by_their_name(party: Party) -> None:
    await party.place.add_user("jo", roles=("Admin",))

    await party.sign_in(party.place.browser())

    assert [(user.id, user.roles) for user in await party.users()] == [("jo", ("Admin",)), ("jo@dex", ())]


async def test_a_name_that_passed_to_somebody_else_does_not_bring_their_roles(party: Party) -> None:
    await party.sign_in(party.place.browser())
    party.double.claims["sub"] = party.double.user_info["sub"] = "another"

    answer = await party.sign_in(party.place.browser())

    assert (answer.status_code, "somebody else" in answer.text) == (403, True)


async def test_a_disabled_person_stays_out(party: Party) -> None:
    await party.sign_in(party.place.browser())
    await party.place.store.write(
        lambda connection: update_user(connection, "jo@dex", lambda user: msgspec.structs.replace(user, disabled=True))
    )

    answer = await party.sign_in(party.place.browser())

    assert (answer.status_code, "is disabled" in answer.text) == (403, True)


async def test_a_provider_with_new_keys_is_asked_for_them_once(party: Party) -> None:
    await party.sign_in(party.place.browser())
    party.double.key = RSAKey.generate_key(2048, {"kid": "key-2"})
    party.double.published.append(party.double.key)

    answers = [await party.sign_in(party.place.browser()) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [303, 303]
    assert party.double.fetches == ["configuration", "keys", "keys"]


def changing(**claims: Any) -> Callable[[OidcDouble], None]:
    def change(double: OidcDouble) -> None:
        double.twist = lambda found: {name: value for name, value in {**found, **claims}.items() if value is not ...}

    return change


def with_a_key_of_its_own(double: OidcDouble) -> None:
    double.key = RSAKey.generate_key(2048, {"kid": "key-1"})


def with_a_key_nobody_knows(double: OidcDouble) -> None:
    double.key = RSAKey.generate_key(2048, {"kid": "key-9"})


def with_our_secret(double: OidcDouble) -> None:
    double.key, double.algorithm = OctKey.import_key(SECRET.ljust(32, "x"), {"kid": "key-1"}), "HS256"  # type: ignore[assignment]  # the trick


def without_a_signature(double: OidcDouble) -> None:
    double.id_token = lambda: "eyJhbGciOiJub25lIn0.e30."  # type: ignore[method-assign]  # the trick


@pytest.mark.parametrize(
    "misbehave",
    [
        pytest.param(changing(iss="https://evil.example"), id="another issuer"),
        pytest.param(changing(aud="another"), id="another audience"),
        pytest.param(changing(aud=[CLIENT, "another"], azp="another"), id="given to another of several"),
        pytest.param(changing(nonce="another"), id="another nonce"),
        pytest.param(changing(nonce=...), id="no nonce"),
        pytest.param(changing(sub=...), id="no subject"),
        pytest.param(changing(exp=...), id="no end"),
        pytest.param(changing(exp=int(NOW.timestamp()) - 61), id="too old"),
        pytest.param(changing(iat=int(NOW.timestamp()) + 61), id="from the future"),
        pytest.param(with_a_key_of_its_own, id="a key that is called like the right one"),
        pytest.param(with_a_key_nobody_knows, id="a key that nobody knows"),
        pytest.param(with_our_secret, id="signed with a shared secret"),
        pytest.param(without_a_signature, id="not signed"),
    ],
)
async def test_a_token_in_which_anything_is_wrong_is_not_believed(
    party: Party, misbehave: Callable[[OidcDouble], None]
) -> None:
    misbehave(party.double)

    answer = await party.sign_in(party.place.browser())

    assert (answer.status_code, "not one that can be believed" in answer.text) == (403, True)
    assert (await party.users(), "set-cookie" in answer.headers) == ((), False)


async def test_user_info_of_somebody_else_is_refused(party: Party) -> None:
    party.double.user_info = {"sub": "another", "groups": ["cart/dev"]}

    assert (await party.sign_in(party.place.browser())).status_code == 403


async def test_a_return_counts_only_in_the_browser_that_left(party: Party) -> None:
    ours, victim = party.place.browser(), party.place.browser()
    leaving = await ours.get("/sign-in/dex/start")
    code, state = party.double.departed(leaving.headers["location"])
    path = f"/sign-in/dex/callback?{urlencode({'code': code, 'state': state})}"

    strangers = await victim.get(path)
    await victim.get("/sign-in/dex/start")
    others = await victim.get(path)
    wrong = await ours.get("/sign-in/dex/callback?code=the-code&state=wrong")
    party.place.clock.advance(LASTS)
    late = await ours.get(path)

    assert [answer.status_code for answer in (strangers, others, wrong, late)] == [403] * 4
    assert await party.users() == ()


async def test_what_the_provider_says_went_wrong_is_shown_and_cannot_be_a_script(party: Party) -> None:
    browser = party.place.browser()
    leaving = await browser.get("/sign-in/dex/start")
    _, state = party.double.departed(leaving.headers["location"])
    said = urlencode({"state": state, "error": "access_denied", "error_description": "<script>no</script>"})

    answer = await browser.get(f"/sign-in/dex/callback?{said}")

    assert (answer.status_code, "&lt;script&gt;no" in answer.text, "<script" in answer.text) == (403, True, False)


async def test_a_wrong_code_is_refused_in_words(party: Party) -> None:
    browser = party.place.browser()
    leaving = await browser.get("/sign-in/dex/start")
    _, state = party.double.departed(leaving.headers["location"])

    answer = await browser.get(f"/sign-in/dex/callback?{urlencode({'state': state, 'code': 'guessed'})}")

    assert (answer.status_code, "invalid_grant" in answer.text) == (403, True)


async def test_a_provider_that_is_away_or_another_than_it_should_be_is_said_so(party: Party) -> None:
    provider = OidcProvider(name="x", issuer=f"{party.double.url}/", client_id="c", client_secret="s")
    gone = msgspec.structs.replace(provider, name="gone", issuer="http://127.0.0.1:9")
    authorities = Authorities((provider, gone), party.place.clock)
    party.place.desk.authorities.providers += authorities.providers
    answers = [await party.place.browser().get(f"/sign-in/{name}/start") for name in ("x", "gone", "nobody")]

    assert [answer.status_code for answer in answers] == [503, 503, 404]


async def test_it_lasts_as_long_as_the_settings_say(party: Party) -> None:
    await party.decide(msgspec.structs.replace(MAPPED, session_hours=2))
    browser = party.place.browser()
    await party.sign_in(browser)

    party.place.clock.advance(timedelta(hours=2))

    assert (await browser.get("/api/v1/session")).status_code == 401
