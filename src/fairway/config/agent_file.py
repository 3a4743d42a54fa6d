"""An agent's own file as it is written: PipeCD's kind `Piped`, with the fields of both generations side by side."""

from typing import Any, Final, Literal

import msgspec

from fairway.config.notification import Notifications
from fairway.config.plugin_source import BadPlugin, source_of
from fairway.config.providers import ANALYSIS_PROVIDERS, DEPLOY_TARGETS
from fairway.config.scalars import Duration
from fairway.config.settings import Problems, Settings, SettingsTypes, ZeroMeansDefault
from fairway.config.upgrade import Upgrade


class GitAccess(ZeroMeansDefault, frozen=True):
    """How the agent signs in to Git and signs its commits."""

    username: str = "piped"
    email: str = "pipecd.dev@gmail.com"
    ssh_config_file_path: str = "~/.ssh/config"
    host: str = "github.com"
    #: The same as host, unless it is given.
    host_name: str = ""
    ssh_key_file: str = ""
    ssh_key_data: str = ""
    #: Base64.
    password: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.host_name:
            msgspec.structs.force_setattr(self, "host_name", self.host)

    def problems(self) -> Problems:
        if self.ssh_key_file and self.ssh_key_data:
            return [("sshKeyData", "is given beside sshKeyFile; write either")]
        if self.password and (self.ssh_key_file or self.ssh_key_data):
            return [("password", "is given beside an SSH key; write either")]
        return []


class Repository(Settings, frozen=True):
    """One Git repository the agent watches."""

    repo_id: str
    remote: str
    branch: str


class ChartRepository(ZeroMeansDefault, frozen=True):
    """Where Helm charts come from."""

    type: Literal["", "HTTP", "GIT"] = "HTTP"
    name: str = ""
    address: str = ""
    username: str = ""
    password: str = ""
    insecure: bool = False
    git_remote: str = ""
    ssh_key_file: str = ""

    def problems(self) -> Problems:
        needed = {"gitRemote": self.git_remote} if self.type == "GIT" else {"name": self.name, "address": self.address}
        return [
            (name, f"is missing; a repository of the type {self.type} needs it")
            for name, value in needed.items()
            if not value
        ]


class ChartRegistry(ZeroMeansDefault, frozen=True):
    """An OCI registry with Helm charts."""

    type: Literal["", "OCI"] = "OCI"
    address: str = ""
    username: str = ""
    password: str = ""

    def problems(self) -> Problems:
        return [] if self.address else [("address", "is missing; expected the address of the registry")]


class PlatformProvider(Settings, frozen=True):
    """One place v0 deploys to."""

    name: str
    type: Literal["KUBERNETES", "TERRAFORM", "CLOUDRUN", "LAMBDA", "ECS"]
    labels: dict[str, str] = {}
    config: dict[str, Any] = {}

    def warnings(self) -> Problems:
        return _unusable(self.type.lower(), f"builtin:{self.type.lower()}", "type")

    def variants(self) -> SettingsTypes:
        return {"config": DEPLOY_TARGETS[self.type.lower()]}


class AnalysisProvider(Settings, frozen=True):
    """One place analysis asks."""

    name: str
    type: Literal["PROMETHEUS", "DATADOG", "STACKDRIVER"]
    config: dict[str, Any] = {}

    def warnings(self) -> Problems:
        return _unusable("analysis", "builtin:analysis", "type")

    def variants(self) -> SettingsTypes:
        return {"config": ANALYSIS_PROVIDERS[self.type]}


class DeployTarget(Settings, frozen=True):
    """One place a plugin deploys to."""

    name: str
    labels: dict[str, str] = {}
    #: Checked by the plugin.
    config: dict[str, Any] = {}


class NoConfig(Settings, frozen=True):
    """The configuration of a plugin that takes none."""


class KubernetesConfig(Settings, frozen=True):
    """Where the plugin finds charts."""

    chart_repositories: tuple[ChartRepository, ...] = ()
    chart_registries: tuple[ChartRegistry, ...] = ()


#: What the plugins that come with Fairway are told by the agent's file.
PLUGIN_CONFIGS: Final[SettingsTypes] = {
    **dict.fromkeys(("wait", "waitapproval", "scriptrun", "customsync", "process"), NoConfig),
    **dict.fromkeys(("kubernetes", "kubernetes_multicluster"), KubernetesConfig),
}


