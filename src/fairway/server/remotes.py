"""Whether two addresses name one repository.

People write the remote of a repository as they clone it, agents as they fetch it: over ssh here, over https there.
Compared is what the spellings share: the host and the path on it. A port counts only between addresses of the same
scheme, since a host serves ssh and https on different ones.
"""

from fairway.git.errors import GitInputError
from fairway.git.remote import Remote, parse_remote


def same_repository(one: str, other: str) -> bool:
    """Whether both addresses lead to the same repository. An address that cannot be read only equals itself."""
    if one == other:
        return True
    try:
        first, _ = parse_remote(one)
        second, _ = parse_remote(other)
    except GitInputError:
        return False
    if first.scheme == second.scheme and first.port != second.port:
        return False
    return _place(first) == _place(second)


def _place(remote: Remote) -> tuple[str, str]:
    host = (remote.host or "").lower().rstrip(".")
    path = remote.path.strip("/") if remote.host else remote.path.rstrip("/")
    return host, path.removesuffix(".git").rstrip("/")
