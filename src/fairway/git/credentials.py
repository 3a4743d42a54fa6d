"""How git proves who we are, without the secret being seen.

A password or token is written to a private file (mode 0600 in a directory of mode 0700) that a credential helper prints
when git asks for exactly that host; a key given as text becomes such a file too. So a secret never stands in an
argument list, in an environment, in the mirror's configuration or in a log. A file was preferred to an environment
variable because every child of git, and a crash report of any of them, carries the environment. The owner passes a
directory that stays the same over restarts, so that a killed process leaves nothing that is not overwritten.
"""

import os
import shlex
import shutil
import tempfile
from base64 import b64encode
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from urllib.parse import quote

from msgspec import Struct

from fairway.git.errors import GitInputError
from fairway.git.remote import Login, Remote, redacted

HIDDEN = "***"


class HostKeys(Enum):
    """What to do about a server whose key is not in the known-hosts file (ssh's StrictHostKeyChecking)."""

    STRICT = "yes"  # refuse it
    ACCEPT_NEW = "accept-new"  # remember it the first time, refuse a change
    OFF = "no"  # take whatever comes; only for networks that are trusted otherwise


class SshKey(Struct, frozen=True):
    """How to log in by ssh; without a key file or data, ssh-agent and the ssh configuration decide."""

    key_file: Path | None = None
    #: The private key itself, as text.
    key_data: str | None = None
    #: Beside the user's own, which is read too but never written.
    known_hosts_file: Path | None = None
    host_keys: HostKeys = HostKeys.STRICT
    #: What ssh is to read first. It wins over what is said here of host keys.
    config_file: Path | None = None
    #: Hosts as remotes name them, each with where it really is.
    host_names: Mapping[str, str] = {}

    def __repr__(self) -> str:
        data = HIDDEN if self.key_data else None
        return f"SshKey(key_file={self.key_file}, key_data={data}, host_keys={self.host_keys.name})"


class Credentials(Struct, frozen=True):
    """Everything one remote may need; the parts that do not fit its scheme are not used."""

    login: Login | None = None
    #: Certificates to trust besides the system's, for https.
    ca_file: Path | None = None
    ssh: SshKey | None = None


class Access:
    """Credentials made ready for git: variables, settings and the files behind them. Close it to remove the files."""

    def __init__(self, directory: Path | None = None) -> None:
        self.environment: dict[str, str] = {}
        self.settings: list[tuple[str, str]] = []
        self._secrets: list[str] = []
        self._directory = directory
        self._files: list[Path] = []
        self._temporary: Path | None = None

    @classmethod
    def grant(cls, remote: Remote, credentials: Credentials, directory: Path | None = None) -> "Access":
        """Make the credentials ready for this remote; `directory` holds the private files."""
        access = cls(directory)
        if remote.scheme in {"http", "https"}:
            access._grant_web(remote, credentials)
        elif remote.scheme in {"ssh", "git+ssh"}:
            access._grant_ssh(remote, credentials.ssh or SshKey())
        return access

    def redact(self, text: str) -> str:
        """The text without any secret this access knows, and without logins inside addresses."""
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        return redacted(text)

    def close(self) -> None:
        """Remove the private files."""
        for file in self._files:
            file.unlink(missing_ok=True)
        if self._temporary:
            shutil.rmtree(self._temporary, ignore_errors=True)

    def _grant_web(self, remote: Remote, credentials: Credentials) -> None:
        if credentials.ca_file:
            self.settings.append(("http.sslCAInfo", str(credentials.ca_file)))
        if login := credentials.login:
            _refuse_line_breaks(login)
            self._secrets += _spellings(login)
            content = f"username={login.username}\npassword={login.password}\n"
            file = shlex.quote(str(self._private_file("login", content)))
            # Bound to scheme, host and port: a redirect to another host finds no helper.
            self.settings.append(
                (f"credential.{_origin(remote)}.helper", f'!f() {{ test "$1" = get && cat {file}; }}; f')
            )

    def _grant_ssh(self, remote: Remote, key: SshKey) -> None:
        self._secrets += [key.key_data] if key.key_data else []
        self.environment["GIT_SSH_COMMAND"] = shlex.join(self._ssh_command(remote, key))
        self.environment["GIT_SSH_VARIANT"] = "ssh"

    def _ssh_command(self, remote: Remote, key: SshKey) -> list[str]:
        if key.key_file and key.key_data:
            raise GitInputError("both a key file and key data are given for ssh; expected one of them")
        # The configuration of whoever runs the agent is not read unless it is asked for, nor the machine's.
        command = ["ssh", "-F", str(self._private_file("ssh", _ssh_config(key))), "-o", "BatchMode=yes"]
        file = self._private_file("key", key.key_data.rstrip() + "\n") if key.key_data else key.key_file
        if file:
            command += ["-i", str(file), "-o", "IdentitiesOnly=yes"]
        if name := key.host_names.get(remote.host or ""):
            command += ["-o", f"HostName={name}"]
        return [*command, "-o", "ConnectTimeout=20", "-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=4"]

    def _private_file(self, name: str, content: str) -> Path:
        if self._directory is None:
            self._directory = self._temporary = Path(tempfile.mkdtemp(prefix="fairway-git-"))
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._directory.chmod(0o700)
        path = self._directory / name
        path.unlink(missing_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(content)
        self._files.append(path)
        return path


def _ssh_config(key: SshKey) -> str:
    """A configuration for ssh, which takes the first that it reads of everything."""
    lines = [f'Include "{key.config_file}"'] if key.config_file else []
    lines += ["Host *", f"StrictHostKeyChecking {key.host_keys.value}"]
    if key.known_hosts_file:
        lines.append(f'UserKnownHostsFile "{key.known_hosts_file}" ~/.ssh/known_hosts')
    return "\n".join((*lines, ""))


def _refuse_line_breaks(login: Login) -> None:
    for what, text in (("user name", login.username), ("password", login.password)):
        if any(character in text for character in "\r\n\x00"):
            raise GitInputError(f"the {what} for the remote holds a line break or NUL; remove it (often the last one)")


def _origin(remote: Remote) -> str:
    host = f"[{remote.host}]" if remote.host and ":" in remote.host else remote.host
    return f"{remote.scheme}://{host}{f':{remote.port}' if remote.port else ''}"


def _spellings(login: Login) -> list[str]:
    """The ways in which the password may turn up in a message, the longest first."""
    secret = login.password or login.username
    basic = b64encode(f"{login.username}:{login.password}".encode()).decode()
    return sorted({basic, quote(secret, safe=""), secret} - {""}, key=len, reverse=True)
