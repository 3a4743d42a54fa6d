"""A real OIDC provider: Dex with people of its own, and a browser's way through its forms."""

import html
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin

import httpx

from tests.patience import PATIENCE_SECONDS
from tests.peers.programs import running, the_peer
from tests.ports import a_free_port

CLIENT_ID, CLIENT_SECRET = "fairway", "client-secret-of-the-test"
EMAIL, PASSWORD = "ada@example.com", "dex-password-of-ada"
GROUP = "deployers"
#: Of the password, by bcrypt.
_HASH = "$2b$10$slwtqqtCj/kP.szxHEUb..PrNYCc6QnRhLhAt4i4.T9GEWnmUsH3K"


class Dex(NamedTuple):
    """Where the provider is."""

    issuer: str

    def sign_in(self, browser: httpx.Client, url: str, password: str = PASSWORD) -> httpx.Response:
        """From the page that we send people to, through the forms, to the redirect back to us.

        With a wrong password it is the form again instead.
        """
        form = _followed(browser, browser.get(url))
        answer = browser.post(_action(form), data={"login": EMAIL, "password": password})
        answer = _followed(browser, answer, until=self.issuer)
        if 'name="approval"' in answer.text:
            hidden = re.search(r'name="req" value="([^"]+)"', answer.text)
            assert hidden is not None, answer.text
            approval = {"req": html.unescape(hidden[1]), "approval": "approve"}
            answer = _followed(browser, browser.post(answer.url, data=approval), until=self.issuer)
        return answer


def _followed(browser: httpx.Client, answer: httpx.Response, until: str = "") -> httpx.Response:
    """The first answer that is no redirect, or one that leads away from where `until` says."""
    while answer.is_redirect:
        to = urljoin(str(answer.url), answer.headers["location"])
        if until and not to.startswith(until):
            break
        answer = browser.get(to)
    return answer


def _action(form: httpx.Response) -> str:
    found = re.search(r'<form method="post" action="([^"]+)"', form.text)
    assert found is not None, form.text
    return urljoin(str(form.url), html.unescape(found[1]))


@contextmanager
def a_dex(folder: Path, callback: str) -> Iterator[Dex]:
    """A provider that knows us by our address for callbacks, and one person in one group."""
    port = a_free_port()
    dex = Dex(f"http://127.0.0.1:{port}/dex")
    settings = {
        "issuer": dex.issuer,
        "storage": {"type": "memory"},
        "web": {"http": f"127.0.0.1:{port}"},
        "enablePasswordDB": True,
        "staticClients": [{"id": CLIENT_ID, "secret": CLIENT_SECRET, "name": "Fairway", "redirectURIs": [callback]}],
        "staticPasswords": [
            {"email": EMAIL, "hash": _HASH, "username": "ada", "userID": "user-1", "groups": [GROUP, "everyone"]}
        ],
    }
    # JSON is YAML.
    (folder / "dex.yaml").write_text(json.dumps(settings))

    def answers() -> bool:
        try:
            url = f"{dex.issuer}/.well-known/openid-configuration"
            return httpx.get(url, trust_env=False, timeout=PATIENCE_SECONDS).is_success
        except httpx.TransportError:
            return False

    with running([the_peer("dex"), "serve", folder / "dex.yaml"], folder / "dex.said", answers):
        yield dex
