"""Where `fairway up` keeps everything: one directory, which only this user may enter and one `up` uses at a time."""

import fcntl
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec

from fairway.errors import UserError


class InUse(UserError):
    """A directory in which another `fairway up` is at work."""


class Places(msgspec.Struct, frozen=True):
    """The directory, and what lies where in it."""

    data: Path

    @property
    def server(self) -> Path:
        """The server's data."""
        return self.data / "server"

    @property
    def agent(self) -> Path:
        """The agent's data."""
        return self.data / "agent"

    @property
    def demo(self) -> Path:
        """The demo repository."""
        return self.data / "demo"

    @property
    def api_key(self) -> Path:
        """The key with which we call the server."""
        return self.data / "api.key"

    @property
    def agent_key(self) -> Path:
        """The agent's key."""
        return self.data / "agent.key"

    @property
    def sealing_key(self) -> Path:
        """The key with which the agent opens sealed values."""
        return self.data / "sealing.key"

    @property
    def public_sealing_key(self) -> Path:
        """Its public half."""
        return self.data / "sealing.key.pub"

    @property
    def agent_file(self) -> Path:
        """The agent's configuration."""
        return self.data / "agent.yaml"

    def log(self, name: str) -> Path:
        """What a child says."""
        return self.data / f"{name}.log"

    @contextmanager
    def taken(self) -> Iterator[None]:
        """The directory, made if need be and ours alone while the block lasts."""
        try:
            self.data.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Held by this process alone, so that it is free however this process ends.
            lock = os.open(self.data / "up.lock", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise UserError(f"{self.data} cannot be used ({error.strerror}); choose another with --data") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(lock)
            raise InUse(
                f"another `fairway up` works in {self.data}; stop that one, or choose another directory with --data"
            ) from error
        try:
            yield
        finally:
            os.close(lock)


def default_data(environment: Mapping[str, str]) -> Path:
    """Where everything is kept when nobody says."""
    base = environment.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(base) / "fairway" / "up"


def write_private(path: Path, text: str) -> None:
    """Write a file that nobody else may read, whole or not at all."""
    # A file of mkstemp has mode 0600 from its first moment.
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    Path(temporary).replace(path)
