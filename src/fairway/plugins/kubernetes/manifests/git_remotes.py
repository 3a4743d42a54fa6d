"""Git remotes that charts and bases of kustomizations come from, and how git logs in to those that the agent knows.

The agent's file names them among `chartRepositories` (type GIT), with a login or an ssh key. What it says of one
counts for that repository alone: whoever may write a kustomization shall not reach everything that the login opens on
the same host. So kustomize's git gets a login by the whole address, and an ssh key by a host name of our own that
stands for one repository. Neither stands in an argument or in the environment.
"""

import asyncio
import os
import re
import shlex
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import msgspec

from fairway.config.agent_file import ChartRepository
from fairway.errors import UserError
from fairway.git.credentials import Access, Credentials, HostKeys, SshKey
from fairway.git.errors import GitInputError, GitNotFound
from fairway.git.names import checked_hash
from fairway.git.process import Git
from fairway.git.remote import Login, Remote, parse_remote
from fairway.plugins.kubernetes.manifests.command import private_directory

_REF: Final = re.compile(r"[A-Za-z0-9_][^\s\x00-\x1f\x7f~^:?*\[\\]*")
_HASH: Final = re.compile(r"[0-9a-f]{40}")
_PORTS: Final = {"http": 80, "https": 443, "ssh": 22, "git+ssh": 22}


class KnownRemote(msgspec.Struct, frozen=True):
    """A remote of the agent's file."""

    remote: Remote
    login: Login | None = None
    key_file: Path | None = None

    @classmethod
    def of(cls, written: ChartRepository) -> "KnownRemote":
        remote, login = parse_remote(written.git_remote)
        if written.password:
            login = Login(written.username, written.password)
        key_file = Path(written.ssh_key_file).expanduser() if written.ssh_key_file else None
        return cls(remote, login, key_file)


def find_remote(known: Iterable[KnownRemote], remote: Remote) -> KnownRemote | None:
    """What the agent's file says of a remote, written with `.git` at its end or without, with whichever login."""
    return next((each for each in known if _place(each.remote) == _place(remote)), None)


def _place(remote: Remote) -> tuple[str, str, int | None, str]:
    scheme = remote.scheme.removeprefix("git+")
    path = remote.path.strip("/") if remote.host else remote.path.rstrip("/")
    port = remote.port or _PORTS.get(remote.scheme)
    return scheme, (remote.host or "").lower(), port, path.removesuffix(".git")


def is_commit(ref: str) -> bool:
    """Whether a ref can never mean something else."""
    return _HASH.fullmatch(ref) is not None


@asynccontextmanager
async def checked_out(known: Sequence[KnownRemote], written: str, ref: str, known_hosts: Path) -> AsyncIterator[Path]:
    """The files of a Git remote at a branch, tag or commit, while the block lasts."""
    remote, login = parse_remote(written)
    found = find_remote(known, remote)
    if remote.scheme == "file" and found is None:
        raise GitInputError(
            f"input.helmChart.gitRemote is {written!r}, a directory of the agent's machine; the agent's file has to "
            "name it among chartRepositories (type GIT)"
        )
    if ref and (not _REF.fullmatch(ref) or ".." in ref):
        raise GitInputError(f"input.helmChart.ref is {ref!r}; expected a branch, a tag or a commit")
    ssh = SshKey(
        key_file=found.key_file if found else None, known_hosts_file=known_hosts, host_keys=HostKeys.ACCEPT_NEW
    )
    credentials = Credentials(login=login or (found.login if found else None), ssh=ssh)
    async with private_directory() as directory:
        access = Access.grant(remote, credentials, directory / "access")
        try:
            await _fetch(Git(access), remote.url, ref or "HEAD", directory)
        finally:
            access.close()
        yield directory / "files"


async def _fetch(git: Git, url: str, ref: str, directory: Path) -> None:
    git_dir, files = directory / "git", directory / "files"
    await asyncio.to_thread(files.mkdir)
    await git.output("init", "--quiet", "--bare", str(git_dir))
    fetch = ("fetch", "--quiet", "--no-tags", "--depth=1", "--", url)
    try:
        await git.remote_output(f"fetch {ref} of the chart from", url, *fetch, ref, git_dir=git_dir)
        found = "FETCH_HEAD"
    except UserError:
        if not is_commit(ref):
            raise
        # A server may give out what its branches and tags point to only.
        everything = ("fetch", "--quiet", "--", url, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
        await git.remote_output("fetch the chart from", url, *everything, git_dir=git_dir)
        found = checked_hash(ref)
    done = await git.run(f"--work-tree={files}", "checkout", "--quiet", "--force", found, "--", ".", git_dir=git_dir)
    if done.code != 0:
        raise GitNotFound(f"{url} has no files at {ref}: {done.stderr.strip()}")


def logins_of_git(known: Sequence[KnownRemote], known_hosts: Path, directory: Path) -> dict[str, str]:
    """The environment of a git that others start; what it names are private files in the directory."""
    settings = [("credential.helper", "")]
    ssh = ["Host *", "BatchMode yes", "StrictHostKeyChecking accept-new", "ConnectTimeout 20"]
    ssh.append(f'UserKnownHostsFile "{known_hosts}" ~/.ssh/known_hosts')
    for number, each in enumerate(known):
        if each.remote.scheme in {"http", "https"} and each.login:
            content = f"username={each.login.username}\npassword={each.login.password}\n"
            file = shlex.quote(str(_private_file(directory / f"login-{number}", content)))
            helper = f'!f() {{ test "$1" = get && cat {file}; }}; f'
            settings += [(f"credential.{address}.helper", helper) for address in _spellings(each.remote.url)]
        elif each.remote.scheme in {"ssh", "git+ssh"} and each.key_file:
            name = f"fairway-remote-{number}"
            ssh = [*_ssh_host(name, each.remote, each.key_file), *ssh]
            settings += [
                (f"url.{_with_host(each.remote, name, path)}.insteadOf", address)
                for address, path in zip(_spellings(each.remote.url), _spellings(each.remote.path), strict=True)
            ]
    config = _private_file(directory / "ssh", "\n".join((*ssh, "")))
    numbered = {f"GIT_CONFIG_KEY_{i}": key for i, (key, _) in enumerate(settings)}
    numbered |= {f"GIT_CONFIG_VALUE_{i}": value for i, (_, value) in enumerate(settings)}
    command = {"GIT_SSH_COMMAND": shlex.join(("ssh", "-F", str(config))), "GIT_SSH_VARIANT": "ssh"}
    return {**command, **numbered, "GIT_CONFIG_COUNT": str(len(settings))}


def _ssh_host(name: str, remote: Remote, key_file: Path) -> list[str]:
    port = [f"Port {remote.port}"] if remote.port else []
    return [f"Host {name}", f"HostName {remote.host}", *port, f'IdentityFile "{key_file}"', "IdentitiesOnly yes"]


def _with_host(remote: Remote, name: str, path: str) -> str:
    """The address of a remote, with another host: an scp form stays one, because its path begins elsewhere."""
    user = f"{remote.user}@" if remote.user else ""
    return f"ssh://{user}{name}{path}" if "://" in remote.url else f"{user}{name}:{path}"


def _spellings(address: str) -> tuple[str, ...]:
    """With `.git` at its end only where it is written so: git takes an address for the beginning of longer ones."""
    return (address,) if address.endswith(".git") else (address, f"{address.rstrip('/')}.git")


def _private_file(path: Path, content: str) -> Path:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
        file.write(content)
    return path
