"""Names of copies that are too long for a cluster: the suffix of a variant makes them longer. Pure."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from fairway.config.application import ApplicationConfig
from fairway.config.platforms import KubernetesSpec
from fairway.config.problems import Position, Problem, Severity
from fairway.config.stages import K8sBaselineRolloutOptions, K8sCanaryRolloutOptions, K8sPrimaryRolloutOptions
from fairway.kube.manifest import Manifest
from fairway.plugins.kubernetes.shaping.variants import NoVariant, found_services, found_workloads, is_kind

_LONGEST: Final = {"Service": 63}
_LONGEST_OTHERS: Final = 253


def too_long_names(manifests: Sequence[Manifest], spec: KubernetesSpec, config: ApplicationConfig) -> list[Problem]:
    """The manifests whose copies for a stage of the pipeline would have names that are too long."""
    found: dict[Problem, None] = {}
    for stage in config.stages:
        for each in _copied(manifests, spec, stage.options):
            name = f"{each.name}-{stage.options.suffix}"
            longest = _LONGEST.get(each.kind, _LONGEST_OTHERS)
            if len(name) > longest:
                message = (
                    f"stage {stage.index + 1} ({stage.name}) names its copy {name}, which has {len(name)} characters; "
                    f"expected at most {longest} for a {each.kind}: shorten the name or the suffix"
                )
                position = Position(max(each.where.line, 1), 1)
                found[Problem(file=each.where.file, position=position, message=message, severity=Severity.WARNING)] = (
                    None
                )
    return list(found)


def _copied(manifests: Sequence[Manifest], spec: KubernetesSpec, options: Any) -> Iterator[Manifest]:
    """What a stage copies with a suffix."""
    try:
        if isinstance(options, K8sCanaryRolloutOptions | K8sBaselineRolloutOptions):
            yield from found_workloads(manifests, spec.workloads)
            yield from (each for each in manifests if is_kind(each, "", "ConfigMap") or is_kind(each, "", "Secret"))
        elif not isinstance(options, K8sPrimaryRolloutOptions):
            return
        if options.create_service:
            yield from found_services(manifests, spec.service)
    except NoVariant:
        # The stage says so.
        return