class PluginEntry(Settings, frozen=True):
    """One plugin process, as the file describes it."""

    name: str
    url: str = ""
    #: The RFC's name of `url`.
    source_url: str = msgspec.field(name="sourceURL", default="")
    port: int = 0
    #: Of the downloaded file; Fairway's own addition.
    sha256: str = ""
    #: Whether it shares a process with others; left out: what Fairway brings along does. Fairway's own addition.
    isolation: Literal["shared", "process"] | None = None
    #: How an executable is told its configuration: as PipeCD does it, or by its standard input. Fairway's own addition.
    handover: Literal["arguments", "pipe"] = "arguments"
    #: Who is to pull from a registry, written as Docker writes it. Fairway's own addition.
    registry_auth_file: str = ""
    config: dict[str, Any] = {}
    deploy_targets: tuple[DeployTarget, ...] = ()

    def problems(self) -> Problems:
        found: Problems = []
        if self.url and self.source_url:
            found.append(("sourceURL", "is given beside url; write either"))
        if not 0 <= self.port <= 65535:
            found.append(("port", f"is {self.port}; expected 0 to 65535"))
        if self._is_python and self.handover == "pipe":
            found.append(("handover", "is for executables; a plugin in Python is told by a pipe anyway"))
        if not self._is_python and self.isolation == "shared":
            found.append(("isolation", "is shared, but an executable is a process of its own; leave it out"))
        found += _repeated("deployTargets", [target.name for target in self.deploy_targets])
        return found

    def warnings(self) -> Problems:
        if self.url or self.source_url:
            return _unusable(self.name, self.url or self.source_url, "url" if self.url else "sourceURL")
        return _unusable(self.name, f"builtin:{self.name}", "name")

    def variants(self) -> SettingsTypes:
        scheme, _, builtin = (self.url or self.source_url or f"builtin:{self.name}").partition(":")
        own = builtin if scheme == "builtin" else self.name
        config = PLUGIN_CONFIGS.get(builtin) if scheme == "builtin" else None
        target = DEPLOY_TARGETS.get(own)
        found: SettingsTypes = {} if config is None else {"config": config}
        if target is not None:
            found |= {f"deployTargets[{position}].config": target for position in range(len(self.deploy_targets))}
        return found

    @property
    def _is_python(self) -> bool:
        return (self.url or self.source_url or "builtin:").startswith(("builtin:", "python:"))


def _unusable(name: str, url: str, field: str) -> Problems:
    """Why an agent cannot start a plugin; the agent works without it."""
    try:
        source_of(name, url)
    except BadPlugin as error:
        return [(field, f"{error}; the agent works without it")]
    return []


class KeyPair(Settings, frozen=True):
    """The keys that open sealed values; `Data` is base64."""

    private_key_file: str = ""
    private_key_data: str = ""
    public_key_file: str = ""
    public_key_data: str = ""

    def problems(self) -> Problems:
        pairs = {"privateKey": (self.private_key_file, self.private_key_data)}
        pairs["publicKey"] = (self.public_key_file, self.public_key_data)
        return [
            ("", f"needs exactly one of {name}File and {name}Data")
            for name, (file, data) in pairs.items()
            if bool(file) == bool(data)
        ]


class SecretManagement(Settings, frozen=True):
    """How sealed values are opened."""

    type: Literal["KEY_PAIR", "GCP_KMS", "AWS_KMS", "NONE"]
    config: KeyPair | None = None

    def problems(self) -> Problems:
        if self.type == "KEY_PAIR":
            return [] if self.config else [("config", "is missing; a key pair needs its keys")]
        return [] if self.type == "NONE" else [("type", f"is {self.type}, which is not supported; use KEY_PAIR")]


class WatchedRepository(Settings, frozen=True):
    """Where event files are looked for."""

    repo_id: str
    commit_message: str = ""
    includes: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()


