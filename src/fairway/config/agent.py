"""An agent's own file, PipeCD's kind `Piped` of both generations.

`AgentConfig` is what the rest of Fairway sees: v0's platform providers have become deploy targets of the matching
plugin, its analysis providers and chart repositories the configuration of theirs. How the file is written stands in
`agent_file.py`.
"""

from typing import Any, Literal

import msgspec

from fairway.config.agent_file import (
    AgentEventWatcher,
    AgentSpec,
    DeployTarget,
    GitAccess,
    PlanPreview,
    PlatformProvider,
    PluginEntry,
    Repository,
    SecretManagement,
)
from fairway.config.application import Generation
from fairway.config.built_in import ALWAYS
from fairway.config.notification import Notifications
from fairway.config.plugin_source import BadPlugin, PluginSource, PythonClass, source_of
from fairway.config.scalars import Duration
from fairway.config.terms import Terms
from fairway.config.upgrade import Upgrade


class PluginConfig(msgspec.Struct, frozen=True, kw_only=True):
    """One plugin of an agent, settled."""

    name: str
    #: Where the executable comes from; `builtin:` for the ones Fairway brings along.
    url: str
    port: int = 0
    sha256: str = ""
    #: None where the plugin's source decides.
    isolation: Literal["shared", "process"] | None = None
    handover: Literal["arguments", "pipe"] = "arguments"
    registry_auth_file: str = ""
    config: dict[str, Any] = {}
    deploy_targets: tuple[DeployTarget, ...] = ()

    @property
    def source(self) -> PluginSource:
        """Where it comes from; BadPlugin when an agent cannot start it."""
        return source_of(self.name, self.url)

    @property
    def unusable(self) -> str:
        """Why an agent cannot start it; empty where it can."""
        try:
            _ = self.source
        except BadPlugin as error:
            return str(error)
        return ""

    @property
    def is_foreign(self) -> bool:
        """Whether it is an executable that is started with the arguments of PipeCD's plugins."""
        return not isinstance(self.source, PythonClass) and self.handover == "arguments"

    @property
    def shares_process(self) -> bool:
        """Whether a plugin in Python shares a process with others, as built-in plugins do by default."""
        return self.url.startswith("builtin:") if self.isolation is None else self.isolation == "shared"


class AgentConfig(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent is told by its file, whichever generation wrote it."""

    generation: Generation
    project_id: str
    agent_id: str
    #: Exactly one of the two is set.
    key_file: str
    key_data: str
    api_address: str
    name: str = ""
    web_address: str = ""
    sync_interval: Duration = Duration(minutes=1)
    app_config_sync_interval: Duration = Duration(minutes=1)
    git: GitAccess = GitAccess()
    repositories: tuple[Repository, ...] = ()
    plugins: tuple[PluginConfig, ...] = ()
    notifications: Notifications = Notifications()
    secret_management: SecretManagement | None = None
    event_watcher: AgentEventWatcher = AgentEventWatcher()
    plan_preview: PlanPreview = PlanPreview()
    app_selector: dict[str, str] = {}
    #: None where the agent's version is changed by others only.
    upgrade: Upgrade | None = None
    #: Whether unknown fields of application files are ignored, as PipeCD does.
    allow_unknown_fields: bool = False

    @property
    def terms(self) -> Terms:
        """How this agent reads the files of its applications."""
        foreign = tuple(each.name for each in self.plugins if not each.url.startswith("builtin:"))
        plugins = tuple(dict.fromkeys([*(each.name for each in self.plugins), *ALWAYS]))
        return Terms(allow_unknown_fields=self.allow_unknown_fields, foreign_plugins=foreign, plugins=plugins)

    @property
    def left_out(self) -> tuple[str, ...]:
        """The fields an agent cannot start without and that its file does not give."""
        needed = {"projectID": self.project_id, "pipedID": self.agent_id, "apiAddress": self.api_address}
        needed["pipedKeyFile"] = self.key_file or self.key_data
        return tuple(name for name, value in needed.items() if not value)


def settle_agent(spec: AgentSpec) -> AgentConfig:
    """One model for both generations."""
    providers = spec.platform_providers or spec.cloud_providers
    entries = spec.plugins or spec.plugin
    return AgentConfig(
        generation=Generation.V1 if entries else Generation.V0,
        project_id=spec.project_id,
        agent_id=spec.piped_id,
        key_file=spec.piped_key_file,
        key_data=spec.piped_key_data,
        api_address=spec.api_address,
        name=spec.name,
        web_address=spec.web_address,
        sync_interval=spec.sync_interval,
        app_config_sync_interval=spec.app_config_sync_interval,
        git=spec.git,
        repositories=spec.repositories,
        plugins=tuple(map(_settle_plugin, entries)) + _plugins_of_providers(spec, providers),
        notifications=spec.notifications,
        secret_management=spec.secret_management,
        event_watcher=spec.event_watcher,
        plan_preview=spec.plan_preview,
        app_selector=spec.app_selector,
        upgrade=spec.upgrade,
        allow_unknown_fields=spec.allow_unknown_fields,
    )


def _settle_plugin(entry: PluginEntry) -> PluginConfig:
    return PluginConfig(
        name=entry.name,
        url=entry.url or entry.source_url or f"builtin:{entry.name}",
        port=entry.port,
        sha256=entry.sha256,
        isolation=entry.isolation,
        handover=entry.handover,
        registry_auth_file=entry.registry_auth_file,
        config=entry.config,
        deploy_targets=entry.deploy_targets,
    )


def _plugins_of_providers(spec: AgentSpec, providers: tuple[PlatformProvider, ...]) -> tuple[PluginConfig, ...]:
    """v0's providers as plugins: one for each type, a deploy target for each provider."""
    configs: dict[str, dict[str, Any]] = {}
    if spec.chart_repositories or spec.chart_registries:
        configs["kubernetes"] = {
            "chartRepositories": [msgspec.to_builtins(repository) for repository in spec.chart_repositories],
            "chartRegistries": [msgspec.to_builtins(registry) for registry in spec.chart_registries],
        }
    if spec.analysis_providers:
        providers_as_written = [msgspec.to_builtins(provider) for provider in spec.analysis_providers]
        configs["analysis"] = {"analysisProviders": providers_as_written}
    names = dict.fromkeys([provider.type.lower() for provider in providers] + list(configs))
    return tuple(
        PluginConfig(
            name=name,
            url=f"builtin:{name}",
            config=configs.get(name, {}),
            deploy_targets=tuple(
                DeployTarget(name=provider.name, labels=provider.labels, config=provider.config)
                for provider in providers
                if provider.type.lower() == name
            ),
        )
        for name in names
    )
