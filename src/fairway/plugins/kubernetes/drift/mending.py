"""Whether deploying an application again takes away any of what differs from Git.

What is missing or otherwise comes with any sync. An object that Git does not have goes only where something is pruned;
a canary or baseline that was left behind, where a stage removes it, too.
"""

from collections.abc import Iterable

from fairway.kube.manifest import Body, key_of
from fairway.plugins.kubernetes.drift.drift import Drift
from fairway.plugins.kubernetes.marks import mark
from fairway.plugins.kubernetes.settings import ApplicationSettings
from fairway.plugins.kubernetes.stages import PRIMARY_ROLLOUT, SYNC


def is_mendable(drift: Drift, settings: ApplicationSettings, live: Iterable[Body]) -> bool:
    """Whether a deployment, by quick sync or by the pipeline, mends anything of it."""
    if drift.missing or drift.changed or drift.foreign or prunes(settings):
        return True
    orphans = frozenset(drift.orphans)
    return any(_is_removed(body, settings) for body in live if key_of(body) in orphans)


def prunes(settings: ApplicationSettings) -> bool:
    """Whether a deployment removes what Git does not have."""
    stages = settings.stage_options(*SYNC, *PRIMARY_ROLLOUT)
    return settings.spec.quick_sync.prune or any(each.prune for each in stages)


def _is_removed(body: Body, settings: ApplicationSettings) -> bool:
    label = settings.spec.variant_label
    stages = {label.canary_value: "CANARY", label.baseline_value: "BASELINE"}
    which = stages.get(mark(body, label.key))
    names = {f"K8S_{which}_CLEAN", f"K8S_MULTI_{which}_CLEAN"}
    return which is not None and any(each.name in names for each in settings.config.stages)
