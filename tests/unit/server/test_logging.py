"""What is hidden from the log, and what is not."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.server.logging import HIDDEN, without_secrets

SECRET = "aVeryLongSecret0123456789"


def logged(**event: Any) -> dict[str, Any]:
    return dict(without_secrets(None, "info", event))


@pytest.mark.parametrize(
    "event",
    [
        pytest.param({"authorization": SECRET}, id="a header"),
        pytest.param({"Authorization": f"Bearer {SECRET}"}, id="a header in capitals"),
        pytest.param({"password": SECRET}, id="a password"),
        pytest.param({"client_secret": SECRET}, id="a name that ends in secret"),
        pytest.param({"api_key": SECRET}, id="an API key"),
        pytest.param({"headers": {"cookie": SECRET}}, id="a header among headers"),
        pytest.param({"headers": [(b"cookie", SECRET.encode())]}, id="headers as ASGI has them"),
        pytest.param({"scope": {"headers": [("X-CSRF-Token", SECRET)]}}, id="headers deep inside"),
        pytest.param({"event": f"refused Bearer {SECRET}"}, id="a bearer in a text"),
        pytest.param({"event": f"authorization: PIPED-TOKEN acme,agent,{SECRET}"}, id="an agent's token"),
        pytest.param({"event": f"authorization: API-KEY first.{SECRET}"}, id="an API key in a text"),
        pytest.param({"reason": f"cannot connect to postgresql://fairway:{SECRET}@db/fairway"}, id="a URL"),
        pytest.param({"event": f"Set-Cookie: fairway_session={SECRET}; HttpOnly"}, id="a cookie that is set"),
        pytest.param({"event": f"https://x/y?token={SECRET}&page=2"}, id="a query"),
        pytest.param({"path": f"/sign-in/link/{SECRET}"}, id="a link to sign in"),
        pytest.param({"said": ValueError(f"password={SECRET}")}, id="an error"),
        pytest.param({"body": f'{{"secret": "whsec_{SECRET}"}}'.encode()}, id="a webhook's secret"),
        pytest.param({"exception": f"Traceback\n  File x\nValueError: Bearer {SECRET}"}, id="a traceback"),
    ],
)
def test_a_secret_is_hidden(event: dict[str, Any]) -> None:
    shown = str(logged(**event))

    assert SECRET not in shown
    assert HIDDEN in shown


@pytest.mark.parametrize(
    "event",
    [
        pytest.param({"event": "the server is not ready", "reason": "the database is locked"}, id="words"),
        pytest.param({"key_id": "first", "count": 3, "done": True, "nothing": None}, id="ids and numbers"),
        pytest.param({"path": "/api/v1/applications", "status": 200}, id="a path"),
        pytest.param({"event": "https://git.acme.dev/acme/shop"}, id="an address without a login"),
        pytest.param({"event": "basic auth is off"}, id="the word basic"),
    ],
)
def test_what_is_no_secret_stays(event: dict[str, Any]) -> None:
    assert logged(**event) == event


@given(st.text(min_size=8, max_size=40, alphabet=st.characters(min_codepoint=48, max_codepoint=122)))
def test_whatever_follows_bearer_is_hidden(secret: str) -> None:
    assert logged(event=f"Authorization: Bearer {secret}")["event"].startswith(f"Authorization: Bearer {HIDDEN}")
