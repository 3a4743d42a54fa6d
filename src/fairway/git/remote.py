"""Where a repository lives: the forms in which people write a remote, and the web page of one of its commits.

Understood are `ssh`, `git+ssh`, `git`, `http`, `https`, `rsync` and `file` addresses, the scp form `git@host:path` and
a plain path. A password inside an address is split off on entry, so that `Remote.url` can be logged, stored and shown.
Whether git may use a scheme is decided in `environment.py`; here `rsync` is only a name that gives a web page.
"""

import re
from enum import Enum
from urllib.parse import SplitResult, quote, unquote, urlsplit

from msgspec import Struct

from fairway.git.errors import GitInputError
from fairway.git.names import checked_hash

SCHEMES = frozenset({"ssh", "git+ssh", "git", "http", "https", "rsync", "file"})
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_SCP = re.compile(r"(?:(?P<user>[^@/:\s]+)@)?(?P<host>\[[0-9A-Fa-f:.]+\]|[^@/:\s\[\]]+):(?P<path>.+)")
_HOST = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?\.?|[0-9A-Fa-f:.]+")
_USER = re.compile(r"[A-Za-z0-9_.+@%~-]*")


class WebStyle(Enum):
    """How a hosting product spells the page of a commit."""

    GITHUB = "/commit/"  # also Gitea, Forgejo, Codeberg, Azure DevOps
    GITLAB = "/-/commit/"
    BITBUCKET = "/commits/"  # bitbucket.org; Bitbucket Server is found by its `/scm/` path


#: A label of the host name that gives the product away.
_STYLE_BY_LABEL = {
    "github": WebStyle.GITHUB,
    "gitea": WebStyle.GITHUB,
    "forgejo": WebStyle.GITHUB,
    "codeberg": WebStyle.GITHUB,
    "gitlab": WebStyle.GITLAB,
    "bitbucket": WebStyle.BITBUCKET,
}


class Login(Struct, frozen=True):
    """The user name and password that stood inside an address."""

    username: str
    password: str

    def __repr__(self) -> str:
        return f"Login(username={self.username!r}, password=***)"


class Remote(Struct, frozen=True):
    """One repository's address, free of secrets."""

    #: What git is given, and what may be shown.
    url: str
    #: One of `SCHEMES`; an scp form is `ssh`, a plain path is `file`.
    scheme: str
    #: The repository's path on its host.
    path: str
    host: str | None = None
    port: int | None = None
    user: str | None = None

    def __str__(self) -> str:
        return self.url


def parse_remote(text: str) -> tuple[Remote, Login | None]:
    """Read a remote as people write it; the second part is the login that stood inside, if any."""
    _refuse_hostile(text)
    if "://" in text:
        return _from_url(text)
    scp = _SCP.fullmatch(text)
    if scp and not text.startswith((".", "/", "~")):
        return _from_scp(text, scp["user"], scp["host"], scp["path"]), None
    return Remote(url=text, scheme="file", path=text), None


def _refuse_hostile(text: str) -> None:
    if not text.strip() or text != text.strip():
        raise GitInputError(
            "the remote is empty or has spaces around it; expected an address such as https://host/repo"
        )
    if text.startswith("-"):
        raise GitInputError(f"the remote {redacted(text)!r} starts with '-', which git would read as an option")
    if _CONTROL.search(text):
        raise GitInputError(f"the remote {redacted(text)!r} contains a control character")
    if "::" in text and "://" not in text.split("::", 1)[0] and "[" not in text.split("::", 1)[0]:
        raise GitInputError(f"the remote {redacted(text)!r} names a transport helper ('::'), which is never run")


def _from_url(text: str) -> tuple[Remote, Login | None]:
    parts = _split(text)
    if parts.scheme == "file":
        if parts.netloc not in {"", "localhost"} or not parts.path.startswith("/"):
            raise GitInputError(f"the remote {text!r} is not a local path; expected file:///path/to/repository")
        return Remote(url=text, scheme="file", path=unquote(parts.path)), None
    host, port = _host_and_port(parts, text)
    _refuse_odd_path(parts.path, text)
    user = unquote(parts.username) if parts.username else None
    password = unquote(parts.password) if parts.password else None
    if parts.scheme in {"http", "https"}:
        return _web_remote(parts, host, port), _login(user, password)
    if password is not None:
        raise GitInputError(f"the remote {redacted(text)!r} holds a password; {parts.scheme} logs in with a key")
    _refuse_odd_user(user, text)
    return Remote(url=text, scheme=parts.scheme, path=parts.path, host=host, port=port, user=user), None


