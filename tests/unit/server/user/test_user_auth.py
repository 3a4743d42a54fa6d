"""The authorization header of APIService, and what a role allows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.model.api_key import APIKeyRole
from fairway.server.status_codes import BadCredentials, Forbidden
from fairway.server.user_auth import Access, ApiIdentity, authorize, shown_key


def an_identity(role: APIKeyRole) -> ApiIdentity:
    return ApiIdentity(project_id="shop", key_id="key-1", role=role)


def test_the_key_is_what_follows_the_scheme() -> None:
    assert shown_key(["API-KEY key-1.s3cret"]) == "key-1.s3cret"


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param([], id="no header"),
        pytest.param(["API-KEY a.b", "API-KEY a.b"], id="two headers"),
        pytest.param(["API-KEY"], id="no key"),
        pytest.param(["API-KEY "], id="empty key"),
        pytest.param(["Bearer a.b"], id="another scheme"),
        pytest.param(["api-key a.b"], id="scheme in lower case"),
        pytest.param(["API-KEY  a.b"], id="two spaces"),
        pytest.param(["API-KEY a.b c"], id="three words"),
        pytest.param(["API-KEY ab"], id="no dot"),
        pytest.param(["API-KEY .b"], id="no id"),
        pytest.param(["API-KEY a."], id="no secret"),
        pytest.param(["API-KEY a\x00.b"], id="NUL"),
        pytest.param(["API-KEY ä.b"], id="not ASCII"),
        pytest.param(["PIPED-TOKEN shop,agent,key"], id="an agent's token"),
    ],
)
def test_a_header_that_holds_no_key_is_refused(headers: list[str]) -> None:
    with pytest.raises(BadCredentials):
        shown_key(headers)


@given(st.text())
def test_a_refusal_repeats_nothing_of_the_header(key: str) -> None:
    header = f"API-KEY  {key}!hunter2"

    with pytest.raises(BadCredentials) as refused:
        shown_key([header])

    assert "hunter2" not in str(refused.value)


def test_every_role_may_read() -> None:
    for role in APIKeyRole:
        authorize(an_identity(role), Access.READ)


def test_a_key_that_may_act_may_change() -> None:
    authorize(an_identity(APIKeyRole.READ_WRITE), Access.WRITE)


def test_a_key_that_may_only_look_changes_nothing() -> None:
    with pytest.raises(Forbidden):
        authorize(an_identity(APIKeyRole.READ_ONLY), Access.WRITE)
