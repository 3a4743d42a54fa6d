"""Which kinds are watched for an application: those of its objects, and those that such objects make in turn."""

from collections.abc import Iterable
from typing import Final

from fairway.kube.cluster import Cluster
from fairway.kube.errors import UnknownKind
from fairway.kube.kinds import Kind

_REPLICA_SET: Final = ("apps/v1", "ReplicaSet")
_JOB: Final = ("batch/v1", "Job")
_POD: Final = ("v1", "Pod")

#: What workloads make.
_BELOW: Final = {
    ("apps", "Deployment"): (_REPLICA_SET, _POD),
    ("apps", "ReplicaSet"): (_POD,),
    ("apps", "StatefulSet"): (_POD,),
    ("apps", "DaemonSet"): (_POD,),
    ("", "ReplicationController"): (_POD,),
    ("batch", "Job"): (_POD,),
    ("batch", "CronJob"): (_JOB, _POD),
}


async def kinds_below(cluster: Cluster, kinds: Iterable[Kind]) -> tuple[Kind, ...]:
    """What the objects of these kinds make; of a custom resource it is taken to be what a Deployment makes."""
    wanted: dict[tuple[str, str], None] = {}
    for kind in kinds:
        below = _BELOW.get((kind.group, kind.kind))
        if below is None and _is_custom(kind):
            below = (_REPLICA_SET, _POD)
        wanted |= dict.fromkeys(below or ())
    return tuple([await cluster.kind(*each) for each in wanted])


async def served(cluster: Cluster, names: Iterable[tuple[str, str]]) -> tuple[Kind, ...]:
    """Those of the kinds that the cluster serves and lets be watched."""
    found: dict[Kind, None] = {}
    for api_version, name in names:
        try:
            kind = await cluster.kind(api_version, name)
        except UnknownKind:
            continue
        if kind.verbs >= {"list", "watch"}:
            found[kind] = None
    return tuple(found)


def _is_custom(kind: Kind) -> bool:
    """Kubernetes' own groups have no dot, or end in k8s.io."""
    return "." in kind.group and not kind.group.endswith("k8s.io")
