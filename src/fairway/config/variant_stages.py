"""Stages of Kubernetes that can never end well, seen together with one another and with the settings of their plugin.

Such a file is read all the same, with a warning: what runs may have come with it by a quick sync. No deployment is
planned through its pipeline, which would be found out only after the canary is there.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from fairway.config.application import StageConfig
from fairway.config.platforms import KubernetesSpec
from fairway.config.problems import Path, Problem, Severity
from fairway.config.reader.document import Document
from fairway.config.stages import K8sBaselineRolloutOptions, K8sCanaryRolloutOptions, K8sTrafficRoutingOptions

#: Beginning of the names of stages → whose they are; the longer first.
_PLUGINS: Final = {"K8S_MULTI_": "kubernetes_multicluster", "K8S_": "kubernetes"}
_WHOLE: Final = 100


def impossible_stages(
    document: Document, stages: Sequence[StageConfig], plugins: Mapping[str, Any]
) -> tuple[tuple[str, ...], list[Problem]]:
    """What can never be, stage by stage, for whoever plans; and the same as warnings, where it stands."""
    found = [*_splits(stages, plugins), *_same_suffixes(stages)]
    words = tuple(f"stage {stage.index + 1} ({stage.name}): {message}" for stage, _, message in found)
    return words, [
        document.problem(("spec", "pipeline", "stages", stage.index, "with", *below), message, Severity.WARNING)
        for stage, below, message in found
    ]


def _splits(stages: Sequence[StageConfig], plugins: Mapping[str, Any]) -> Iterator[tuple[StageConfig, Path, str]]:
    for stage in stages:
        spec = plugins.get(_plugin(stage), None if plugins else KubernetesSpec())
        if not isinstance(stage.options, K8sTrafficRoutingOptions) or not isinstance(spec, KubernetesSpec):
            continue
        shares = stage.options.shares
        if spec.traffic_routing.method == "podselector" and _WHOLE not in shares[:2]:
            words = zip(("Primary", "Canary", "Baseline"), shares, strict=True)
            said = ", ".join(f"{name}: {share:g}%" for name, share in words)
            yield (
                stage,
                (),
                f"sends {said}, but a Service selects the primary or the canary; write `all: primary` or "
                "`all: canary`, or set trafficRouting.method to istio or smi",
            )


def _same_suffixes(stages: Sequence[StageConfig]) -> Iterator[tuple[StageConfig, Path, str]]:
    there: dict[str, StageConfig] = {}
    for stage in stages:
        if stage.name.endswith("_CLEAN"):
            variant = "CANARY" if "CANARY" in stage.name else "BASELINE"
            there = {suffix: each for suffix, each in there.items() if variant not in each.name}
        if not isinstance(stage.options, K8sCanaryRolloutOptions | K8sBaselineRolloutOptions):
            continue
        before = there.setdefault(stage.options.suffix, stage)
        if before.name != stage.name and _meet(before.options, stage.options):
            called = f"stage {before.index + 1} ({before.name})"
            message = f"as that of {called} is; expected another, because both are there at once"
            yield stage, ("suffix",), f"is {stage.options.suffix!r}, {message}"


def _meet(one: Any, other: Any) -> bool:
    """Whether two stages work on the same clusters."""
    own, others = (set(getattr(each, "multi_targets", ())) for each in (one, other))
    return not own or not others or bool(own & others)


def _plugin(stage: StageConfig) -> str:
    return next((plugin for start, plugin in _PLUGINS.items() if stage.name.startswith(start)), "")
