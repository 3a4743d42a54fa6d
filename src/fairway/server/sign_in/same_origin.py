"""Whether a request that changes something was sent by one of our own pages, as far as the browser says.

Pure. Browsers tell where a request comes from in `Sec-Fetch-Site` and `Origin`, and pages cannot forge these headers.
A program that is no browser sends neither; it carries no cookies that somebody else could misuse. This stands beside a
token in each request and not instead of it.
"""

from collections.abc import Mapping
from urllib.parse import urlsplit

from fairway.server.status_codes import Forbidden

#: `none` is a person's own doing, such as sending a form again after a reload.
_OURS = {"same-origin", "none"}


def refuse_foreign_pages(headers: Mapping[str, str], scheme: str, web_url: str) -> None:
    """Raise Forbidden when a browser says that another site's page sent the request."""
    site = headers.get("sec-fetch-site", "same-origin")
    origin = headers.get("origin")
    if site not in _OURS or (origin is not None and not _is_ours(origin, headers.get("host", ""), scheme, web_url)):
        raise Forbidden(
            "the request comes from a page of another site; expected one of this server's own pages"
            " (behind a proxy, start the server with the address that people use)"
        )


def _is_ours(origin: str, host: str, scheme: str, web_url: str) -> bool:
    if web_url and origin == origin_of(web_url):
        return True
    # What reaches us without TLS may have had it as far as a proxy; what reaches us with TLS always had it.
    return origin in ({f"https://{host}"} if scheme == "https" else {f"http://{host}", f"https://{host}"})


def origin_of(url: str) -> str:
    """Scheme and host of an address, as a browser names them."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()
