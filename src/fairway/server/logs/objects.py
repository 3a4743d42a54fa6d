"""Where log objects are kept: the small interface. A directory and a bucket are behind it.

Objects are never changed, so four operations are enough.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from fairway.errors import TemporaryError, UserError


class LogPlaceError(UserError):
    """A setting that names no place for logs."""


class LogStorageError(TemporaryError):
    """The disk or the bucket failed; what was acknowledged before is still there."""


class Objects(Protocol):
    """A flat space of named, unchanging objects."""

    async def create(self, objects: Mapping[str, bytes]) -> None:
        """Write objects of one folder, by name, that survive a crash from now on; whoever sees one finds those before
        it. One that is there already is left as it is."""
        ...

    async def get(self, name: str) -> bytes | None:
        """The whole content; `None` when there is no such object."""
        ...

    async def list(self, folder: str) -> dict[str, int]:
        """Names and sizes of everything below a folder, which ends with `/`, in the order of the names."""
        ...

    async def delete(self, names: Sequence[str]) -> None:
        """Remove objects; one that is not there is no error."""
        ...

    async def close(self) -> None:
        """Finish what is being written."""
        ...
