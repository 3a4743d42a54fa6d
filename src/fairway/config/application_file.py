"""An application's file → `ApplicationConfig`: where the kinds and the two generations become one.

The spec of a v0 kind is the common spec plus its platform's fields; the type of each kind is put together from the two,
so that errors, schemas and reading all see the same thing.
"""

from typing import Any, Final, NamedTuple

import msgspec

from fairway.config import platforms
from fairway.config.analysis import AnalysisPluginConfig
from fairway.config.application import (
    DEFAULT_TIMEOUT,
    ApplicationConfig,
    ApplicationNotification,
    Attachment,
    CommitMatcher,
    DriftDetection,
    Encryption,
    Generation,
    Planner,
    PostSync,
    Trigger,
)
from fairway.config.event_watcher import EventWatch
from fairway.config.problems import Problem, Severity, did_you_mean, path_text, shown, without_consequences
from fairway.config.reader.document import Document
from fairway.config.reader.rules import read_settings
from fairway.config.scalars import Duration
from fairway.config.secret_uses import secret_problems
from fairway.config.selector_label import selector_label_problems
from fairway.config.settings import Problems, Settings, ZeroMeansDefault
from fairway.config.stage_catalogue import EVERYWHERE
from fairway.config.stage_entries import settle_stages
from fairway.config.stages import Pipeline
from fairway.config.variant_stages import impossible_stages


class ApplicationSpec(ZeroMeansDefault, frozen=True):
    """The spec that every application kind has."""

    name: str = ""
    labels: dict[str, str] = {}
    description: str = ""
    planner: Planner = Planner()
    commit_matcher: CommitMatcher = CommitMatcher()
    pipeline: Pipeline = Pipeline()
    trigger: Trigger = Trigger()
    post_sync: PostSync = PostSync()
    timeout: Duration = DEFAULT_TIMEOUT
    encryption: Encryption | None = None
    #: Where the RFC of SCRIPT_RUN puts the sealed values.
    encrypted_secrets: dict[str, str] = {}
    attachment: Attachment | None = None
    notification: ApplicationNotification = ApplicationNotification()
    event_watcher: tuple[EventWatch, ...] = ()
    drift_detection: DriftDetection = DriftDetection()
    plugins: dict[str, Any] = {}

    def problems(self) -> Problems:
        found: Problems = []
        if self.encryption is not None:
            found += [
                (
                    f"encryption.encryptedSecrets.{name}",
                    "is sealed a second time under spec.encryptedSecrets; keep one",
                )
                for name in self.encryption.encrypted_secrets
                if name in self.encrypted_secrets
            ]
        if self.attachment is not None and self.attachment.sources and not self.attachment.targets:
            found.append(("attachment.targets", "is empty; name the files the attachments are rendered into"))
        return found


class _Kind(NamedTuple):
    plugin: str
    platform: type[Settings]
    #: Whether v0 undoes a failed deployment unless told otherwise.
    auto_rollback: bool


#: v0's kinds, the plugin each of them stands for and that plugin's settings.
KINDS: Final = {
    "KubernetesApp": _Kind("kubernetes", platforms.KubernetesSpec, True),
    "TerraformApp": _Kind("terraform", platforms.TerraformSpec, False),
    "LambdaApp": _Kind("lambda", platforms.LambdaSpec, True),
    "CloudRunApp": _Kind("cloudrun", platforms.CloudRunSpec, True),
    "ECSApp": _Kind("ecs", platforms.EcsSpec, True),
}
#: What v1 finds under `plugins.<name>`, for the plugins that Fairway knows.
PLUGINS: Final[dict[str, type[Settings]]] = {
    "kubernetes": platforms.KubernetesSpec,
    "kubernetes_multicluster": platforms.KubernetesSpec,
    "terraform": platforms.TerraformInput,
    "cloudrun": platforms.CloudRunSpec,
    "lambda": platforms.LambdaSpec,
    "ecs": platforms.EcsSpec,
    "analysis": AnalysisPluginConfig,
    "process": platforms.ProcessSpec,
}


def _spec_type(kind: str, platform: type[Settings]) -> type[ApplicationSpec]:
    fields = [
        (field.name, field.type, msgspec.field(default=field.default)) for field in msgspec.structs.fields(platform)
    ]
    made: Any = msgspec.defstruct(
        f"{kind}Spec",
        fields,
        bases=(ApplicationSpec,),
        frozen=True,
        rename="camel",
        forbid_unknown_fields=True,
    )
    return made  # type: ignore[no-any-return]  # made from ApplicationSpec two lines up


SPEC_TYPES: Final[dict[str, type[ApplicationSpec]]] = {
    **{name: _spec_type(name, kind.platform) for name, kind in KINDS.items()},
    "Application": ApplicationSpec,
}


