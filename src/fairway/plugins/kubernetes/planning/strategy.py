"""Whether a change of manifests deserves the pipeline: pods that would be others do, a new number of them does not.

A workload that goes while another one of its kind comes is one that was renamed, as far as anybody can tell, and so its
pods are others. One that only comes, or only goes, replaces nothing that runs.

Both sides are what Git says, each loaded with the settings of its own commit and without any mark of ours: a commit
that changes nothing of a ConfigMap does not look as if it had.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from fairway.config.platforms import ResourceReference
from fairway.kube.manifest import Key, Manifest
from fairway.plugins.kubernetes.parts import part
from fairway.plugins.kubernetes.planning.difference import differences
from fairway.plugins.kubernetes.planning.versions import parse_image
from fairway.sdk import Strategy, SyncStrategy

_DEPLOYMENT: Final = "Deployment"
_WITH_DEPLOYMENTS: Final = ("apps", "extensions")
_CONFIGURATION: Final = ("ConfigMap", "Secret")


def decide_strategy(
    running: Sequence[Manifest],
    target: Sequence[Manifest],
    workloads: Sequence[ResourceReference] = (),
    workloads_before: Sequence[ResourceReference] | None = None,
) -> Strategy:
    """How to go from what runs to what a commit says; `workloads` are those that the application names, now and, where
    that was otherwise, before."""
    after = _workloads(target, workloads)
    before = _workloads(running, workloads) | _workloads(
        running, workloads if workloads_before is None else workloads_before
    )
    if not before or not after:
        which = "what runs" if not before else "the new commit"
        return _quick(f"{which} has no workload that could be rolled out step by step")
    pairs = [(before[key], each) for key, each in after.items() if key in before]
    gone, new = _without(before, target), _without(after, running)
    reason = _changed_pods(pairs) or _renamed(gone, new) or _changed_configuration(running, target)
    if reason:
        return Strategy(SyncStrategy.PIPELINE, f"Pipeline, because {reason}")
    scaled = sorted(filter(None, (_scaled(*pair) for pair in pairs)))
    if come_or_gone := [*_each_kind(gone, "gone"), *_each_kind(new, "new")]:
        return _quick(f"Git changes no pod that runs: {', '.join([*come_or_gone, *scaled])}")
    return _quick(f"only the scale changes: {', '.join(scaled)}" if scaled else "Git changes no pods")


def _workloads(manifests: Sequence[Manifest], wanted: Sequence[ResourceReference]) -> dict[Key, Manifest]:
    references = wanted or (ResourceReference(),)
    return {_paired(each): each for each in manifests if any(_is_meant(each, one) for one in references)}


def _is_meant(manifest: Manifest, reference: ResourceReference) -> bool:
    kind = reference.kind or _DEPLOYMENT
    known = kind != _DEPLOYMENT or manifest.key.group in _WITH_DEPLOYMENTS
    return known and manifest.kind == kind and reference.name in ("", manifest.name)


def _paired(manifest: Manifest) -> Key:
    """What makes two manifests one object: not the version of their API, and `default` is the same as none."""
    key = manifest.key
    return Key(key.group, key.kind, "" if key.namespace == "default" else key.namespace, key.name)


def _without(workloads: Mapping[Key, Manifest], manifests: Sequence[Manifest]) -> dict[Key, Manifest]:
    """Those of the workloads that a commit does not have, whatever it names."""
    there = {_paired(each) for each in manifests}
    return {key: each for key, each in workloads.items() if key not in there}


def _renamed(gone: Mapping[Key, Manifest], new: Mapping[Key, Manifest]) -> str:
    for kind in dict.fromkeys(each.kind for each in gone):
        old, now = ({each.name: each for each in some if each.kind == kind} for some in (gone, new))
        if moved := next((each for each in old if each in now), None):
            places = (each[moved].namespace or "none" for each in (old, now))
            return f"the namespace of {kind} {moved} goes from {' to '.join(places)}"
        if now:
            return f"{_are(kind, sorted(old))} gone and {_are('', sorted(now))} new"
    return ""


def _each_kind(workloads: Mapping[Key, Manifest], how: str) -> list[str]:
    kinds = sorted({each.kind for each in workloads})
    return [f"{_are(kind, sorted(each.name for each in workloads if each.kind == kind))} {how}" for kind in kinds]


def _are(kind: str, names: Sequence[str]) -> str:
    """Workloads by their names, and the verb that goes with so many."""
    *others, last = names
    if not others:
        return f"{kind} {last} is".lstrip()
    return f"{kind}{'s' if kind else ''} {', '.join(others)} and {last} are".lstrip()


def _changed_pods(pairs: Iterable[tuple[Manifest, Manifest]]) -> str:
    for before, after in pairs:
        old, new = (part(each.body, "spec", "template") for each in (before, after))
        if differences(old, new):
            images = _changed_images(old, new)
            return " and ".join(images) if images else f"the pods of {after.kind} {after.name} change"
    return ""


def _changed_images(before: object, after: object) -> list[str]:
    old, new = (_images(each) for each in (before, after))
    said = (_image(old[key], new[key]) for key in new if key in old and old[key] != new[key])
    return list(dict.fromkeys(said))


def _images(template: object) -> dict[tuple[str, str], str]:
    """Sort and name of a container, or its position where it has no name → its image."""
    found: dict[tuple[str, str], str] = {}
    for field in ("containers", "initContainers"):
        containers = part(template, "spec", field)
        for index, each in enumerate(containers if isinstance(containers, list) else ()):
            if isinstance(each, Mapping) and isinstance(each.get("image"), str):
                found[field, str(each.get("name", index))] = each["image"]
    return found


def _image(before: str, after: str) -> str:
    old, new = parse_image(before), parse_image(after)
    if old.repository == new.repository:
        return f"the image {new.name} goes from {old.version} to {new.version}"
    if old.name == new.name:
        return f"the image {before} becomes {after}"
    return f"the image {old.name}:{old.version} becomes {new.name}:{new.version}"


def _changed_configuration(running: Sequence[Manifest], target: Sequence[Manifest]) -> str:
    before, after = (
        {_paired(each): each for each in manifests if each.kind in _CONFIGURATION and not each.key.group}
        for manifests in (running, target)
    )
    if len(before) != len(after):
        few, what = abs(len(before) - len(after)), "deleted" if len(before) > len(after) else "added"
        return f"{few} {'ConfigMap or Secret' if few == 1 else 'ConfigMaps or Secrets'} would be {what}"
    for key, old in before.items():
        if key not in after:
            return f"{key.kind} {key.name} would be deleted"
        if differences(old.body, after[key].body):
            return f"{key.kind} {key.name} would be updated"
    return ""


def _scaled(before: Manifest, after: Manifest) -> str:
    old, new = (part(each.body, "spec", "replicas") for each in (before, after))
    if old == new:
        return ""
    return f"{after.kind} {after.name} from {'none' if old is None else old} to {'none' if new is None else new}"


def _quick(reason: str) -> Strategy:
    return Strategy(SyncStrategy.QUICK_SYNC, f"Quick sync, because {reason}")
