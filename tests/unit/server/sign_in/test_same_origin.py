"""A browser that says that another site's page made it send a request is believed."""

import pytest

from fairway.server.sign_in.same_origin import refuse_foreign_pages
from fairway.server.status_codes import Forbidden

WEB = "https://fairway.example.com"
HOST = {"host": "server:9082"}


@pytest.mark.parametrize(
    ("headers", "scheme"),
    [
        pytest.param(HOST, "http", id="a program"),
        pytest.param({**HOST, "origin": "http://server:9082"}, "http", id="our own page"),
        pytest.param({**HOST, "origin": "https://server:9082"}, "http", id="our own page behind a proxy with TLS"),
        pytest.param({**HOST, "origin": "https://server:9082"}, "https", id="our own page with TLS"),
        pytest.param({**HOST, "origin": WEB}, "http", id="the address that people use"),
        pytest.param({**HOST, "sec-fetch-site": "same-origin", "origin": WEB}, "http", id="both headers"),
        pytest.param({**HOST, "sec-fetch-site": "none"}, "http", id="a reload"),
    ],
)
def test_our_own_requests_pass(headers: dict[str, str], scheme: str) -> None:
    refuse_foreign_pages(headers, scheme, WEB)


@pytest.mark.parametrize(
    ("headers", "scheme"),
    [
        pytest.param({**HOST, "origin": "https://evil.example.com"}, "https", id="another site"),
        pytest.param({**HOST, "origin": "null"}, "http", id="a page without an origin"),
        pytest.param({**HOST, "origin": ""}, "http", id="an empty origin"),
        pytest.param({**HOST, "origin": "http://server:9082"}, "https", id="the same host without TLS"),
        pytest.param({**HOST, "origin": f"{WEB}.evil.example"}, "http", id="a longer name"),
        pytest.param({**HOST, "sec-fetch-site": "same-site"}, "https", id="a neighbouring subdomain"),
        pytest.param({**HOST, "sec-fetch-site": "cross-site", "origin": WEB}, "https", id="one header of two"),
    ],
)
def test_foreign_requests_are_refused(headers: dict[str, str], scheme: str) -> None:
    with pytest.raises(Forbidden, match="a page of another site"):
        refuse_foreign_pages(headers, scheme, WEB)
