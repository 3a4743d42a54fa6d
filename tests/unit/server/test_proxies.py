"""Who really calls, out of what proxies say; and whom they say it to in vain."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.server.proxies import BadNetwork, Came, TrustedProxies

PROXIES = TrustedProxies.parse(["10.0.0.0/8", "2001:db8:1::/48"])
CLIENT, PROXY, STRANGER = "203.0.113.9", "10.1.2.3", "198.51.100.7"


@pytest.mark.parametrize(
    ("peer", "headers", "came"),
    [
        pytest.param(PROXY, {}, Came(PROXY), id="a proxy that says nothing"),
        pytest.param(PROXY, {"x-forwarded-for": CLIENT}, Came(CLIENT), id="a proxy"),
        pytest.param(STRANGER, {"x-forwarded-for": CLIENT}, Came(STRANGER), id="a stranger who says what proxies say"),
        pytest.param("", {"x-forwarded-for": CLIENT}, Came(""), id="a peer without an address"),
        pytest.param(PROXY, {"x-forwarded-for": f"{CLIENT}, 10.9.9.9"}, Came(CLIENT), id="two proxies"),
        pytest.param(PROXY, {"x-forwarded-for": f"1.1.1.1, {CLIENT}"}, Came(CLIENT), id="what the caller claims"),
        pytest.param(PROXY, {"x-forwarded-for": "10.0.0.1, 10.0.0.2"}, Came("10.0.0.1"), id="a caller among proxies"),
        pytest.param(PROXY, {"x-forwarded-for": "unknown"}, Came(PROXY), id="no address"),
        pytest.param(PROXY, {"x-forwarded-for": "evil', 10.0.0.2"}, Came("10.0.0.2"), id="no address beyond a proxy"),
        pytest.param(PROXY, {"x-forwarded-for": f"{CLIENT}:5555"}, Came(CLIENT), id="with a port"),
        pytest.param(PROXY, {"x-forwarded-for": "[2001:db8::1]:5"}, Came("2001:db8::1"), id="IPv6 with a port"),
        pytest.param("2001:db8:1::5", {"x-forwarded-for": "2001:DB8::1"}, Came("2001:db8::1"), id="IPv6"),
        pytest.param("::ffff:10.0.0.1", {"x-forwarded-for": CLIENT}, Came(CLIENT), id="IPv4 by an IPv6 socket"),
        pytest.param(
            PROXY, {"forwarded": f"for={CLIENT};proto=https"}, Came(CLIENT, "https"), id="the standard's header"
        ),
        pytest.param(
            PROXY,
            {"forwarded": 'For="[2001:db8::1]:80"; proto=http, for=10.0.0.2;proto=https'},
            Came("2001:db8::1", "http"),
            id="the standard's header through two",
        ),
        pytest.param(PROXY, {"forwarded": "for=_hidden"}, Came(PROXY), id="a hidden name"),
        pytest.param(
            PROXY, {"forwarded": f"for={CLIENT}", "x-forwarded-for": CLIENT}, Came(CLIENT), id="both, of one mind"
        ),
        pytest.param(
            PROXY, {"forwarded": "for=1.1.1.1", "x-forwarded-for": CLIENT}, Came(PROXY), id="both, one from a stranger"
        ),
        pytest.param(
            PROXY,
            {"x-forwarded-for": CLIENT, "x-forwarded-proto": "https"},
            Came(CLIENT, "https"),
            id="with TLS as far as the proxy",
        ),
        pytest.param(
            PROXY,
            {"x-forwarded-for": f"{CLIENT}, 10.0.0.2", "x-forwarded-proto": "https, http"},
            Came(CLIENT, "https"),
            id="with TLS as far as the first proxy",
        ),
        pytest.param(
            PROXY,
            {"x-forwarded-for": CLIENT, "x-forwarded-proto": "http, https"},
            Came(CLIENT, "https"),
            id="with what the nearest proxy says of TLS",
        ),
        pytest.param(
            PROXY, {"x-forwarded-for": CLIENT, "x-forwarded-proto": "javascript"}, Came(CLIENT), id="no scheme of ours"
        ),
    ],
)
def test_who_calls(peer: str, headers: dict[str, str], came: Came) -> None:
    assert PROXIES.came(peer, headers.items()) == came


def test_without_proxies_nothing_is_believed() -> None:
    assert TrustedProxies().came(PROXY, [("x-forwarded-for", CLIENT)]) == Came(PROXY)


@given(st.text(), st.text())
def test_whatever_is_said_the_caller_is_never_made_up_of_less_than_an_address(plain: str, standard: str) -> None:
    came = PROXIES.came(PROXY, [("x-forwarded-for", plain), ("forwarded", standard)])

    assert came.address == PROXY or len(TrustedProxies.parse([came.address]).networks) == 1


@given(st.text(max_size=40))
def test_a_caller_cannot_choose_its_address_through_a_proxy_that_appends(claimed: str) -> None:
    assert PROXIES.came(PROXY, [("x-forwarded-for", claimed), ("x-forwarded-for", CLIENT)]).address == CLIENT


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("proxy", "'proxy' is no network", id="a name"),
        pytest.param("", "'' is no network", id="nothing"),
        pytest.param("10.0.0.7/8", "did you mean 10.0.0.0/8", id="an address of the network"),
    ],
)
def test_what_is_no_network_is_refused(text: str, message: str) -> None:
    with pytest.raises(BadNetwork, match=message):
        TrustedProxies.parse([text])
