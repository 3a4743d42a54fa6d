"""A real Git host: Gitea over HTTP and SSH, with a chart repository and a container registry of its own.

Its data is in a PostgreSQL of the test, because a Gitea with SQLite needs a C compiler to be built.
"""

import getpass
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from tests.integration.git.repositories import Origin, git
from tests.integration.server.postgres import a_database, a_postgres_server
from tests.patience import PATIENCE_SECONDS
from tests.peers.programs import running, the_peer
from tests.ports import a_free_port

USER, _PASSWORD = "bot", "password-of-the-bot"


class SshKeys(NamedTuple):
    """A pair of keys as OpenSSH writes them."""

    private: str
    public: str

    @classmethod
    def new(cls) -> "SshKeys":
        key = Ed25519PrivateKey.generate()
        private = key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
        public = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
        return cls(private.decode(), public.decode())

    def write(self, file: Path) -> Path:
        """The private one as ssh wants it to lie on a disk."""
        file.touch(mode=0o600)
        file.write_text(self.private)
        return file


class Gitea(NamedTuple):
    """A running host, and its only user."""

    url: str
    ssh_port: int
    #: What the user may do everything with.
    token: str
    #: By which ssh knows the host.
    host_keys: SshKeys
    folder: Path

    @property
    def address(self) -> str:
        """Host and port of the HTTP side."""
        return urlsplit(self.url).netloc

    def call(self, method: str, path: str, **body: Any) -> Any:
        """Ask its API; a refusal is the test's failure."""
        headers = {"Authorization": f"token {self.token}"}
        answer = httpx.request(
            method,
            f"{self.url}/api/v1{path}",
            json=body or None,
            headers=headers,
            timeout=PATIENCE_SECONDS,
            trust_env=False,
        )
        assert answer.is_success, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json() if answer.content else None

    def allow(self, keys: SshKeys) -> None:
        """Let whoever has the private key in by SSH."""
        self.call("POST", "/user/keys", title=f"key-{uuid4()}", key=keys.public)

    def repository(self, files: Mapping[str, str]) -> "Hosted":
        """A new private repository with one commit on main."""
        name = f"repository-{uuid4().hex[:8]}"
        self.call("POST", "/user/repos", name=name, private=True, default_branch="main")
        work = self.folder / name
        work.mkdir()
        hosted = Hosted(self, name, Origin(bare=work / ".git", work=work))
        git(work, "init", "--quiet", "--initial-branch=main")
        git(work, "remote", "add", "origin", hosted.http.replace("://", f"://{USER}:{self.token}@"))
        hosted.origin.commit(files, message="first")
        return hosted


class Hosted(NamedTuple):
    """A repository of the host, and a working copy that feeds it."""

    gitea: Gitea
    name: str
    origin: Origin

    @property
    def http(self) -> str:
        return f"{self.gitea.url}/{USER}/{self.name}.git"

    @property
    def ssh(self) -> str:
        return f"ssh://git@127.0.0.1:{self.gitea.ssh_port}/{USER}/{self.name}.git"

    def call(self, method: str, path: str, **body: Any) -> Any:
        """Ask the API about the repository."""
        return self.gitea.call(method, f"/repos/{USER}/{self.name}{path}", **body)


@contextmanager
def a_gitea(folder: Path) -> Iterator[Gitea]:
    """A host that keeps its files in the folder."""
    program, host_keys = the_peer("gitea"), SshKeys.new()
    host_keys.write(folder / "host-key")
    http, ssh = a_free_port(), a_free_port()
    url = f"http://127.0.0.1:{http}"
    settings = folder / "app.ini"
    with a_postgres_server() as postgres, ExitStack() as stack:
        settings.write_text(_settings(folder, program, a_database(postgres), http, ssh))
        command: list[str | Path] = [program, "--config", settings, "web"]
        stack.enter_context(running(command, folder / "said", lambda: _answers(url), _home(folder)))
        _make_user(program, settings, folder)
        made = httpx.post(
            f"{url}/api/v1/users/{USER}/tokens",
            json={"name": "all", "scopes": ["all"]},
            auth=(USER, _PASSWORD),
            timeout=PATIENCE_SECONDS,
            trust_env=False,
        )
        assert made.is_success, made.text
        yield Gitea(url, ssh, made.json()["sha1"], host_keys, folder)


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/api/healthz", trust_env=False, timeout=PATIENCE_SECONDS).is_success
    except httpx.TransportError:
        return False


def _home(folder: Path) -> dict[str, str]:
    return {"GITEA_WORK_DIR": str(folder), "HOME": str(folder)}


def _make_user(program: Path, settings: Path, folder: Path) -> None:
    who = ("--username", USER, "--password", _PASSWORD, "--email", "bot@example.com", "--must-change-password=false")
    command = [str(program), "--config", str(settings), "admin", "user", "create", "--admin", *who]
    done = subprocess.run(command, env={**os.environ, **_home(folder)}, capture_output=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr).decode()


def _settings(folder: Path, program: Path, database: str, http: int, ssh: int) -> str:
    postgres = urlsplit(database)
    return f"""
RUN_USER = {getpass.getuser()}
RUN_MODE = prod
WORK_PATH = {folder}
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = {http}
ROOT_URL = http://127.0.0.1:{http}/
STATIC_ROOT_PATH = {program.parent}
START_SSH_SERVER = true
SSH_LISTEN_HOST = 127.0.0.1
SSH_LISTEN_PORT = {ssh}
SSH_PORT = {ssh}
SSH_DOMAIN = 127.0.0.1
BUILTIN_SSH_SERVER_USER = git
SSH_SERVER_HOST_KEYS = {folder / "host-key"}
OFFLINE_MODE = true
LFS_START_SERVER = false
[database]
DB_TYPE = postgres
HOST = {postgres.hostname}:{postgres.port}
NAME = {postgres.path.removeprefix("/")}
USER = {postgres.username}
SSL_MODE = disable
[security]
INSTALL_LOCK = true
SECRET_KEY = of-the-test
PASSWORD_HASH_ALGO = pbkdf2
[webhook]
ALLOWED_HOST_LIST = loopback
[service]
DISABLE_REGISTRATION = true
REQUIRE_SIGNIN_VIEW = true
[actions]
ENABLED = false
[indexer]
ISSUE_INDEXER_TYPE = db
[cron]
ENABLED = false
[session]
PROVIDER = memory
[log]
MODE = console
LEVEL = Warn
"""
