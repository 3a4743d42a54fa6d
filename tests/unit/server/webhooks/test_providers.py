"""Each Git host: genuine deliveries are known, everything else is not, and a push is read as it is documented."""

import base64
import json
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.server.webhooks.delivery import Genuine, Push, UnreadableDelivery
from fairway.server.webhooks.providers import PROVIDERS, ProviderName, new_secret
from tests.unit.model.builders import NOW
from tests.unit.server.webhooks import deliveries
from tests.unit.server.webhooks.deliveries import (
    COMMIT,
    GENERIC_PUSH,
    GITHUB_PUSH,
    GITLAB_PUSH,
    GITLAB_SECRET,
    PAGE,
    REMOTE,
    SECRET,
    SSH_REMOTE,
    WAYS,
    a_delivery,
)

MAIN = "refs/heads/main"
EVERY_WAY = pytest.mark.parametrize("way", list(WAYS))


@EVERY_WAY
def test_a_delivery_signed_as_documented_is_genuine(way: str) -> None:
    provider, secret, sent, sign = WAYS[way]
    body = json.dumps(sent).encode()

    assert PROVIDERS[provider].verify(secret, a_delivery(body, sign(secret, body))) is not None


@EVERY_WAY
def test_a_delivery_signed_with_another_secret_is_not(way: str) -> None:
    provider, secret, sent, sign = WAYS[way]
    body = json.dumps(sent).encode()

    assert PROVIDERS[provider].verify(new_secret(provider), a_delivery(body, sign(secret, body))) is None


@pytest.mark.parametrize("way", [way for way in WAYS if way != "GitLab by token"])
def test_a_body_that_was_changed_is_not_genuine(way: str) -> None:
    provider, secret, sent, sign = WAYS[way]
    body = json.dumps(sent).encode()

    assert PROVIDERS[provider].verify(secret, a_delivery(body + b" ", sign(secret, body))) is None


@EVERY_WAY
@pytest.mark.parametrize("value", ["", "sha256=", "v1,", "t=,v1=", "t=1,v1=", "t=99999999999999,v1=x", "=", "\xff"])
def test_a_broken_signature_is_not_genuine(way: str, value: str) -> None:
    provider, secret, sent, sign = WAYS[way]
    body = json.dumps(sent).encode()
    headers = dict.fromkeys(sign(secret, body), value)

    assert PROVIDERS[provider].verify(secret, a_delivery(body, headers)) is None


@pytest.mark.parametrize("provider", list(ProviderName))
def test_an_unsigned_delivery_is_not_genuine(provider: ProviderName) -> None:
    assert PROVIDERS[provider].verify(SECRET, a_delivery({}, {})) is None


@pytest.mark.parametrize("provider", list(ProviderName))
@given(body=st.binary(max_size=200), event=st.sampled_from(["push", "repo:push", "repo:refs_changed", "ping"]))
def test_garbage_is_refused_in_words_or_says_nothing(provider: ProviderName, body: bytes, event: str) -> None:
    names = ("x-github-event", "x-gitea-event", "x-event-key")
    delivery = a_delivery(body, dict.fromkeys(names, event))

    try:
        pushes = PROVIDERS[provider].pushes(delivery)
    except UnreadableDelivery:
        return

    assert all(isinstance(push, Push) for push in pushes)


@pytest.mark.parametrize(
    ("way", "pushes"),
    [
        pytest.param("GitHub", (Push((REMOTE, SSH_REMOTE, PAGE), MAIN, COMMIT),), id="GitHub"),
        pytest.param("Gitea", (Push((REMOTE, SSH_REMOTE, PAGE), MAIN, COMMIT),), id="Gitea"),
        pytest.param("GitLab by token", (Push((REMOTE, SSH_REMOTE, PAGE), MAIN, COMMIT),), id="GitLab"),
        pytest.param(
            "Bitbucket Cloud",
            (Push((PAGE,), MAIN, COMMIT), Push((PAGE,), "refs/tags/v1", COMMIT)),
            id="Bitbucket Cloud, without the deleted branch",
        ),
        pytest.param(
            "Bitbucket Data Center",
            (
                Push(
                    ("ssh://git@git.acme.dev:7999/acme/shop.git", "https://git.acme.dev/scm/acme/shop.git"),
                    MAIN,
                    COMMIT,
                ),
            ),
            id="Bitbucket Data Center, without the deleted branch",
        ),
        pytest.param("generic", (Push((REMOTE,), MAIN, COMMIT),), id="generic"),
    ],
)
def test_a_push_is_read(way: str, pushes: tuple[Push, ...]) -> None:
    provider, secret, sent, sign = WAYS[way]
    body = json.dumps(sent).encode()

    assert PROVIDERS[provider].pushes(a_delivery(body, sign(secret, body))) == pushes


