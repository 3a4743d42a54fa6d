"""Signing in through a reverse proxy: cookie, address and limit are those of the caller, not of the proxy."""

from pathlib import Path

import pytest

from fairway.server.proxies import TrustedProxies
from fairway.server.sign_in.attempts import BY_ADDRESS
from fairway.server.sign_in.cookies import SESSION
from tests.integration.server.sign_in.browser import PASSWORD, Place, a_place

TYPED = {"username": "jo", "password": PASSWORD}
HERE = TrustedProxies.parse(["127.0.0.1"])
#: What a proxy adds that speaks TLS with the browser and not with us.
ADDED = {"x-forwarded-for": "203.0.113.9", "x-forwarded-proto": "https"}


async def refusals(place: Place, headers: dict[str, str], attempts: int) -> int:
    """How many of so many attempts, each for another name, are too many."""
    client, path = place.client, "/api/v1/session"
    answers = [
        await client.post(path, json={"username": f"nobody-{n}", "password": "x"}, headers=headers)
        for n in range(attempts)
    ]
    return sum(answer.status_code == 429 for answer in answers)


async def test_behind_tls_of_a_proxy_the_cookie_is_bound_to_the_host(tmp_path: Path) -> None:
    async with a_place(tmp_path, proxies=HERE) as place:
        await place.add_user("jo")
        browser = place.browser()
        answer = await browser.send("POST", "/api/v1/session", json=TYPED, headers=ADDED)
        recorded = await place.recorded()

    assert answer.status_code == 201
    assert browser.set[f"__Host-{SESSION}"]["secure"] is True
    assert [each.address for each in recorded] == ["203.0.113.9"]


@pytest.mark.parametrize(
    ("proxies", "refused"),
    [
        pytest.param(HERE, 0, id="a proxy that is trusted"),
        pytest.param(TrustedProxies(), 1, id="somebody who only says so"),
    ],
)
async def test_attempts_count_for_whom_they_are_from(tmp_path: Path, proxies: TrustedProxies, refused: int) -> None:
    async with a_place(tmp_path, proxies=proxies) as place:
        first = await refusals(place, {"x-forwarded-for": "203.0.113.9"}, BY_ADDRESS.free)
        other = await refusals(place, {"x-forwarded-for": "203.0.113.10"}, 1)

    assert (first, other) == (0, refused)


async def test_a_caller_behind_a_proxy_cannot_change_its_address_to_try_again(tmp_path: Path) -> None:
    async with a_place(tmp_path, proxies=HERE) as place:
        for number in range(BY_ADDRESS.free):
            await refusals(place, {"x-forwarded-for": f"198.51.100.{number}, 203.0.113.9"}, 1)
        refused = await refusals(place, {"x-forwarded-for": "198.51.100.200, 203.0.113.9"}, 1)

    assert refused == 1
