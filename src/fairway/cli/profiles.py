"""Profiles: the servers that a person works with, each with its key, in one private file.

    ~/.config/fairway/config.yaml       (below XDG_CONFIG_HOME where that is set)

The file holds keys, so it is written with mode 0600 and not read while others may read it. Which server a command
talks to is decided by `choose`, from the file and the environment: a key is only ever sent to the server it was given
for.
"""

import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from fairway.errors import UserError

SERVER, API_KEY, PROJECT, PROFILE = "FAIRWAY_SERVER", "FAIRWAY_API_KEY", "FAIRWAY_PROJECT", "FAIRWAY_PROFILE"


class ProfileError(UserError):
    """A profile that is not there, or a file of profiles that cannot be used."""


class Profile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One server, and who we are there."""

    server: str
    api_key: str = ""
    #: The project that is meant when nobody says; empty leaves it to the server.
    project: str = ""
    #: A file of certificates in PEM to trust instead of the machine's.
    ca_file: str = ""

    def __repr__(self) -> str:
        return f"Profile({self.server})"


class Profiles(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the file holds."""

    #: The name of the one that is used when nobody says; empty while there is none.
    current: str = ""
    profiles: dict[str, Profile] = {}

    def named(self, name: str) -> Profile:
        """The profile with this name; ProfileError lists those there are."""
        if name not in self.profiles:
            known = ", ".join(sorted(self.profiles)) or "none"
            raise ProfileError(f"there is no profile {name!r}; there is {known}; `fairway profile add` makes one")
        return self.profiles[name]

    def with_profile(self, name: str, profile: Profile) -> "Profiles":
        """With one more, or another in its place; it becomes the current one."""
        return Profiles(current=name, profiles={**self.profiles, name: profile})

    def without_profile(self, name: str) -> "Profiles":
        """Without one; if it was the current one, none is current, so that no command goes to a server by chance."""
        self.named(name)
        left = {known: profile for known, profile in self.profiles.items() if known != name}
        return Profiles(current="" if self.current == name else self.current, profiles=left)


def choose(saved: Profiles, environment: Mapping[str, str], name: str = "", project: str = "") -> Profile:
    """The server to talk to: the named profile, else the environment's server or profile, else the current one."""
    given = {variable: environment.get(variable, "") for variable in (SERVER, API_KEY, PROJECT, PROFILE)}
    if name:
        chosen = saved.named(name)
        key = chosen.api_key or given[API_KEY]
    elif given[SERVER]:
        if wrong := wrong_with_address(given[SERVER]):
            raise ProfileError(f"{SERVER} {wrong}")
        chosen = _for_address(saved, given[SERVER])
        key = given[API_KEY] or chosen.api_key
    elif given[PROFILE] or saved.current:
        chosen = saved.named(given[PROFILE] or saved.current)
        key = given[API_KEY] or chosen.api_key
    else:
        raise ProfileError(
            f"no server is set; run `fairway profile add NAME --server URL`, or set {SERVER} and {API_KEY}"
        )
    if not key:
        raise ProfileError(f"there is no API key for {chosen.server}; set {API_KEY}, or store one: fairway profile add")
    return msgspec.structs.replace(chosen, api_key=key, project=project or given[PROJECT] or chosen.project)


def wrong_with_address(server: str) -> str:
    """Why something is no address of a server, to follow the name of who gave it; nothing where it is one."""
    try:
        parts = urlsplit(server)
        _ = parts.port  # read to be checked
    except ValueError:
        return "is no address; expected http://HOST:PORT or https://HOST"
    if parts.username or parts.password:
        return "holds a name or a password; expected only http://HOST:PORT or https://HOST"
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
        return f"is {server!r}; expected http://HOST:PORT or https://HOST"
    return ""


def _for_address(saved: Profiles, server: str) -> Profile:
    address = server.rstrip("/")
    return next((each for each in saved.profiles.values() if each.server == address), Profile(server=address))


def profiles_path(environment: Mapping[str, str]) -> Path:
    """Where the file is for the person with this environment."""
    base = environment.get("XDG_CONFIG_HOME", "")
    # The specification says that a path that is not absolute is to be ignored.
    folder = Path(base) if base.startswith("/") else Path(environment.get("HOME") or Path.home()) / ".config"
    return folder / "fairway" / "config.yaml"


def load_profiles(path: Path) -> Profiles:
    """What the file holds; nothing when it is not there."""
    import yaml

    try:
        if path.stat().st_mode & 0o077:
            raise ProfileError(f"{path} holds keys and others may read it; make it yours alone: chmod 600 {path}")
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
        return msgspec.convert(content or {}, Profiles)
    except FileNotFoundError:
        return Profiles()
    except (OSError, UnicodeDecodeError) as error:
        raise ProfileError(f"{path} cannot be read: {error}") from error
    except yaml.YAMLError as error:
        # Not chained, and only its place is told: the parser's message may quote a key.
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        raise ProfileError(f"{path}{where} is not YAML; mend it, or move it away and add your profiles again") from None
    except msgspec.ValidationError as error:
        raise ProfileError(f"{path} is not a file of profiles: {error}") from error


def change_profiles(path: Path, change: Callable[[Profiles], Profiles]) -> Profiles:
    """Change what the file holds, one command after the other; what it holds then."""
    with _turn(path):
        changed = change(load_profiles(path))
        save_profiles(path, changed)
        return changed


@contextmanager
def _turn(path: Path) -> Iterator[None]:
    """Nobody else changes the file while the block lasts. The lock is of a file beside it, which is never replaced."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(path.parent / ".config.lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise ProfileError(f"{path} cannot be written: {error}") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def save_profiles(path: Path, profiles: Profiles) -> None:
    """Write the file, whole or not at all, readable by nobody else."""
    import yaml

    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # A file of mkstemp has mode 0600 from its first moment.
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".config-")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                yaml.safe_dump(msgspec.to_builtins(profiles), file, sort_keys=False, allow_unicode=True)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise ProfileError(f"{path} cannot be written: {error}") from error
