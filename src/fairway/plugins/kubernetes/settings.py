"""What an application's file, and an agent's, say to this plugin.

An application of either generation: a v0 `KubernetesApp` has the settings in its spec, a v1 `Application` under
`plugins.<name>`. They are always read from the files of the commit that they are used for, so that what runs is rolled
back with the settings with which it was deployed.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeVar

import msgspec

from fairway.config.agent_file import DeployTarget
from fairway.config.application import ApplicationConfig, Generation
from fairway.config.platforms import KubernetesInput, KubernetesSpec, MultiTarget, TargetSelector
from fairway.config.problems import Severity
from fairway.config.providers import KubernetesTarget
from fairway.config.read import read_application
from fairway.config.reader.document import read_documents
from fairway.config.reader.rules import read_settings
from fairway.config.settings import Settings
from fairway.config.terms import ACCEPTED
from fairway.errors import UserError
from fairway.sdk import Files

S = TypeVar("S", bound=Settings)
#: The name under which the reader of applications knows v0's kind.
_OF_V0: Final = "kubernetes"


class BadSettings(UserError):
    """Settings that this plugin cannot use."""


class ApplicationSettings(msgspec.Struct, frozen=True):
    """What an application's file says, at one commit."""

    spec: KubernetesSpec
    config: ApplicationConfig

    def stage_options(self, *names: str) -> list[Any]:
        """The options of all stages of the pipeline with one of these names."""
        return [stage.options for stage in self.config.stages if stage.name in names]


def application_settings(files: Files, plugin: str) -> ApplicationSettings:
    """The settings for the plugin of that name; the defaults where the file has none."""
    config = read_application(files.config_text, files.config_filename, ACCEPTED)
    name = plugin
    if plugin not in config.plugins and config.generation is Generation.V0:
        # v0 knows no plugins: its kind is meant, whatever the agent's file calls this plugin.
        name = _OF_V0
    written = config.plugins.get(name, {})
    if not isinstance(written, KubernetesSpec):
        written = _read(written, KubernetesSpec, f"{files.config_filename}: spec.plugins.{name}")
    return ApplicationSettings(written, config)


def target_settings(target: DeployTarget) -> KubernetesTarget:
    """What the agent's file says of a deploy target."""
    return _read(target.config, KubernetesTarget, f"deploy target {target.name}")


def input_for(spec: KubernetesSpec, target: DeployTarget) -> tuple[KubernetesInput, str]:
    """How the manifests for one of several clusters are made, and in which directory below the application's."""
    for each in spec.input.multi_targets:
        if is_selected(each.target, target):
            return _overridden(spec.input, each), each.kustomize_dir
    return spec.input, ""


def goes_to(spec: KubernetesSpec, target: DeployTarget) -> bool:
    """Whether an application is for a deploy target: any of its own, unless it says which."""
    selectors = [each.target for each in spec.input.multi_targets]
    return not selectors or any(is_selected(each, target) for each in selectors)


def is_selected(selector: TargetSelector, target: DeployTarget) -> bool:
    """Whether a deploy target is meant, by its name or by its labels."""
    if selector.name:
        return selector.name == target.name
    return bool(selector.labels) and selector.labels.items() <= target.labels.items()


def _overridden(common: KubernetesInput, own: MultiTarget) -> KubernetesInput:
    return msgspec.structs.replace(
        common,
        manifests=own.manifests or common.manifests,
        kubectl_version=own.kubectl_version or common.kubectl_version,
        kustomize_version=own.kustomize_version or common.kustomize_version,
        kustomize_options=own.kustomize_options or common.kustomize_options,
    )


def _read(written: Mapping[str, Any], kind: type[S], where: str) -> S:
    documents, _ = read_documents(msgspec.json.encode(written), where)
    settings, problems = read_settings(documents[0], documents[0].value, kind, ())
    wrong = [str(each) for each in problems if each.severity is Severity.ERROR]
    if wrong:
        raise BadSettings("; ".join(wrong))
    return settings
