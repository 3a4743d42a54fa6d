"""Git's words become errors that say whose fault it is."""

import pytest

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
from fairway.git.failures import local_failure, remote_failure


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("fatal: Authentication failed for 'https://h/r/'", GitAccessError),
        ("git@h: Permission denied (publickey).\nfatal: Could not read from remote repository.", GitAccessError),
        ("Host key verification failed.\nfatal: Could not read from remote repository.", GitAccessError),
        ("fatal: unable to access 'https://h/r/': The requested URL returned error: 403", GitAccessError),
        ("remote: Repository not found.\nfatal: repository 'https://h/r/' not found", GitNotFound),
        ("fatal: '/x' does not appear to be a git repository", GitNotFound),
        ("fatal: couldn't find remote ref refs/heads/x", GitNotFound),
        ("fatal: transport 'ext' not allowed", GitInputError),
        ("fatal: unable to access 'https://h/': SSL certificate problem: self-signed certificate", GitInputError),
        ("fatal: unable to access 'https://h/': Could not resolve host: h", GitRemoteError),
        ("fatal: unable to access 'https://h/': The requested URL returned error: 503", GitRemoteError),
        ("ssh: connect to host h port 22: Connection refused", GitRemoteError),
        ("fatal: the remote end hung up unexpectedly", GitRemoteError),
        ("fatal: not a git repository: '/m.git'", MirrorCorrupt),
        ("error: cannot lock ref 'r': Unable to create '/m.git/r.lock': File exists.", GitLocalError),
        ("fatal: write error: No space left on device", GitLocalError),
        ("", GitRemoteError),
    ],
)
def test_a_failed_fetch_is_understood(words: str, kind: type[FairwayError]) -> None:
    error = remote_failure("fetch from", "https://h/r", words)

    assert (type(error), str(error).startswith("cannot fetch from https://h/r: ")) == (kind, True)


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["git@h: Permission denied (publickey)."], id="another key"),
        pytest.param(["Host key verification failed."], id="another host"),
        pytest.param(
            [
                "No ED25519 host key is known for h and you have requested strict checking.",
                "Host key verification failed.",
            ],
            id="a host that nobody knows",
        ),
    ],
)
def test_what_ssh_says_is_told(words: list[str]) -> None:
    """As ssh writes it, between lines that say less."""
    lines = ("@@@@@", "Please contact your administrator.", *words, "fatal: Could not read from remote repository.")

    error = remote_failure("fetch from", "h:r", "\r\n".join((*lines, "")))

    assert f"(git said: {'; '.join(words)}; fatal: Could not read" in str(error)


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("!\tx:refs/heads/main\t[rejected] (stale info)", RemoteMoved),
        ("!\tx:refs/heads/main\t[rejected] (fetch first)", RemoteMoved),
        ("!\tx:refs/heads/main\t[remote rejected] (cannot lock ref 'refs/heads/main')", RemoteMoved),
        ("!\tx:refs/heads/main\t[remote rejected] (pre-receive hook declined)", GitRejectedError),
        ("remote: error: GH006: Protected branch update failed", GitRejectedError),
        ("fatal: Authentication failed for 'https://h/r/'", GitAccessError),
        ("fatal: the remote end hung up unexpectedly", GitRemoteError),
    ],
)
def test_a_failed_push_is_understood(words: str, kind: type[FairwayError]) -> None:
    assert type(remote_failure("push to", "https://h/r", words)) is kind


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("error: object file objects/00/1 is empty\nfatal: loose object 1 is corrupt", MirrorCorrupt),
        ("fatal: bad object refs/heads/main", MirrorCorrupt),
        ("fatal: unknown trouble", GitLocalError),
    ],
)
def test_a_failed_local_command_is_understood(words: str, kind: type[FairwayError]) -> None:
    assert type(local_failure("ls-tree", words)) is kind
