"""The cookies that browsers keep for us: what they are called and what holds for all of them.

Over TLS their names begin with `__Host-`, which browsers accept from this very host only: no neighbouring subdomain and
nobody on an unencrypted line can plant one.
"""

from collections.abc import Mapping

from litestar.datastructures import Cookie

SESSION = "fairway_session"
#: Ties a form or a journey to a provider to the browser that began it, before there is a session.
BROWSER = "fairway_browser"
JOURNEY = "fairway_journey"


def cookie_name(name: str, secure: bool) -> str:
    """What a cookie is called on the line."""
    return f"__Host-{name}" if secure else name


def is_secure(scheme: str, web_url: str) -> bool:
    """Whether browsers reach us over TLS: to us, or to a proxy in front of us."""
    return scheme == "https" or web_url.startswith("https://")


def shown_cookie(cookies: Mapping[str, str], name: str, secure: bool) -> str:
    """What the browser shows; empty without one. The plain name is not looked at where the safe one is to be had."""
    return cookies.get(cookie_name(name, secure), "")


def kept_cookie(name: str, value: str, secure: bool, seconds: int) -> Cookie:
    """A cookie for the browser to keep so long; scripts cannot read it, other sites' pages cannot have it sent."""
    return Cookie(
        key=cookie_name(name, secure),
        value=value,
        max_age=seconds,
        path="/",
        secure=secure,
        httponly=True,
        samesite="lax",
    )


def dropped_cookie(name: str, secure: bool) -> Cookie:
    """The same for the browser to throw away."""
    return kept_cookie(name, "", secure, 0)
