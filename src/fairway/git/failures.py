"""Git's words turned into our errors: what failed, whose fault it is, and whether trying again may help.

Git has one exit status for almost everything, so its (untranslated) message is the only witness. All knowledge of those
messages is in the tables below; the first that matches wins. What is not known counts as temporary: a retry is bounded
and harmless, giving up on a network hiccup is not.
"""

import re

from fairway.errors import FairwayError
from fairway.git.errors import (
    GitAccessError,
    GitInputError,
    GitLocalError,
    GitNotFound,
    GitRejectedError,
    GitRemoteError,
    MirrorCorrupt,
    RemoteMoved,
)

_Rule = tuple[type[FairwayError], str, str]

_LOCAL: tuple[_Rule, ...] = (
    (
        MirrorCorrupt,
        r"object file .* is empty|loose object .* is corrupt|bad object refs|"
        r"packfile .* (is|cannot be accessed|does not)|"
        r"unable to (read|unpack) (tree|sha1|[0-9a-f]{40})|missing blob|missing tree|file .* is far too short|"
        r"inflate: data stream error|not a git repository: '|bad tree object|did not send all necessary objects|"
        r"bad config (line|file)|unable to read tree|index file corrupt|broken link|does not point to a valid object",
        "the mirror on disk is damaged; it will be cloned again",
    ),
    (
        GitLocalError,
        r"Unable to create '.*\.lock': File exists|No space left on device|Read-only file system|Too many open files",
        "this machine's disk is in the way",
    ),
)

_REMOTE: tuple[_Rule, ...] = (
    (
        GitInputError,
        r"transport '[^']*' not allowed|protocol '[^']*' is not supported|Unable to find remote helper|"
        r"no longer supported",
        "this kind of address is not allowed; use https, ssh, git or file",
    ),
    (
        GitInputError,
        r"dubious ownership",
        "the repository belongs to another user; run as its owner or change the owner",
    ),
    (
        GitAccessError,
        r"Authentication failed|could not read (Username|Password)|Permission denied|Host key verification failed|"
        r"returned error: 40[137]|HTTP (Basic: )?Access denied|Invalid username or |no mutual signature|"
        r"REMOTE HOST IDENTIFICATION HAS CHANGED|Load key |service not enabled",
        "the remote refused the login; check user, password or key, and their rights on the repository",
    ),
    (
        GitInputError,
        r"certificate|SSL_ERROR_|SSL routines",
        "the server's certificate is not trusted; give the authority's file as ca_file",
    ),
    (
        GitNotFound,
        r"does not appear to be a git repository|[Rr]epository .*(not found|does not exist)|returned error: 404",
        "there is no such repository, or these credentials may not see it",
    ),
    (GitNotFound, r"couldn't find remote ref|not our ref|does not have any commits", "the remote does not have it"),
)

#: How lines begin that say what is the matter: git's own, and those of ssh about keys.
_TELLING = re.compile(
    r"fatal|error|remote|!|ERROR|ssh[:_]|kex_|Load key |No \S+ host key is known|Host key verification failed|"
    r"\S+: Permission denied"
)

_PUSH: tuple[_Rule, ...] = (
    (
        RemoteMoved,
        r"stale info|non-fast-forward|fetch first|cannot lock ref|failed to (lock|update ref)|incorrect old value|"
        r"reference already exists",
        "the branch moved while we pushed",
    ),
    (
        GitRejectedError,
        r"hook declined|\[remote rejected\]|protected branch|GH\d{3}:|! \[rejected\]",
        "the remote's rules refused the push",
    ),
)


def local_failure(what: str, stderr: str) -> FairwayError:
    """The error for a git command that touched only this machine."""
    return _first_match(_LOCAL, stderr, what) or GitLocalError(f"git {what} failed on this machine: {_brief(stderr)}")


def remote_failure(what: str, url: str, stderr: str) -> FairwayError:
    """The error for a git command that talked to a remote."""
    subject = f"{what} {url}"
    rules = (*_PUSH, *_REMOTE, *_LOCAL) if what == "push to" else (*_REMOTE, *_LOCAL)
    return _first_match(rules, stderr, subject) or GitRemoteError(
        f"cannot {subject}: the remote or the network failed: {_brief(stderr)}"
    )


def _first_match(rules: tuple[_Rule, ...], stderr: str, subject: str) -> FairwayError | None:
    for kind, pattern, advice in rules:
        if re.search(pattern, stderr):
            return kind(f"cannot {subject}: {advice} (git said: {_brief(stderr)})")
    return None


def _brief(stderr: str) -> str:
    """The lines that matter of git's message, on one line."""
    lines = [line.strip() for line in re.split(r"[\r\n]+", stderr) if line.strip()]
    telling = [line for line in lines if _TELLING.match(line)] or lines
    return "; ".join(telling[:6])[:600] or "nothing"
