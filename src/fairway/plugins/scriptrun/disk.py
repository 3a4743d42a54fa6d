"""Errors of the disk that the files of scripts are on."""

import errno

from fairway.errors import TemporaryError


class JournalError(TemporaryError):
    """The disk does not take a script's files."""


class DiskFull(JournalError):
    """The disk has no room; it may have some later."""


def cannot_write(words: str, error: OSError) -> JournalError:
    """The error of a write, with words for people."""
    full = error.errno in {errno.ENOSPC, errno.EDQUOT}
    return (DiskFull if full else JournalError)(f"{words} ({error.strerror})")
