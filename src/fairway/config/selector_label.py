"""The variant's label in selectors, which each way of deploying must put there, or none: a selector cannot be changed.

The first deployment of an application is a quick sync, and so is one that only scales; others go through the pipeline.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from fairway.config.application import Generation, StageConfig
from fairway.config.platforms import KubernetesSpec
from fairway.config.problems import Path, Problem, Severity, path_text
from fairway.config.reader.document import Document
from fairway.config.stage_catalogue import STAGES
from fairway.config.stages import K8sPrimaryRolloutOptions

_OPTION: Final = "addVariantLabelToSelector"
_WHY: Final = "a selector cannot be changed afterwards; set it there too"


def selector_label_problems(
    document: Document, generation: Generation, plugins: Mapping[str, Any], stages: Sequence[StageConfig]
) -> Iterator[Problem]:
    """Stages that roll out the primary with other selectors than a quick sync does."""
    for stage in stages:
        if not isinstance(stage.options, K8sPrimaryRolloutOptions):
            continue
        plugin = STAGES[stage.name].plugin
        spec = plugins.get(plugin, KubernetesSpec() if not plugins else None)
        if not isinstance(spec, KubernetesSpec):
            continue
        above: Path = ("spec",) if generation is Generation.V0 else ("spec", "plugins", plugin)
        quick, below = spec.quick_sync.add_variant_label_to_selector, (*above, "quickSync")
        if stage.options.add_variant_label_to_selector and not quick:
            path: Path = ("spec", "pipeline", "stages", stage.index, "with", _OPTION)
            words = f"is true, but not in {path_text(below)}: the first deployment is a quick sync, and {_WHY}"
            yield document.problem(path, words, Severity.WARNING)
        elif quick and not stage.options.add_variant_label_to_selector:
            words = f"is true, but not in stage {stage.index + 1}, {stage.name}: {_WHY}"
            yield document.problem((*below, _OPTION), words, Severity.WARNING)
