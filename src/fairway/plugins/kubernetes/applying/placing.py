"""Manifests as objects of one cluster: which kind of its API each is, and which namespace it goes to.

Only then is it known for certain which object a manifest means: one without a namespace goes to the one that the
kubeconfig says, and a kind without namespaces has none. What is kept, pruned and waited for goes by these names.
"""

from collections.abc import Iterable, Sequence

import msgspec

from fairway.errors import UserError
from fairway.kube.cluster import Cluster
from fairway.kube.errors import UnknownKind
from fairway.kube.kinds import Kind
from fairway.kube.manifest import Key, Manifest
from fairway.plugins.kubernetes.parts import part, remade, with_part, without

_DEFINITIONS = "apiextensions.k8s.io"


class UnknownKinds(UserError):
    """Manifests of kinds that neither the cluster nor the manifests themselves know."""


class Placed(msgspec.Struct, frozen=True):
    """A manifest as an object of a cluster."""

    manifest: Manifest
    kind: Kind
    #: Whether the same manifests define its kind: the cluster may not serve it yet, or serve it otherwise.
    defined_here: bool = False

    @property
    def key(self) -> Key:
        return self.manifest.key

    @property
    def namespace(self) -> str:
        return self.manifest.namespace


async def placed(cluster: Cluster, manifests: Sequence[Manifest]) -> tuple[Placed, ...]:
    """The manifests as objects of the cluster; UnknownKinds names every kind that it does not have."""
    defined = {(each.group, each.kind): each for each in _defined(manifests)}
    kinds: dict[tuple[str, str], Kind] = {}
    problems: dict[tuple[str, str], str] = {}
    for each in manifests:
        sort = (each.api_version, each.kind)
        if sort in kinds or sort in problems:
            continue
        try:
            kinds[sort] = await cluster.kind(*sort)
        except UnknownKind as error:
            here = defined.get((each.key.group, each.kind))
            if here is None:
                problems[sort] = f"{each.where}: {error}" if str(each.where) else str(error)
            else:
                kinds[sort] = msgspec.structs.replace(here, version=each.api_version.rpartition("/")[2])
    if problems:
        raise UnknownKinds("\n".join(problems.values()))
    return tuple(
        Placed(
            _in_namespace(each, kinds[each.api_version, each.kind], cluster.default_namespace),
            kinds[each.api_version, each.kind],
            (each.key.group, each.kind) in defined,
        )
        for each in manifests
    )


def _in_namespace(manifest: Manifest, kind: Kind, default: str) -> Manifest:
    if not kind.namespaced:
        return (
            remade(manifest, lambda body: without(body, ("metadata", "namespace"))) if manifest.namespace else manifest
        )
    if manifest.namespace:
        return manifest
    return remade(manifest, lambda body: with_part(body, ("metadata", "namespace"), default))


def _defined(manifests: Iterable[Manifest]) -> Iterable[Kind]:
    """The kinds that the manifests define; of which version is left open."""
    for each in manifests:
        if each.kind == "CustomResourceDefinition" and each.key.group == _DEFINITIONS:
            spec = each.body.get("spec")
            yield Kind(
                group=str(part(spec, "group") or ""),
                version="",
                kind=str(part(spec, "names", "kind") or ""),
                plural=str(part(spec, "names", "plural") or ""),
                namespaced=part(spec, "scope") != "Cluster",
            )
