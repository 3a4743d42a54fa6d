"""Paths that people wrote into YAML, kept inside the repository.

A path is followed through every symbolic link before it is judged, because a link in a directory on the way leaves the
repository as well as the last one does.
"""

from collections.abc import Iterator
from pathlib import Path

from fairway.errors import UserError
from fairway.sdk import Files


class OutsideRepository(UserError):
    """A path that leaves the repository, or is not there."""


class Place:
    """The repository of an application, and the directory that its paths are relative to."""

    def __init__(self, root: Path, directory: Path) -> None:
        self.root = root
        self.directory = directory

    @classmethod
    def of(cls, files: Files) -> "Place":
        """Where the files of a commit are."""
        directory = files.application_directory.resolve()
        root = files.shared_directory.parent.resolve()
        return cls(root if directory.is_relative_to(root) else directory, directory)

    def path(self, written: str, what: str, *, base: Path | None = None) -> Path:
        """Where a path leads, links resolved; `what` names it in the refusal, such as `input.manifests[0]`."""
        if "\0" in written:
            raise OutsideRepository(f"{what} is {written!r}, which is no path")
        try:
            found = ((base or self.directory) / written).resolve(strict=True)
        except FileNotFoundError as error:
            raise OutsideRepository(
                f"{what} is {written!r}, but there is nothing at {self.shown_for(written)}"
            ) from error
        except (OSError, RuntimeError) as error:
            raise OutsideRepository(f"{what} is {written!r}, which leads nowhere: {error}") from error
        if not found.is_relative_to(self.root):
            raise OutsideRepository(
                f"{what} is {written!r}, which leaves the repository; expected a path below its root"
            )
        return found

    def shown(self, path: Path) -> str:
        """A path as people know it: from the root of the repository."""
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else str(path)

    def shown_for(self, written: str) -> str:
        """The same for a path that may not be there."""
        prefix = self.shown(self.directory)
        return written if prefix in {"", "."} else f"{prefix}/{written}"

    def files_below(self, directory: Path) -> Iterator[Path]:
        """Every file at or below a directory in a fixed order, links followed; refuses a link out of the repository.

        For tools that follow whatever they find, and to know what they may have read.
        """
        seen: set[Path] = set()
        waiting = [directory]
        while waiting:
            folder = waiting.pop()
            if folder.resolve() in seen:
                continue
            seen.add(folder.resolve())
            for path in sorted(folder.iterdir()):
                if path.is_symlink() and not path.resolve().is_relative_to(self.root):
                    raise OutsideRepository(
                        f"{self.shown(path)} is a symbolic link that leaves the repository; replace it by a file"
                    )
                if path.is_dir():
                    waiting.append(path)
                elif path.is_file():
                    yield path
