"""An application's file → `ApplicationConfig`: where the kinds and the two generations become one.

The spec of a v0 kind is the common spec plus its platform's fields; the type of each kind is put together from the two,
so that errors, schemas and reading all see the same thing.
"""

import re
from collections.abc import Iterator
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
    StageConfig,
    Trigger,
)
from fairway.config.event_watcher import EventWatch
from fairway.config.problems import Path, Problem, Severity, did_you_mean
from fairway.config.reader.convert import convert_checked
from fairway.config.reader.document import Document
from fairway.config.reader.rules import at, broken_rules
from fairway.config.scalars import Duration
from fairway.config.settings import Problems, Settings, ZeroMeansDefault
from fairway.config.stage_catalogue import EVERYWHERE, GENERATED, STAGES, KnownStage
from fairway.config.stages import Pipeline, StageEntry, settle_stage


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
        for field in ("quick_sync", "pipeline"):
            pattern = getattr(self.commit_matcher, field)
            try:
                re.compile(pattern)
            except re.error as error:
                name = "quickSync" if field == "quick_sync" else field
                found.append((f"commitMatcher.{name}", f"is no regular expression: {error}"))
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
}


def _spec_type(kind: str, platform: type[Settings]) -> type[ApplicationSpec]:
    fields = [
        (field.name, field.type, msgspec.field(default=field.default))
        for field in msgspec.structs.fields(platform)
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
    stages, stage_problems = _stages(document, spec, generation, allowed)
    problems += stage_problems
    sealed = spec.encrypted_secrets | (spec.encryption.encrypted_secrets if spec.encryption else {})
    targets = spec.encryption.decryption_targets if spec.encryption else ()
    problems += _secret_uses(document, spec, sealed)
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
    )
    return config, problems


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
        typed[name] = written or {}
        if name in PLUGINS:
            settings, found = convert_checked(document, written or {}, PLUGINS[name], path, lenient=True)
            problems += found
            if settings is not None:
                problems += broken_rules(document, settings, path, lenient=True)
                typed[name] = (
                    _with_standalone_default(settings, default=False)
                    if isinstance(settings, platforms.EcsSpec)
                    else settings
                )
    return typed, problems


def _with_standalone_default(spec: platforms.EcsSpec, *, default: bool) -> platforms.EcsSpec:
    if spec.input.run_standalone_task is not None:
        return spec
    return msgspec.structs.replace(
        spec, input=msgspec.structs.replace(spec.input, run_standalone_task=default)
    )


def _stages(
    document: Document, spec: ApplicationSpec, generation: Generation, allowed: set[str] | None
) -> tuple[tuple[StageConfig, ...], list[Problem]]:
    settled: list[StageConfig] = []
    problems: list[Problem] = []
    for index, entry in enumerate(spec.pipeline.stages):
        path: Path = ("spec", "pipeline", "stages", index)
        known = STAGES.get(entry.name)
        problems += _name_problems(document, path, entry.name, generation, allowed)
        options: Any = entry.options
        if known is not None:
            options, found = _options(document, path, entry, known, generation)
            problems += found
        if options is not None:
            settled.append(settle_stage(index, entry, options))
    problems += _repeated_ids(document, settled)
    return tuple(settled), problems


def _options(
    document: Document, path: Path, entry: StageEntry, known: KnownStage, generation: Generation
) -> tuple[Any, list[Problem]]:
    below = (*path, "with")
    options, problems = convert_checked(document, entry.options, known.options, below, lenient=True)
    if options is None:
        return None, problems
    problems = problems + broken_rules(document, options, below, lenient=True)
    options, missing = options.in_generation(generation)
    problems += at(document, below, missing)
    for name, beside, inside in (
        ("timeout", entry.timeout, options.timeout),
        ("skipOn", entry.skip_on, options.skip_on),
    ):
        if beside is not None and inside is not None:
            message = f"has no effect: the stage has a {name} beside `with`, which wins"
            problems.append(document.problem((*below, name), message, Severity.WARNING, of_key=True))
    return options, problems


def _name_problems(
    document: Document, path: Path, name: str, generation: Generation, allowed: set[str] | None
) -> Iterator[Problem]:
    where = (*path, "name")
    known = STAGES.get(name)
    if name in GENERATED or (known is not None and not (known.in_v0 if allowed else known.in_v1)):
        quick = name.endswith("_SYNC")
        instead = (
            "a quick sync does it without a pipeline" if quick else "it is added when a deployment is planned"
        )
        yield document.problem(where, f"is {name}, which cannot be written in a pipeline: {instead}")
    elif known is None:
        near = did_you_mean(name, STAGES)
        if generation is Generation.V0:
            yield document.problem(where, f"is {name!r}; there is no such stage{near}")
        elif near:
            yield document.problem(
                where, f"is {name!r}, which no built-in plugin has{near}", Severity.WARNING
            )
    elif allowed is not None and known.plugin not in allowed:
        platform = ", ".join(sorted(allowed - EVERYWHERE))
        yield document.problem(
            where, f"is {name}, a stage of {known.plugin}; this application is deployed by {platform}"
        )
    elif name == "CUSTOM_SYNC":
        yield document.problem(
            where, "is CUSTOM_SYNC, which is deprecated; SCRIPT_RUN does the same", Severity.WARNING
        )


def _repeated_ids(document: Document, stages: list[StageConfig]) -> Iterator[Problem]:
    seen: dict[str, int] = {}
    for stage in stages:
        if stage.id and stage.id in seen:
            path: Path = ("spec", "pipeline", "stages", stage.index, "id")
            yield document.problem(path, f"is {stage.id!r}, the id of stage {seen[stage.id]} already")
        seen.setdefault(stage.id, stage.index)


#: How a script names a sealed value.
_SECRET: Final = re.compile(r"\{\{[^{}]*\.encryptedSecrets\.(\w+)[^{}]*\}\}")


def _secret_uses(document: Document, spec: ApplicationSpec, sealed: dict[str, str]) -> Iterator[Problem]:
    """Sealed values that scripts name, against those that exist; and those that nothing could ever see."""
    used = False
    for index, entry in enumerate(spec.pipeline.stages):
        for path, text in _texts(entry.options, ("spec", "pipeline", "stages", index, "with")):
            for name in _SECRET.findall(text):
                used = True
                if name not in sealed:
                    message = f"uses the secret {name!r}, which is not among the encryptedSecrets{did_you_mean(name, sealed)}"
                    yield document.problem(path, message)
    encryption = spec.encryption
    if (
        encryption is not None
        and encryption.encrypted_secrets
        and not encryption.decryption_targets
        and not used
    ):
        message = "is empty, and no script uses a secret; name the files the secrets are rendered into"
        yield document.problem(("spec", "encryption", "decryptionTargets"), message)


def _texts(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, (*path, index))
