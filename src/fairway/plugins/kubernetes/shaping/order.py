"""In which order objects are applied, and taken away.

First by what the author says with `pipecd.dev/order`, then by kind: what others need comes first. Objects of one rank
do not need one another and are applied side by side. What is taken away goes the other way round, so that no pod loses
its configuration before it has ended.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final

from fairway.kube.manifest import Body, Manifest
from fairway.plugins.kubernetes.marks import ORDER
from fairway.plugins.kubernetes.parts import part

_RANKS: Final[tuple[frozenset[str], ...]] = (
    frozenset({"Namespace"}),
    frozenset({"CustomResourceDefinition"}),
    frozenset(
        {
            "IngressClass",
            "LimitRange",
            "NetworkPolicy",
            "PodSecurityPolicy",
            "PriorityClass",
            "ResourceQuota",
            "RuntimeClass",
            "StorageClass",
        }
    ),
    frozenset({"ClusterRole", "Role", "ServiceAccount"}),
    frozenset({"ClusterRoleBinding", "RoleBinding"}),
    frozenset({"ConfigMap", "Secret"}),
    frozenset({"PersistentVolume"}),
    frozenset({"PersistentVolumeClaim"}),
    frozenset({"Service"}),
    frozenset(
        {
            "CronJob",
            "DaemonSet",
            "Deployment",
            "Job",
            "Pod",
            "ReplicaSet",
            "ReplicationController",
            "StatefulSet",
        }
    ),
)
_RANK_OF: Final = {kind: rank for rank, kinds in enumerate(_RANKS) for kind in kinds}
#: What stands before or beside workloads: Ingresses, autoscalers, disruption budgets, custom resources.
_OTHERS: Final = len(_RANKS)
#: What every later call to the API server may have to go through.
_LAST: Final = {
    "APIService": _OTHERS + 1,
    "MutatingWebhookConfiguration": _OTHERS + 1,
    "ValidatingWebhookConfiguration": _OTHERS + 1,
}
#: The groups of Kubernetes itself; a custom resource may bear any name.
_OWN_GROUPS: Final = frozenset({"", "apps", "batch", "extensions", "policy", "autoscaling"})


def is_of_kubernetes(body: Body) -> bool:
    """Whether an object is of a kind of Kubernetes itself."""
    group, _, _ = str(body["apiVersion"]).rpartition("/")
    return group in _OWN_GROUPS or group.endswith(".k8s.io")


def rank(body: Body) -> int:
    """The place of an object among the kinds."""
    kind = str(body["kind"])
    if not is_of_kubernetes(body):
        return _OTHERS
    return _LAST.get(kind, _RANK_OF.get(kind, _OTHERS))


def place(body: Body) -> tuple[int, int]:
    """What an object is sorted by: its author's word, then its rank."""
    written = part(body, "metadata", "annotations", ORDER)
    try:
        asked = int(str(written)) if written is not None else 0
    except ValueError:
        asked = 0
    return asked, rank(body)


def in_steps(manifests: Iterable[Manifest]) -> list[tuple[Manifest, ...]]:
    """The manifests in the order of applying; those of one step side by side."""
    ordered = sorted(manifests, key=lambda each: place(each.body))
    return [tuple(step) for _, step in groupby(ordered, key=lambda each: place(each.body))]


def in_steps_away(bodies: Iterable[Body]) -> list[tuple[Body, ...]]:
    """Objects in the order of taking them away; those of one step side by side."""
    ordered: Sequence[Body] = sorted(bodies, key=place, reverse=True)
    return [tuple(step) for _, step in groupby(ordered, key=place)]
