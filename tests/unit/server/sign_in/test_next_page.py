"""Nobody is sent to another site by our own sign-in page."""

from urllib.parse import urljoin, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.server.sign_in.next_page import HOME, safe_next


@pytest.mark.parametrize("path", ["/", "/applications", "/deployments/d-1?tab=log#stage-2", "/a%2Fb?x=//y"])
def test_a_path_of_ours_is_kept(path: str) -> None:
    assert safe_next(path) == path


@pytest.mark.parametrize(
    "text",
    [
        "",
        "applications",
        "https://evil.example",
        "//evil.example",
        "///evil.example",
        "/\\evil.example",
        "/.//evil.example",
        "/\t/evil.example",
        "/\n/evil.example",
        "javascript:alert(1)",
        "/ä",
        "/" + "x" * 3000,
    ],
)
def test_anything_else_leads_home(text: str) -> None:
    assert safe_next(text) == HOME


@given(st.text(alphabet="/\\.:@?#[]ab%\t\n ", max_size=20))
def test_whatever_is_asked_for_the_host_stays(text: str) -> None:
    assert urlsplit(urljoin("https://fairway.example/sign-in", safe_next(text))).netloc == "fairway.example"
