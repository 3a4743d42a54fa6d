"""Who really calls when a reverse proxy stands in front, out of what the proxy says about it.

Pure, but for the ASGI frame at the end. Anybody can write such headers, so they are read only from a peer whose address
is among the trusted ones. The chain is walked from our end: each trusted hop vouches for the one before it, and the
first that is not trusted is the caller; what that one claims about others is not looked at. A proxy usually writes one
of `X-Forwarded-For` and `Forwarded` and passes the other on as a stranger wrote it: where both are there and disagree,
neither is believed.
"""

import ipaddress
from collections.abc import Iterable, Sequence

import msgspec
from litestar.types import ASGIApp, Receive, Scope, Send

from fairway.errors import UserError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
#: Names in lower case, and values.
Headers = Iterable[tuple[str, str]]

_SCHEMES = {"http", "https"}


class BadNetwork(UserError):
    """Something that is no network of proxies."""


class Came(msgspec.Struct, frozen=True):
    """How a caller came to us."""

    address: str
    #: `http` or `https`; empty where nobody said.
    scheme: str = ""


class TrustedProxies(msgspec.Struct, frozen=True):
    """The networks whose members are believed; of nobody, unless given."""

    networks: tuple[Network, ...] = ()

    @classmethod
    def parse(cls, texts: Iterable[str]) -> "TrustedProxies":
        """The networks of texts such as 10.0.0.0/8 or 10.0.0.7; BadNetwork for anything else."""
        return cls(tuple(_network(text) for text in texts))

    def came(self, peer: str, headers: Headers) -> Came:
        """Who calls, when `peer` is at the other end of the connection."""
        if not self.networks or not self._is_trusted(peer):
            return Came(peer)
        told = list(headers)
        plain = self._along(peer, _listed(told))
        standard = self._along(peer, _standard(told))
        if plain is None or standard is None:
            return plain or standard or Came(peer)
        return plain if plain.address == standard.address else Came(peer)

    def _along(self, peer: str, hops: Sequence[Came]) -> Came | None:
        """The first caller that is not trusted, seen from our end; `None` where no hop is told of."""
        found = None
        for hop in reversed(hops):
            address = _address(hop.address)
            if address is None:
                # A hop whose name nobody can read: what stands beyond it cannot be vouched for.
                return found or Came(peer, hop.scheme)
            found = Came(str(address), hop.scheme)
            if not self._is_trusted(found.address):
                break
        return found

    def _is_trusted(self, text: str) -> bool:
        address = _address(text)
        return address is not None and any(address in network for network in self.networks)


def behind(proxies: TrustedProxies, inner: ASGIApp) -> ASGIApp:
    """The application, to which each request seems to come from whom it really comes from."""
    if not proxies.networks:
        return inner

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        peer, _ = scope.get("client") or ("", 0)
        headers = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"])
        came = proxies.came(peer, headers)
        scheme = came.scheme or scope.get("scheme")
        told = {**scope, "client": (came.address, 0), "scheme": scheme} if came != Came(peer) else scope
        await inner(told, receive, send)  # type: ignore[arg-type]  # a copy of the same kind

    return app


def _listed(headers: Headers) -> list[Came]:
    """The hops of X-Forwarded-For, each with its scheme where as many are told of, else with the nearest one's."""
    addresses = _values(headers, "x-forwarded-for")
    schemes = [_scheme(text) for text in _values(headers, "x-forwarded-proto")]
    if len(schemes) != len(addresses):
        schemes = [schemes[-1] if schemes else ""] * len(addresses)
    return [Came(address, scheme) for address, scheme in zip(addresses, schemes, strict=True)]


def _standard(headers: Headers) -> list[Came]:
    """The hops of `Forwarded` (RFC 7239)."""
    hops = []
    for element in _values(headers, "forwarded"):
        pairs = (pair.partition("=") for pair in element.split(";"))
        said = {name.strip().lower(): value.strip().strip('"') for name, _, value in pairs}
        hops.append(Came(said.get("for", ""), _scheme(said.get("proto", ""))))
    return hops


def _values(headers: Headers, name: str) -> list[str]:
    return [text.strip() for key, value in headers if key == name for text in value.split(",")]


def _scheme(text: str) -> str:
    return text.lower() if text.lower() in _SCHEMES else ""


def _address(text: str) -> Address | None:
    """The address in `203.0.113.9`, `203.0.113.9:5555`, `2001:db8::1` or `[2001:db8::1]:5555`."""
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


def _network(text: str) -> Network:
    try:
        return ipaddress.ip_network(text.strip())
    except ValueError as error:
        try:
            meant = f"; did you mean {ipaddress.ip_network(text.strip(), strict=False)}?"
        except ValueError:
            meant = ""
        raise BadNetwork(
            f"{text!r} is no network of proxies; expected one such as 10.0.0.0/8 or 10.0.0.7{meant}"
        ) from error
