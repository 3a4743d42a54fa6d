"""What the pods of a canary cannot do without, and no copy is made of: accounts and what they may, claims, classes.

There is one of each for all variants, so it comes as the primary's. Which of the manifests that are, is found here, by
the names that pods and what they name give; what of it is in the cluster already is no matter here. Pure.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from fairway.kube.manifest import Key, Manifest
from fairway.plugins.kubernetes.parts import part

_RBAC: Final = "rbac.authorization.k8s.io"
_STORAGE: Final = "storage.k8s.io"
_RESOURCE: Final = "resource.k8s.io"
_SECRETS_STORE: Final = "secrets-store.csi.x-k8s.io"
_ACCOUNT: Final = "ServiceAccount"
_BINDINGS: Final = frozenset({"RoleBinding", "ClusterRoleBinding"})
#: Whose pods name none.
_DEFAULT_ACCOUNT: Final = "default"


def needed(copies: Sequence[Manifest], manifests: Sequence[Manifest]) -> tuple[Manifest, ...]:
    """Those of the manifests that the pods of copies need, or that something needs which they need."""
    wanted: list[Key] = []
    for each in copies:
        pod = part(each.body, "spec", "template", "spec")
        wanted += [Key("", "Namespace", "", each.namespace)]
        wanted += _of_pod(pod, each.namespace) if isinstance(pod, Mapping) else ()
    by_key = {each.key: each for each in manifests}
    bindings = [each for each in manifests if each.key.group == _RBAC and each.kind in _BINDINGS]
    found: dict[Key, Manifest] = {}
    while wanted:
        key = wanted.pop()
        if key.kind == _ACCOUNT:
            wanted += [each.key for each in bindings if each.key not in found and _is_for(each, key)]
        if key in by_key and key not in found:
            found[key] = by_key[key]
            wanted += _of_object(by_key[key])
    return tuple(each for each in manifests if each.key in found)


def _of_pod(pod: Mapping[str, Any], namespace: str) -> Iterator[Key]:
    account = pod.get("serviceAccountName") or pod.get("serviceAccount") or _DEFAULT_ACCOUNT
    yield Key("", _ACCOUNT, namespace, str(account))
    yield from _keys("scheduling.k8s.io", "PriorityClass", "", [pod.get("priorityClassName")])
    yield from _keys("node.k8s.io", "RuntimeClass", "", [pod.get("runtimeClassName")])
    claims = _each(pod, "resourceClaims")
    for name in ("ResourceClaim", "ResourceClaimTemplate"):
        yield from _keys(_RESOURCE, name, namespace, (part(each, f"r{name[1:]}Name") for each in claims))
    for volume in _each(pod, "volumes"):
        claim = part(volume, "persistentVolumeClaim", "claimName")
        yield from _keys("", "PersistentVolumeClaim", namespace, [claim])
        storage = part(volume, "ephemeral", "volumeClaimTemplate", "spec", "storageClassName")
        yield from _keys(_STORAGE, "StorageClass", "", [storage])
        provider = part(volume, "csi", "volumeAttributes", "secretProviderClass")
        yield from _keys(_SECRETS_STORE, "SecretProviderClass", namespace, [provider])


def _of_object(manifest: Manifest) -> Iterator[Key]:
    body, namespace = manifest.body, manifest.namespace
    match manifest.key.group, manifest.kind:
        case "", "ServiceAccount":
            # The pull secrets of pods are copied; an account names the one that is called as in Git.
            secrets = [*_each(body, "imagePullSecrets"), *_each(body, "secrets")]
            yield from _keys("", "Secret", namespace, (part(each, "name") for each in secrets))
        case "", "PersistentVolumeClaim":
            yield from _keys("", "PersistentVolume", "", [part(body, "spec", "volumeName")])
            yield from _keys(_STORAGE, "StorageClass", "", [part(body, "spec", "storageClassName")])
        case group, kind if group == _RBAC and kind in _BINDINGS:
            role = part(body, "roleRef", "kind")
            place = namespace if role == "Role" else ""
            yield from _keys(_RBAC, str(role), place, [part(body, "roleRef", "name")])


def _is_for(binding: Manifest, account: Key) -> bool:
    return any(
        part(each, "kind") == _ACCOUNT
        and part(each, "name") == account.name
        and (part(each, "namespace") or binding.namespace) == account.namespace
        for each in _each(binding.body, "subjects")
    )


def _keys(group: str, kind: str, namespace: str, names: Iterable[Any]) -> Iterator[Key]:
    return (Key(group, kind, namespace, each) for each in names if isinstance(each, str) and each)


def _each(of: Mapping[str, Any], name: str) -> Sequence[Any]:
    found = of.get(name)
    return found if isinstance(found, list | tuple) else ()
