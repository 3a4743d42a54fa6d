"""What one of several clusters gets: the application's input with that cluster's entry in `multiTargets` over it."""

import msgspec

from fairway.config.platforms import KubernetesInput


class TargetInput(msgspec.Struct, frozen=True):
    """How the manifests of one deploy target are made."""

    input: KubernetesInput
    #: Where kustomize builds; empty for the application's directory.
    kustomize_dir: str = ""


def for_target(wanted: KubernetesInput, target: str) -> TargetInput:
    """The input of a deploy target, whose entry wins wherever it says something."""
    entry = next((each for each in wanted.multi_targets if each.target.name == target), None)
    if entry is None:
        return TargetInput(wanted)
    merged = msgspec.structs.replace(
        wanted,
        manifests=entry.manifests or wanted.manifests,
        kubectl_version=entry.kubectl_version or wanted.kubectl_version,
        kustomize_version=entry.kustomize_version or wanted.kustomize_version,
        kustomize_options=entry.kustomize_options or wanted.kustomize_options,
    )
    return TargetInput(merged, entry.kustomize_dir)
