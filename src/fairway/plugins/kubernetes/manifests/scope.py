"""Namespaces: what an application's `input.namespace` means for each of its objects, and the kinds that have none.

Who knows a cluster says of each kind whether it has namespaces. Without a cluster the CustomResourceDefinitions among
the manifests tell, and for Kubernetes' own kinds the table below; whatever is left is taken to have one.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Final

from fairway.kube.manifest import Manifest

#: Whether objects of an apiVersion and kind belong to namespaces; None when that is not known.
Namespaced = Callable[[str, str], Awaitable[bool | None]]

_WITHOUT: Final = frozenset(
    {
        ("", "ComponentStatus"),
        ("", "Namespace"),
        ("", "Node"),
        ("", "PersistentVolume"),
        ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"),
        ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"),
        ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"),
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"),
        ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
        ("apiextensions.k8s.io", "CustomResourceDefinition"),
        ("apiregistration.k8s.io", "APIService"),
        ("certificates.k8s.io", "CertificateSigningRequest"),
        ("certificates.k8s.io", "ClusterTrustBundle"),
        ("extensions", "PodSecurityPolicy"),
        ("flowcontrol.apiserver.k8s.io", "FlowSchema"),
        ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"),
        ("networking.k8s.io", "IPAddress"),
        ("networking.k8s.io", "IngressClass"),
        ("networking.k8s.io", "ServiceCIDR"),
        ("node.k8s.io", "RuntimeClass"),
        ("policy", "PodSecurityPolicy"),
        ("rbac.authorization.k8s.io", "ClusterRole"),
        ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
        ("resource.k8s.io", "DeviceClass"),
        ("resource.k8s.io", "ResourceSlice"),
        ("scheduling.k8s.io", "PriorityClass"),
        ("storage.k8s.io", "CSIDriver"),
        ("storage.k8s.io", "CSINode"),
        ("storage.k8s.io", "StorageClass"),
        ("storage.k8s.io", "VolumeAttachment"),
        ("storage.k8s.io", "VolumeAttributesClass"),
    }
)


async def in_namespace(
    manifests: Iterable[Manifest], namespace: str, namespaced: Namespaced | None = None
) -> tuple[Manifest, ...]:
    """The manifests, each in the namespace where it belongs.

    `namespace` wins over what a manifest says; empty, each stays where it says, and one that says nothing is left to
    the cluster's default. A kind without namespaces has none, whatever its manifest says.
    """
    manifests = tuple(manifests)
    defined = _defined(manifests)
    known: dict[tuple[str, str], bool] = {}
    placed: list[Manifest] = []
    for each in manifests:
        sort = (each.api_version, each.kind)
        if sort not in known:
            known[sort] = await _has_namespace(*sort, defined, namespaced)
        wanted = (namespace or each.namespace) if known[sort] else ""
        placed.append(each if each.metadata.get("namespace", "") == wanted else _placed(each, wanted))
    return tuple(placed)


async def _has_namespace(
    api_version: str, kind: str, defined: dict[tuple[str, str], bool], namespaced: Namespaced | None
) -> bool:
    group = api_version.rpartition("/")[0]
    told = defined.get((group, kind))
    if told is None and namespaced is not None:
        told = await namespaced(api_version, kind)
    return (group, kind) not in _WITHOUT if told is None else told


def _defined(manifests: Iterable[Manifest]) -> dict[tuple[str, str], bool]:
    """What the CustomResourceDefinitions among the manifests say of their kinds."""
    found: dict[tuple[str, str], bool] = {}
    for each in manifests:
        spec: Any = each.body.get("spec")
        if each.kind != "CustomResourceDefinition" or not isinstance(spec, dict):
            continue
        names: Any = spec.get("names")
        if isinstance(names, dict):
            found[str(spec.get("group", "")), str(names.get("kind", ""))] = spec.get("scope") != "Cluster"
    return found


def _placed(manifest: Manifest, namespace: str) -> Manifest:
    metadata = {key: value for key, value in manifest.metadata.items() if key != "namespace"}
    if namespace:
        metadata["namespace"] = namespace
    return Manifest({**manifest.body, "metadata": metadata}, manifest.where)