def _split(text: str) -> SplitResult:
    try:
        parts = urlsplit(text)
    except ValueError as error:
        raise GitInputError(f"the remote {redacted(text)!r} is not a URL: {error}") from error
    if parts.scheme not in SCHEMES:
        known = ", ".join(sorted(SCHEMES))
        raise GitInputError(f"the remote {redacted(text)!r} has the scheme {parts.scheme!r}; expected one of {known}")
    if parts.query or parts.fragment:
        raise GitInputError(f"the remote {redacted(text)!r} has a '?' or '#' part; a repository address has none")
    return parts


def _host_and_port(parts: SplitResult, text: str) -> tuple[str, int | None]:
    try:
        port = parts.port
    except ValueError as error:
        raise GitInputError(f"the remote {redacted(text)!r} has a port that is no number below 65536") from error
    host = parts.hostname or ""
    if not _HOST.fullmatch(host):
        raise GitInputError(f"the remote {redacted(text)!r} has the host {host!r}; expected a name or an IP address")
    return host, port


def _refuse_odd_path(path: str, text: str) -> None:
    if not path.strip("/"):
        raise GitInputError(f"the remote {redacted(text)!r} names a host but no repository")
    if path.startswith("/-"):
        raise GitInputError(f"the remote {redacted(text)!r} has a path that starts with '-'")


def _refuse_odd_user(user: str | None, text: str) -> None:
    if user is not None and (user.startswith("-") or not _USER.fullmatch(user)):
        raise GitInputError(f"the remote {redacted(text)!r} has the user {user!r}; expected a name such as 'git'")


def _web_remote(parts: SplitResult, host: str, port: int | None) -> Remote:
    shown = f"[{host}]" if ":" in host else host
    url = f"{parts.scheme}://{shown}{f':{port}' if port else ''}{parts.path}"
    return Remote(url=url, scheme=parts.scheme, path=parts.path, host=host, port=port)


def _login(user: str | None, password: str | None) -> Login | None:
    if user is None and password is None:
        return None
    # A lone user name may be a pasted token (https://TOKEN@host), so it is split off like a password.
    return Login(username=user or "git", password=password or "")


def _from_scp(text: str, user: str | None, host: str, path: str) -> Remote:
    bare = host.strip("[]")
    if bare.startswith("-") or path.startswith("-") or not _HOST.fullmatch(bare):
        raise GitInputError(f"the remote {text!r} is neither a URL nor user@host:path")
    _refuse_odd_user(user, text)
    return Remote(url=text, scheme="ssh", path=path, host=bare.lower(), user=user)


_EMBEDDED = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*://)(?P<login>[^/\s@]*)@")


def redacted(text: str) -> str:
    """The text with whatever stands before the `@` of an address hidden; of ssh its password only."""
    return _EMBEDDED.sub(_without_login, text)


def _without_login(match: re.Match[str]) -> str:
    user, colon, _ = match["login"].partition(":")
    if match["scheme"].lower() not in {"ssh://", "git+ssh://"}:
        return f"{match['scheme']}***@"
    return f"{match['scheme']}{user}{colon and ':***'}@"


def commit_url(remote: Remote, commit: str, style: WebStyle | None = None) -> str | None:
    """The web page of a commit, or None where the host does not tell; `style` helps with self-hosted products."""
    checked_hash(commit)
    if remote.host is None:
        return None
    path = quote(remote.path.strip("/").removesuffix(".git"), safe="/~@:+,;=!$&'()*%")
    base = _web_base(remote)
    if server_page := _bitbucket_server_page(remote, path):
        return f"{base}{server_page}/commits/{commit}"
    chosen = style or _style_of(remote.host)
    if chosen is None:
        return None
    return f"{base}/{path}{chosen.value}{commit}"


def _web_base(remote: Remote) -> str:
    host = remote.host or ""
    # GitHub and GitLab offer ssh over 443 under these names; their pages live at the plain name.
    host = host.removeprefix("ssh.").removeprefix("altssh.") if host.startswith(("ssh.git", "altssh.")) else host
    shown = f"[{host}]" if ":" in host else host
    if remote.scheme in {"http", "https"}:
        return f"{remote.scheme}://{shown}{f':{remote.port}' if remote.port else ''}"
    return f"https://{shown}"


def _style_of(host: str) -> WebStyle | None:
    labels = host.lower().split(".")
    return next((_STYLE_BY_LABEL[label] for label in labels if label in _STYLE_BY_LABEL), None)


def _bitbucket_server_page(remote: Remote, path: str) -> str | None:
    parts = path.split("/")
    if remote.scheme in {"http", "https"} and len(parts) == 3 and parts[0] == "scm":
        project = parts[1]
        return (
            f"/users/{project[1:]}/repos/{parts[2]}"
            if project.startswith("~")
            else f"/projects/{project}/repos/{parts[2]}"
        )
    return None
