"""The pages: what they show, what they refuse, and what no page of ours may do."""

import pytest

from fairway.server.first_start import prepare_administrator
from fairway.server.sign_in.cookies import BROWSER, SESSION
from fairway.server.sign_in.pages import HEADERS
from tests.integration.server.sign_in.browser import PASSWORD, Form, Place


async def test_somebody_signs_in_sees_that_they_are_and_signs_out(place: Place) -> None:
    await place.add_user("jo", display_name="Jo <b>Doe</b>")
    browser = place.browser()

    answer = await browser.sign_in("jo")
    page = await browser.get(answer.headers["location"])
    out = await browser.fill_in("/sign-in")

    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in")
    assert "You are signed in" in page.text
    assert "Jo &lt;b&gt;Doe&lt;/b&gt;" in page.text
    assert (out.status_code, browser.cookies.get(SESSION)) == (303, None)
    assert (await browser.get("/api/v1/session")).status_code == 401


async def test_every_page_forbids_scripts_frames_and_caches(place: Place) -> None:
    for path in ("/sign-in", "/sign-in/link/none", "/sign-in/nobody/start"):
        answer = await place.browser().get(path)

        assert {name: answer.headers[name] for name in HEADERS} == HEADERS
        assert "<script" not in answer.text
        assert "style=" not in answer.text


async def test_what_was_wrong_is_said_and_the_name_kept_but_not_the_password(place: Place) -> None:
    answer = await place.browser().fill_in("/sign-in", username='"><i>jo', password="incorrect horse")

    assert answer.status_code == 401
    assert 'role="alert"' in answer.text
    assert "The name or the password is wrong" in answer.text
    assert 'value="&quot;&gt;&lt;i&gt;jo"' in answer.text
    assert "incorrect horse" not in answer.text


async def test_waiting_is_said_with_the_time(place: Place) -> None:
    answers = [await place.browser().sign_in("jo", "incorrect") for _ in range(6)]

    assert [answer.status_code for answer in answers] == [401] * 5 + [429]
    assert answers[-1].headers["retry-after"] == "1"
    assert "try again in 1 second." in answers[-1].text


@pytest.mark.parametrize(
    ("headers", "changed"),
    [
        pytest.param({}, {"form_token": "made-up"}, id="a token that was made up"),
        pytest.param({}, {"form_token": ""}, id="no token"),
        pytest.param({"cookie": f"{BROWSER}=another"}, {}, id="the form of another browser"),
        pytest.param({"cookie": ""}, {}, id="no cookie"),
        pytest.param({"origin": "https://evil.example"}, {}, id="another site's page"),
    ],
)
async def test_a_form_counts_only_from_the_browser_it_was_made_for(
    place: Place, headers: dict[str, str], changed: dict[str, str]
) -> None:
    await place.add_user("jo")

    answer = await place.browser().fill_in("/sign-in", headers=headers, username="jo", password=PASSWORD, **changed)

    assert (answer.status_code, SESSION in str(answer.headers.get_list("set-cookie"))) == (403, False)


@pytest.mark.parametrize(
    ("asked", "onward"),
    [
        ("/deployments?id=1", "/deployments?id=1"),
        ("https://evil.example", "/sign-in"),
        ("//evil.example", "/sign-in"),
        ("/\\evil.example", "/sign-in"),
        ("/\tevil", "/sign-in"),
    ],
)
async def test_the_next_page_is_one_of_ours(place: Place, asked: str, onward: str) -> None:
    await place.add_user("jo")
    browser = place.browser()
    form = Form((await browser.get("/sign-in", params={"next": asked})).text)

    kept = await browser.send("POST", "/sign-in", data={**form.fields, "username": "jo", "password": PASSWORD})
    forced = await browser.send(
        "POST", "/sign-in", data={**form.fields, "next": asked, "username": "jo", "password": PASSWORD}
    )

    assert kept.headers["location"] == onward
    assert forced.status_code == 403


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"\xff\xfe", id="no text"),
        pytest.param(b"&".join(b"a%d=1" % number for number in range(50)), id="too many fields"),
        pytest.param(b"rubbish", id="no form"),
        pytest.param(b"", id="nothing"),
    ],
)
async def test_what_is_no_form_of_ours_is_refused_in_words(place: Place, content: bytes) -> None:
    answer = await place.browser().send("POST", "/sign-in", content=content)

    assert (answer.status_code in {400, 403}, "That did not work" in answer.text) == (True, True)


async def test_a_form_that_is_too_long_is_refused(place: Place) -> None:
    answer = await place.browser().send("POST", "/sign-in", content=b"a=" + b"x" * 100_000)

    assert answer.status_code == 413


async def test_signing_out_by_another_sites_page_is_refused(place: Place) -> None:
    browser = await place.signed_in()

    tokenless = await browser.send("POST", "/sign-in/out")
    foreign = await browser.fill_in("/sign-in", headers={"origin": "https://evil.example"})

    assert (tokenless.status_code, foreign.status_code) == (403, 403)
    assert (await browser.get("/api/v1/session")).status_code == 200


async def test_the_style_is_there(place: Place) -> None:
    answer = await place.browser().get("/sign-in/style")

    assert answer.headers["content-type"].startswith("text/css")
    assert "prefers-color-scheme: dark" in answer.text


async def test_who_knows_only_the_address_of_the_server_is_shown_in(place: Place) -> None:
    answer = await place.browser().get("/")

    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in")


@pytest.mark.parametrize(
    ("path", "accepted", "kind"),
    [
        pytest.param("/nothing", "text/html,*/*", "text/html", id="a person"),
        pytest.param("/sign-in/<b>", "text/html", "text/html", id="a person, further down"),
        pytest.param("/nothing", "*/*", "application/json", id="a program"),
        pytest.param("/api/v1/nothing", "text/html", "application/json", id="a person where programs ask"),
    ],
)
async def test_what_is_not_there_is_told_in_the_way_it_was_asked(
    place: Place, path: str, accepted: str, kind: str
) -> None:
    answer = await place.browser().get(path, headers={"accept": accepted})

    assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (404, kind)
    assert "<b>" not in answer.text
    assert ("Back to sign-in" in answer.text) == (kind == "text/html")


async def test_a_password_keeper_is_told_whose_password_is_set(place: Place) -> None:
    link = await prepare_administrator(place.store, place.clock)
    assert link is not None

    page = (await place.browser().get(link.path)).text

    assert '<input name="username" type="text" autocomplete="username" value="admin" readonly hidden>' in page
