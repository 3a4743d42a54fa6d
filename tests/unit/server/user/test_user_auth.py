"""The authorization header of APIService, and where a call comes from."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.server.peers import peer_address
from fairway.server.status_codes import BadCredentials
from fairway.server.user_auth import shown_key


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


@pytest.mark.parametrize(
    ("peer", "address"),
    [
        pytest.param("ipv4:198.51.100.7:4312", "198.51.100.7", id="IPv4"),
        pytest.param("ipv6:[2001:db8::7]:4312", "2001:db8::7", id="IPv6"),
        pytest.param("ipv6:%5B2001:db8::7%5D:4312", "2001:db8::7", id="IPv6 as newer gRPC writes it"),
        pytest.param("unix:/run/fairway.sock", "", id="a socket file"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_the_address_of_a_caller_is_its_peers_without_the_port(peer: str, address: str) -> None:
    assert peer_address(peer) == address
