"""Where charts come from that are not in the application's repository: chart repositories, registries, Git remotes.

The agent's file names them with their credentials; the last are `git_remotes`' matter. Helm gets credentials by private
files in a home of its own, never by arguments, which everybody on the machine can read; neither the user's repositories
nor anybody's plugins play a part.
"""

import base64
import os
import re
import shutil
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from fairway.config.agent_file import ChartRegistry, ChartRepository
from fairway.config.problems import did_you_mean
from fairway.config.settings import Settings
from fairway.errors import UserError
from fairway.plugins.kubernetes.manifests.git_remotes import KnownRemote

S = TypeVar("S", bound=Settings)


class BadCharts(UserError):
    """A chart that nobody knows where to get, or the agent's file that does not say it well."""


class Sources:
    """What the agent's file says about charts."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        repositories = _read(config, "chartRepositories", ChartRepository)
        self.repositories = {each.name: each for each in repositories if each.type != "GIT"}
        self.remotes = tuple(KnownRemote.of(each) for each in repositories if each.type == "GIT")
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
        passwords += [each.login.password for each in self.remotes if each.login]
        return tuple(filter(None, passwords))


class HelmHome:
    """The directory where helm keeps what it knows, for all runs of one plugin."""

    def __init__(self, directory: Path, sources: Sources) -> None:
        self.directory = directory
        self._sources = sources
        self._ready = False
        self._making = threading.Lock()

    def environment(self) -> dict[str, str]:
        """What tells helm of its home; the home is there when this returns."""
        # Several charts may be rendered at once, each from a thread: one of them makes the home.
        with self._making:
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
