"""Where somebody goes once they are signed in: a page of this server, and never anywhere else.

Pure. Whoever can write the address of our sign-in page must not be able to send people on to a page of their own that
looks like ours.
"""

from urllib.parse import urlsplit

HOME = "/sign-in"
_LONGEST = 2000


def safe_next(text: str) -> str:
    """The path that the text names on this server; our own page for anything else."""
    # Browsers take \\ for / and leave out tabs and line ends, so a path that holds any of them is not what it seems.
    plain = text.isascii() and text.isprintable() and "\\" not in text and len(text) <= _LONGEST
    if not plain or not text.startswith("/") or text.startswith("//"):
        return HOME
    try:
        parts = urlsplit(text)
    except ValueError:
        return HOME
    # `//` behind dots would be a host again once a browser has resolved them.
    return text if not parts.scheme and not parts.netloc and "//" not in parts.path else HOME
