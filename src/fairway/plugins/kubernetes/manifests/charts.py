"""Where charts come from that are not in the application's repository: chart repositories, registries, Git remotes.

The agent's file names them with their credentials. Helm gets those by private files in a home of its own, never by
arguments, which everybody on the machine can read; neither the user's repositories nor anybody's plugins play a part.
"""

import asyncio
import base64
import os
import re
import shutil
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from fairway.config.agent_file import ChartRegistry, ChartRepository
from fairway.config.problems import did_you_mean
from fairway.config.settings import Settings
from fairway.errors import UserError
from fairway.git.credentials import Access, Credentials, HostKeys, SshKey
from fairway.git.errors import GitInputError, GitNotFound
from fairway.git.names import checked_hash
from fairway.git.process import Git
from fairway.git.remote import parse_remote
from fairway.plugins.kubernetes.manifests.command import private_directory

S = TypeVar("S", bound=Settings)
_REF: Final = re.compile(r"[A-Za-z0-9_][^\s\x00-\x1f\x7f~^:?*\[\\]*")
_HASH: Final = re.compile(r"[0-9a-f]{40}")


class BadCharts(UserError):
    """A chart that nobody knows where to get, or the agent's file that does not say it well."""


class Sources:
    """What the agent's file says about charts."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        repositories = _read(config, "chartRepositories", ChartRepository)
        self.repositories = {each.name: each for each in repositories if each.type != "GIT"}
        self.remotes = {each.git_remote: each for each in repositories if each.type == "GIT"}
        self.registries = {_host(each.address): each for each in _read(config, "chartRegistries", ChartRegistry)}

    def repository(self, name: str) -> ChartRepository:
        """The chart repository with a name; BadCharts when the agent knows none."""
        if name not in self.repositories:
            known = ", ".join(sorted(self.repositories)) or "none"
            near = did_you_mean(name, self.repositories)
            raise BadCharts(
                f"input.helmChart.repository is {name!r}, which the agent does not know{near}; its chartRepositories "
                f"are: {known}"
            )
        return self.repositories[name]

    def speaks_plainly(self, address: str) -> bool:
        """Whether the registry of an `oci://` address is to be spoken to without TLS, as the agent's file says."""
        registry = self.registries.get(_host(address))
        return registry is not None and registry.address.startswith("http://")

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must never be shown."""
        passwords = [each.password for each in self.repositories.values()]
        passwords += [each.password for each in self.registries.values()]
        return tuple(filter(None, passwords))


class HelmHome:
    """The directory where helm keeps what it knows, for all runs of one plugin."""

    def __init__(self, directory: Path, sources: Sources) -> None:
        self.directory = directory
        self._sources = sources
        self._ready = False

    def environment(self) -> dict[str, str]:
        """What tells helm of its home; the home is there when this returns."""
        if not self._ready:
            self._make()
        at = self.directory
        return {
            "HELM_CACHE_HOME": str(at / "cache"),
            "HELM_CONFIG_HOME": str(at / "config"),
            "HELM_DATA_HOME": str(at / "data"),
            "HELM_PLUGINS": str(at / "data" / "plugins"),
            "HELM_REPOSITORY_CACHE": str(at / "cache" / "repository"),
            "HELM_REPOSITORY_CONFIG": str(at / "config" / "repositories.yaml"),
            "HELM_REGISTRY_CONFIG": str(at / "config" / "registry.json"),
        }

    def index_age(self, repository: str) -> float | None:
        """How many seconds ago the index of a repository was fetched; None when it never was."""
        index = self.directory / "cache" / "repository" / f"{repository}-index.yaml"
        try:
            return time.time() - index.stat().st_mtime
        except OSError:
            return None

    def _make(self) -> None:
        # Charts that were fetched stay here; an agent that runs for years is started anew now and then.
        shutil.rmtree(self.directory / "cache", ignore_errors=True)
        for name in ("cache/repository", "config", "data/plugins"):
            (self.directory / name).mkdir(mode=0o700, parents=True, exist_ok=True)
        self.directory.chmod(0o700)
        repositories = [
            {
                "name": each.name,
                "url": each.address,
                "username": each.username,
                "password": each.password,
                "insecure_skip_tls_verify": each.insecure,
            }
            for each in self._sources.repositories.values()
        ]
        auths = {
            host: {"auth": base64.b64encode(f"{each.username}:{each.password}".encode()).decode()}
            for host, each in self._sources.registries.items()
            if each.username or each.password
        }
        # Helm reads JSON where it expects YAML.
        _write(self.directory / "config" / "repositories.yaml", {"apiVersion": "", "repositories": repositories})
        _write(self.directory / "config" / "registry.json", {"auths": auths})
        self._ready = True


@asynccontextmanager
async def checked_out(sources: Sources, remote: str, ref: str, known_hosts: Path) -> AsyncIterator[Path]:
    """The files of a Git remote at a branch, tag or commit, while the block lasts."""
    parsed, login = parse_remote(remote)
    known = sources.remotes.get(remote)
    if parsed.scheme == "file" and known is None:
        raise BadCharts(
            f"input.helmChart.gitRemote is {remote!r}, a directory of the agent's machine; the agent's file has to "
            "name it among chartRepositories (type GIT)"
        )
    if ref and (not _REF.fullmatch(ref) or ".." in ref):
        raise GitInputError(f"input.helmChart.ref is {ref!r}; expected a branch, a tag or a commit")
    key_file = Path(known.ssh_key_file) if known and known.ssh_key_file else None
    ssh = SshKey(key_file=key_file, known_hosts_file=known_hosts, host_keys=HostKeys.ACCEPT_NEW)
    async with private_directory("chart") as directory:
        access = Access.grant(parsed, Credentials(login=login, ssh=ssh), directory / "access")
        try:
            await _fetch(Git(access), parsed.url, ref or "HEAD", directory)
        finally:
            access.close()
        yield directory / "files"


def is_commit(ref: str) -> bool:
    """Whether a ref can never mean something else."""
    return _HASH.fullmatch(ref) is not None


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


def _read(config: Mapping[str, Any], field: str, kind: type[S]) -> list[S]:
    try:
        entries = [msgspec.convert(each, kind) for each in config.get(field) or ()]
    except msgspec.ValidationError as error:
        raise BadCharts(f"the agent's file has {field} for this plugin that cannot be used: {error}") from error
    for index, entry in enumerate(entries):
        for name, message in entry.problems():
            raise BadCharts(f"{field}[{index}].{name} {message}")
    return entries


def _host(address: str) -> str:
    return re.sub(r"^(oci|https?)://", "", address).partition("/")[0]


def _write(path: Path, content: Any) -> None:
    """A private file, whole or not at all."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    unfinished.unlink(missing_ok=True)
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(msgspec.json.encode(content))
    unfinished.rename(path)