def settle_application(
    document: Document, kind: str, labels: dict[str, str], spec: ApplicationSpec
) -> tuple[ApplicationConfig, list[Problem]]:
    """The one model of an application, and what only shows when everything is seen together."""
    generation = Generation.V0 if kind in KINDS else Generation.V1
    plugins, problems = _plugins(document, kind, spec)
    allowed = set(plugins) | EVERYWHERE if generation is Generation.V0 else None
    stages, stage_problems = settle_stages(document, spec.pipeline.stages, generation, allowed)
    problems += stage_problems
    problems += selector_label_problems(document, generation, plugins, stages)
    impossible, warnings = impossible_stages(document, stages, plugins)
    problems += without_consequences(warnings, problems)
    sealed = spec.encrypted_secrets | (spec.encryption.encrypted_secrets if spec.encryption else {})
    targets = spec.encryption.decryption_targets if spec.encryption else ()
    problems += secret_problems(document, spec.pipeline.stages, spec.encryption, sealed)
    problems += _without_stages(document, spec)
    if spec.plugins and generation is Generation.V0:
        message = f"has no effect: {kind} is deployed by {KINDS[kind].plugin}; write kind: Application to name plugins"
        problems.append(document.problem(("spec", "plugins"), message, Severity.WARNING, of_key=True))
    config = ApplicationConfig(
        generation=generation,
        kind=kind if generation is Generation.V0 else labels.get("kind", kind),
        name=spec.name,
        labels=spec.labels,
        description=spec.description,
        planner=_planner(kind, spec),
        commit_matcher=spec.commit_matcher,
        stages=stages,
        trigger=spec.trigger,
        post_sync=spec.post_sync,
        timeout=spec.timeout,
        encryption=Encryption(encrypted_secrets=sealed, decryption_targets=targets),
        attachment=spec.attachment or Attachment(),
        notification=spec.notification,
        event_watcher=spec.event_watcher,
        drift_detection=spec.drift_detection,
        plugins=plugins,
        impossible=impossible,
        allows_unknown_fields=document.terms.allow_unknown_fields,
        ignored_fields=tuple(dict.fromkeys(map(path_text, document.ignored))),
    )
    return config, problems


def _without_stages(document: Document, spec: ApplicationSpec) -> list[Problem]:
    """A pipeline that is written and has no stages would be a quick sync to 100 %."""
    written = document.at(("spec",))
    has_pipeline = isinstance(written, dict) and any(key.lower() == "pipeline" for key in written)
    if not has_pipeline or spec.pipeline.stages or document.elided:
        return []
    message = "is empty; write at least one stage, or remove pipeline to deploy by quick sync"
    return [document.later_rule(("spec", "pipeline", "stages"), message)]


def _planner(kind: str, spec: ApplicationSpec) -> Planner:
    if kind not in KINDS:
        return spec.planner
    asked = spec.input.auto_rollback  # type: ignore[attr-defined]  # every v0 kind has an input
    return Planner(
        always_use_pipeline=spec.planner.always_use_pipeline,
        auto_rollback=KINDS[kind].auto_rollback if asked is None else asked,
    )


def _plugins(document: Document, kind: str, spec: ApplicationSpec) -> tuple[dict[str, Any], list[Problem]]:
    if kind in KINDS:
        platform = KINDS[kind].platform
        own = platform(**{field: getattr(spec, field) for field in platform.__struct_fields__})
        if isinstance(own, platforms.TerraformSpec):
            return {"terraform": own.input}, []
        if isinstance(own, platforms.EcsSpec):
            own = _with_standalone_default(own, default=True)
        return {KINDS[kind].plugin: own}, []
    typed: dict[str, Any] = {}
    problems: list[Problem] = []
    for name, written in spec.plugins.items():
        path = ("spec", "plugins", name)
        written = {} if written is None else written
        typed[name] = written
        known = document.terms.plugins
        if known is not None and name not in known:
            message = f"is not a plugin of the agent{did_you_mean(name, known)}"
            problems.append(document.problem(path, message, Severity.WARNING, of_key=True))
        if name in PLUGINS:
            settings, found = read_settings(document, written, PLUGINS[name], path)
            problems += found
            if isinstance(settings, platforms.EcsSpec):
                settings = _with_standalone_default(settings, default=False)
            typed[name] = settings
        elif not isinstance(written, dict):
            problems.append(document.problem(path, f"found {shown(written)}, expected a mapping"))
    return typed, problems


def _with_standalone_default(spec: platforms.EcsSpec, *, default: bool) -> platforms.EcsSpec:
    if spec.input.run_standalone_task is not None:
        return spec
    return msgspec.structs.replace(spec, input=msgspec.structs.replace(spec.input, run_standalone_task=default))