class AgentEventWatcher(ZeroMeansDefault, frozen=True):
    """How the agent looks for events."""

    check_interval: Duration = Duration(minutes=1)
    git_repos: tuple[WatchedRepository, ...] = ()

    def problems(self) -> Problems:
        names = [repository.repo_id for repository in self.git_repos]
        missing = [(f"gitRepos[{position}].repoId", "is empty") for position, name in enumerate(names) if not name]
        return missing + _repeated("gitRepos", names)


class PlanPreview(ZeroMeansDefault, frozen=True):
    """How plan previews are made; 0 means the built-in value."""

    worker_num: int = 0
    command_queue_buffer_size: int = 0
    command_check_interval: Duration = Duration(seconds=5)
    command_handle_timeout: Duration = Duration(minutes=5)

    def problems(self) -> Problems:
        counts = {"workerNum": self.worker_num, "commandQueueBufferSize": self.command_queue_buffer_size}
        return [(name, f"is {count}; expected 0 or more") for name, count in counts.items() if count < 0]


class AgentSpec(ZeroMeansDefault, frozen=True):
    """The spec of the kind `Piped`, as it is written."""

    project_id: str = msgspec.field(name="projectID", default="")
    piped_id: str = msgspec.field(name="pipedID", default="")
    piped_key_file: str = ""
    #: Base64.
    piped_key_data: str = ""
    name: str = ""
    api_address: str = ""
    web_address: str = ""
    sync_interval: Duration = Duration(minutes=1)
    app_config_sync_interval: Duration = Duration(minutes=1)
    git: GitAccess = GitAccess()
    repositories: tuple[Repository, ...] = ()
    chart_repositories: tuple[ChartRepository, ...] = ()
    chart_registries: tuple[ChartRegistry, ...] = ()
    platform_providers: tuple[PlatformProvider, ...] = ()
    #: v0's older name of platformProviders.
    cloud_providers: tuple[PlatformProvider, ...] = ()
    analysis_providers: tuple[AnalysisProvider, ...] = ()
    plugins: tuple[PluginEntry, ...] = ()
    #: The RFC's name of plugins.
    plugin: tuple[PluginEntry, ...] = ()
    notifications: Notifications = Notifications()
    secret_management: SecretManagement | None = None
    event_watcher: AgentEventWatcher = AgentEventWatcher()
    plan_preview: PlanPreview = PlanPreview()
    app_selector: dict[str, str] = {}
    #: Fairway's own addition.
    upgrade: Upgrade | None = None
    #: Whether unknown fields in this file and in application files are ignored, as PipeCD does. Fairway's own addition.
    allow_unknown_fields: bool = False

    def problems(self) -> Problems:
        found = _repeated("repositories", [repository.repo_id for repository in self.repositories])
        found += _repeated("plugins", [entry.name for entry in self.plugins])
        found += _repeated("plugin", [entry.name for entry in self.plugin])
        found += _repeated("platformProviders", [provider.name for provider in self.platform_providers])
        for alias, field in (("cloudProviders", "platformProviders"), ("plugin", "plugins")):
            if getattr(self, _SNAKE[alias]) and getattr(self, _SNAKE[field]):
                found.append((alias, f"is given beside {field}; write {field} only"))
        if self.piped_key_file and self.piped_key_data:
            found.append(("pipedKeyData", "is given beside pipedKeyFile; write either"))
        if wrong := _wrong_with_address(self.api_address):
            found.append(("apiAddress", wrong))
        return found


_SNAKE: Final = {
    "cloudProviders": "cloud_providers",
    "platformProviders": "platform_providers",
    "plugin": "plugin",
    "plugins": "plugins",
}


def _wrong_with_address(address: str) -> str:
    """What is wrong with the address of a server; gRPC's own schemes (`dns:`, `unix:`) are left to gRPC."""
    scheme, apart, rest = address.partition("://")
    if apart and scheme.lower() in {"http", "https"}:
        port = "80" if scheme.lower() == "http" else "443"
        host = rest.split("/", 1)[0]
        return f"is {address!r}; expected host:port, such as {host if ':' in host else f'{host}:{port}'}"
    return ""


def _repeated(field: str, names: list[str]) -> Problems:
    first: dict[str, int] = {}
    found: Problems = []
    for position, name in enumerate(names):
        if name in first:
            found.append((f"{field}[{position}]", f"has the same name as {field}[{first[name]}]: {name!r}"))
        first.setdefault(name, position)
    return found
