"""What can go wrong with Git, and whose fault it is.

    UserError
    ├── GitInputError       a ref, path, remote or setting that Git must never be given, or that names nothing usable
    ├── GitNotFound         a branch, commit or file that the repository does not have
    ├── GitAccessError      the remote refused who we are or what we may do
    └── GitRejectedError    the remote's own rules refused the push (protected branch, hook)
    TemporaryError
    ├── GitRemoteError      a remote that does not answer as it should
    │   └── RemoteMoved     somebody else pushed first
    └── GitLocalError       git itself, the disk or this machine failed
        └── MirrorCorrupt   the mirror on disk is damaged; it is rebuilt from its remote

`failures.py` reads git's words and picks one of these; nobody else looks at git's error text.
"""

from fairway.errors import TemporaryError, UserError


class GitInputError(UserError):
    """A ref, path, remote or setting that Git must never be given."""


class GitNotFound(UserError):
    """A branch, commit or file that the repository does not have."""


class GitAccessError(UserError):
    """The remote refused who we are, or what we may do; the same credentials will be refused again."""


class GitRejectedError(UserError):
    """The remote's own rules refused the push."""


class GitRemoteError(TemporaryError):
    """A remote that does not answer as it should."""


class RemoteMoved(GitRemoteError):
    """The branch is no longer where it was when the commit was made."""


class GitLocalError(TemporaryError):
    """Git itself, the disk or this machine failed."""


class MirrorCorrupt(GitLocalError):
    """The mirror on disk is damaged."""
