"""How an agent changes its own version: where the wheels of versions come from, and what must be in them."""

import re
from typing import Final
from urllib.parse import urlsplit

from fairway.config.scalars import Duration
from fairway.config.settings import Problems, ZeroMeansDefault

#: What stands for the wanted version in an address.
VERSION_PLACE: Final = "{version}"
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")
_EXPECTED = (
    'expected an address such as "file:///srv/wheels/fairway-{version}-py3-none-any.whl" or "https://…{version}…"'
)


class Upgrade(ZeroMeansDefault, frozen=True):
    """Fairway's own addition to the kind `Piped`."""

    #: The address of a version's wheel, with `{version}` where the version stands.
    source: str = ""
    #: Version → sha256 of its wheel, for servers that name versions only.
    checksums: dict[str, str] = {}
    #: How long a new version may take until it is ready.
    ready_within: Duration = Duration(minutes=2)
    #: How long it must stay up after that to count as healthy.
    settle_for: Duration = Duration(seconds=30)

    def problems(self) -> Problems:
        found: Problems = []
        if wrong := _wrong_with(self.source):
            found.append(("source", wrong))
        found += [
            ("checksums", f"has {hex!r} for {version}; expected the 64 hexadecimal digits of a sha256")
            for version, hex in self.checksums.items()
            if not _SHA256.fullmatch(hex)
        ]
        return found


def _wrong_with(source: str) -> str:
    if not source:
        return f"is missing; {_EXPECTED}"
    try:
        parts = urlsplit(source)
        hostname, _port = parts.hostname, parts.port
    except ValueError:
        return f"is {source!r}, which is no address; {_EXPECTED}"
    if VERSION_PLACE not in source:
        return f"is {source!r}, which has no {VERSION_PLACE}: every version would be the same; {_EXPECTED}"
    if parts.scheme == "file" and not parts.netloc and parts.path.startswith("/"):
        return ""
    if parts.scheme in {"http", "https"} and hostname and VERSION_PLACE not in parts.netloc:
        return ""
    return f"is {source!r}; {_EXPECTED}"
