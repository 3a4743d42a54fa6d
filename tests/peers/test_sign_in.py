"""Signing in with Dex, by its own forms, at a real server."""

import base64
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest

from tests.acceptance.server.processes import ServerProcess, a_server
from tests.patience import PATIENCE_SECONDS
from tests.peers.dex import CLIENT_ID, CLIENT_SECRET, GROUP, PASSWORD, Dex, a_dex
from tests.ports import a_free_port


class Doors(NamedTuple):
    """Our server and the provider that it sends people to."""

    server: ServerProcess
    dex: Dex

    def browser(self) -> httpx.Client:
        return httpx.Client(base_url=self.server.http, trust_env=False, timeout=PATIENCE_SECONDS)

    def departed(self, browser: httpx.Client) -> str:
        """Where our server sends a browser that wants to sign in."""
        answer = browser.get("/sign-in/dex/start")
        assert answer.is_redirect, answer.text
        return answer.headers["location"]

    def returned(self, browser: httpx.Client) -> str:
        """Where the provider sends the browser back to, once the person has signed in there."""
        return str(self.dex.sign_in(browser, self.departed(browser)).headers["location"])


@pytest.fixture(scope="module")
def doors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doors]:
    folder, port = tmp_path_factory.mktemp("sign-in"), a_free_port()
    address = f"http://127.0.0.1:{port}"
    with a_dex(folder, f"{address}/sign-in/dex/callback") as dex:
        config = write_control_plane(folder, address, dex)
        with a_server(folder / "data", "--config-file", config, "--http-listen", f"127.0.0.1:{port}") as server:
            key = {"Authorization": f"Bearer {server.api_key}"}
            settings = {"group_roles": {GROUP: ["Editor"]}, "allow_stray_as_viewer": False, "session_hours": 8}
            answer = httpx.put(
                f"{address}/api/v1/settings", json=settings, headers=key, trust_env=False, timeout=PATIENCE_SECONDS
            )
            assert answer.is_success, answer.text
            yield Doors(server, dex)
        assert CLIENT_SECRET not in server.said
        assert PASSWORD not in server.said


def write_control_plane(folder: Path, address: str, dex: Dex) -> Path:
    oidc = {
        "clientId": CLIENT_ID,
        "clientSecret": CLIENT_SECRET,
        "issuer": dex.issuer,
        "redirectUri": f"{address}/sign-in/dex/callback",
        "scopes": ["openid", "profile", "email", "groups"],
    }
    spec = {"address": address, "sharedSSOConfigs": [{"name": "dex", "provider": "OIDC", "oidc": oidc}]}
    file = folder / "control-plane.yaml"
    # JSON is YAML.
    file.write_text(json.dumps({"apiVersion": "pipecd.dev/v1beta1", "kind": "ControlPlane", "spec": spec}))
    return file


def with_query(url: str, **changed: str) -> str:
    """The URL with some of its parameters replaced."""
    parts = urlsplit(url)
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    return parts._replace(query=urlencode({**query, **changed})).geturl()


def is_signed_in(browser: httpx.Client) -> bool:
    return browser.get("/api/v1/session").status_code == 200


def test_whoever_signs_in_at_the_provider_has_the_roles_of_their_groups(doors: Doors) -> None:
    with doors.browser() as browser:
        arrived = browser.get(doors.returned(browser))
        session = browser.get("/api/v1/session").json()
        page = browser.get("/api/v1/applications")

    assert arrived.is_redirect
    assert (session["display_name"], session["provider"], session["roles"]) == ("ada", "dex", ["Editor"])
    assert GROUP in session["groups"]
    assert page.status_code == 200


def test_a_session_by_a_provider_may_change_what_its_roles_allow_and_ends_when_it_is_told_to(doors: Doors) -> None:
    with doors.browser() as browser:
        browser.get(doors.returned(browser))
        token = {"X-CSRF-Token": browser.get("/api/v1/session").json()["csrf_token"]}
        event = {"name": "image", "data": "v1"}

        without = browser.post("/api/v1/events", json=event).status_code
        allowed = browser.post("/api/v1/events", json=event, headers=token).status_code
        beyond = browser.post("/api/v1/users", json={"id": "eve", "roles": ["Admin"]}, headers=token).status_code
        browser.delete("/api/v1/session", headers=token)

        assert (without, allowed, beyond, is_signed_in(browser)) == (403, 201, 403, False)


def test_a_wrong_password_at_the_provider_leads_nowhere(doors: Doors) -> None:
    with doors.browser() as browser:
        answer = doors.dex.sign_in(browser, doors.departed(browser), "not-the-password")

        assert (answer.status_code, is_signed_in(browser)) == (401, False)


def test_a_return_is_good_once(doors: Doors) -> None:
    with doors.browser() as browser, doors.browser() as copy:
        back = doors.returned(browser)
        copy.cookies.update(browser.cookies)
        browser.get(back)

        again, copied = browser.get(back), copy.get(back)

        assert not again.is_success
        assert not again.is_redirect
        assert not is_signed_in(copy), copied.text


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"state": "made-up"}, id="another state"),
        pytest.param({"state": ""}, id="no state"),
        pytest.param({"code": "made-up"}, id="another code"),
    ],
)
def test_a_return_that_was_tampered_with_is_refused(doors: Doors, changed: dict[str, str]) -> None:
    with doors.browser() as browser:
        answer = browser.get(with_query(doors.returned(browser), **changed))

        assert 400 <= answer.status_code < 500, answer.text
        assert not is_signed_in(browser)


def test_a_return_in_a_browser_that_was_not_sent_is_refused(doors: Doors) -> None:
    with doors.browser() as browser, doors.browser() as other:
        answer = other.get(doors.returned(browser))

        assert 400 <= answer.status_code < 500, answer.text
        assert not is_signed_in(other)


def test_the_provider_gives_nothing_for_a_code_that_somebody_else_asked_for(doors: Doors) -> None:
    other = base64.urlsafe_b64encode(hashlib.sha256(b"another verifier").digest()).rstrip(b"=").decode()
    with doors.browser() as browser:
        departure = doors.departed(browser)
        # As if the code had been asked for by a page of somebody else: our verifier does not fit it (PKCE).
        back = doors.dex.sign_in(browser, with_query(departure, code_challenge=other)).headers["location"]

        answer = browser.get(back)

        assert parse_qs(urlsplit(departure).query)["code_challenge_method"] == ["S256"]
        assert not answer.is_redirect
        assert not is_signed_in(browser)