@pytest.mark.parametrize(
    ("provider", "headers", "body"),
    [
        pytest.param(ProviderName.GITHUB, {"x-github-event": "ping"}, {"zen": "Keep it simple."}, id="GitHub's ping"),
        pytest.param(ProviderName.GITHUB, {"x-github-event": "push"}, {**GITHUB_PUSH, "after": "0" * 40}, id="deleted"),
        pytest.param(ProviderName.GITEA, {"x-gitea-event": "issues"}, {}, id="an issue at Gitea"),
        pytest.param(ProviderName.GITLAB, {}, {"object_kind": "merge_request"}, id="a merge request at GitLab"),
        pytest.param(ProviderName.GITLAB, {}, {**GITLAB_PUSH, "after": "0" * 40}, id="deleted at GitLab"),
        pytest.param(ProviderName.BITBUCKET, {"x-event-key": "diagnostics:ping"}, {"test": True}, id="Bitbucket"),
    ],
)
def test_what_is_no_push_is_none(provider: ProviderName, headers: dict[str, str], body: dict[str, Any]) -> None:
    assert PROVIDERS[provider].pushes(a_delivery(body, headers)) == ()


def test_github_may_send_a_form() -> None:
    body = urlencode({"payload": json.dumps(GITHUB_PUSH)}).encode()
    headers = {**deliveries.github(SECRET, body), "content-type": "application/x-www-form-urlencoded"}
    delivery = a_delivery(body, headers)

    assert PROVIDERS[ProviderName.GITHUB].verify(SECRET, delivery) == Genuine()
    assert PROVIDERS[ProviderName.GITHUB].pushes(delivery)[0].commit == COMMIT


@pytest.mark.parametrize("minutes", [-6, 6])
@pytest.mark.parametrize("way", ["GitLab by signature", "generic with the time"])
def test_a_signed_time_that_is_far_off_is_not_genuine(way: str, minutes: int) -> None:
    provider, secret, sent, sign = WAYS[way]
    body = json.dumps(sent).encode()
    delivery = a_delivery(body, sign(secret, body), NOW + timedelta(minutes=minutes))

    assert PROVIDERS[provider].verify(secret, delivery) is None


def test_signed_times_tell_deliveries_apart() -> None:
    body = json.dumps(GENERIC_PUSH).encode()
    first = deliveries.generic_timed(SECRET, body)
    later = deliveries.generic_timed(SECRET, body, NOW + timedelta(seconds=1))
    generic = PROVIDERS[ProviderName.GENERIC]

    ids = [generic.verify(SECRET, a_delivery(body, headers)) for headers in (first, first, later)]

    assert len({found.replay_id for found in ids if found is not None}) == 2


def test_gitlab_may_show_an_old_signature_beside_the_new_one() -> None:
    body = json.dumps(GITLAB_PUSH).encode()
    headers = deliveries.gitlab_signed(GITLAB_SECRET, body)
    headers["webhook-signature"] = f"v1,{base64.b64encode(b'old').decode()} {headers['webhook-signature']}"

    assert PROVIDERS[ProviderName.GITLAB].verify(GITLAB_SECRET, a_delivery(body, headers)) == Genuine("msg-1")


def test_a_wrong_signature_at_gitlab_is_not_rescued_by_the_right_token() -> None:
    headers = {**deliveries.gitlab_token(GITLAB_SECRET, b""), "webhook-signature": "v1,AAAA"}

    assert PROVIDERS[ProviderName.GITLAB].verify(GITLAB_SECRET, a_delivery(GITLAB_PUSH, headers)) is None


def test_a_wrong_signature_of_gitea_is_not_rescued_by_github_s() -> None:
    body = json.dumps(GITHUB_PUSH).encode()
    headers = {**deliveries.github(SECRET, body), "x-gitea-signature": "0" * 64}

    assert PROVIDERS[ProviderName.GITEA].verify(SECRET, a_delivery(body, headers)) is None


@pytest.mark.parametrize("provider", list(ProviderName))
def test_every_secret_is_new(provider: ProviderName) -> None:
    assert new_secret(provider) != new_secret(provider)


def test_a_secret_for_gitlab_has_the_form_of_a_signing_token() -> None:
    secret = new_secret(ProviderName.GITLAB)

    assert len(base64.b64decode(secret.removeprefix("whsec_"))) == 32
