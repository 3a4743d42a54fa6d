"""Where a call comes from, out of what gRPC says about its peer.

With `--single-port` every connection reaches gRPC through a socket in a private directory; the name of the other end
then carries the address of the caller, and only our own process can have given it (see `single_port`).
"""

from urllib.parse import unquote

#: Stands between the number of a connection and the address in the name of a socket's end.
MARK = "@"


def peer_address(peer: str) -> str:
    """The network address in a peer such as `ipv4:203.0.113.9:5555`; empty where there is none."""
    kind, _, rest = unquote(peer).partition(":")
    match kind:
        case "ipv4" | "ipv6":
            return rest.rpartition(":")[0].strip("[]")
        case "unix":
            return socket_name_address(rest)
    return ""


def socket_name_address(name: str) -> str:
    """The address in the name of a socket's end; empty where there is none."""
    return name.rpartition("/")[2].partition(MARK)[2]
