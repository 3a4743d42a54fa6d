"""The objects of an application as people see them: a tree, each with how it is and why."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec

from fairway.errors import FairwayError
from fairway.kube.errors import ClusterAway
from fairway.model.live_state import Resource
from fairway.plugins.kubernetes.drift.drift import Foreign
from fairway.plugins.kubernetes.health.health import Standing
from fairway.plugins.kubernetes.health.verdict import counted
from fairway.plugins.kubernetes.live.objects import Seen

#: How many pods are named in the reason of what they belong to.
_NAMED_PODS = 3


def resources(family: Iterable[Seen], deploy_target: str, notes: Sequence[str] = ()) -> tuple[Resource, ...]:
    """The tree; `notes` are said of what was deployed by itself and has something below it that could not be seen."""
    seen = {each.uid: each for each in family}
    children: defaultdict[str, list[Seen]] = defaultdict(list)
    for each in seen.values():
        for owner in each.owners:
            children[owner].append(each)
    return tuple(
        Resource(
            id=each.uid,
            name=each.name,
            type=each.kind,
            parent_ids=tuple(sorted(owner for owner in each.owners if owner in seen)),
            api_version=each.api_version,
            namespace=each.namespace,
            metadata={"Namespace": each.namespace, "API Version": each.api_version, "Kind": each.kind},
            health=each.health,
            health_description=_reason(each, children, notes),
            deploy_target=deploy_target,
            created_at=each.created_at,
        )
        for each in sorted(seen.values(), key=_order)
    )


def foreign_resources(found: Iterable[Foreign], deploy_target: str) -> tuple[Resource, ...]:
    """Objects of Git that exist and are not the application's; their health is not the application's either."""
    return tuple(
        Resource(
            id=each.uid,
            name=each.key.name,
            type=each.key.kind,
            api_version=each.api_version,
            namespace=each.key.namespace,
            metadata={"Namespace": each.key.namespace, "API Version": each.api_version, "Kind": each.key.kind},
            health_description=str(each),
            deploy_target=deploy_target,
        )
        for each in found
    )


def left_resources(family: Iterable[Seen], deploy_target: str) -> tuple[Resource, ...]:
    """The tree of a deploy target to which the application is not deployed any more."""
    words = f"left behind: the application is not deployed to {deploy_target} any more"
    return tuple(
        msgspec.structs.replace(each, health_description="; ".join(filter(None, (words, each.health_description))))
        if not each.parent_ids
        else each
        for each in resources(family, deploy_target)
    )


def unseen(problems: Iterable[FairwayError]) -> list[str]:
    """What is said of objects below which something cannot be seen: each reason once, and not that their cluster is
    away for now, which says nothing of how they are."""
    return list(dict.fromkeys(str(each) for each in problems if not isinstance(each, ClusterAway)))


def _reason(seen: Seen, children: dict[str, list[Seen]], notes: Sequence[str]) -> str:
    parts = [seen.reason]
    if seen.standing is not Standing.DONE and seen.kind != "Pod":
        troubled = sorted(
            (each for each in _below(seen, children) if each.kind == "Pod" and each.standing is not Standing.DONE),
            key=lambda each: each.name,
        )
        parts += [f"pod {each.name}: {each.reason}" for each in troubled[:_NAMED_PODS]]
        if len(troubled) > _NAMED_PODS:
            parts.append(counted(len(troubled) - _NAMED_PODS, "more pod"))
        parts += notes
    return "; ".join(part for part in parts if part)


def _below(seen: Seen, children: dict[str, list[Seen]]) -> Iterable[Seen]:
    waiting, found = [seen.uid], {seen.uid}
    while waiting:
        for each in children.get(waiting.pop(), ()):
            if each.uid not in found:
                found.add(each.uid)
                waiting.append(each.uid)
                yield each


def _order(seen: Seen) -> tuple[bool, str, str, str, str]:
    """What was deployed by itself comes first."""
    return (not seen.application, seen.kind, seen.namespace, seen.name, seen.uid)
