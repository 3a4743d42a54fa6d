"""Canary, baseline and the label that tells them from the primary: manifests made of manifests.

A variant is a copy of the application's Deployments beside them, with another name, its own number of replicas and a
label of its own in selector and pods; with copies of the ConfigMaps and Secrets, so that both versions of the
configuration are there at once. Autoscalers and disruption budgets stay the primary's.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from fairway.config.platforms import ResourceReference
from fairway.config.scalars import Replicas
from fairway.errors import UserError
from fairway.kube.manifest import Body, Manifest
from fairway.plugins.kubernetes.parts import part, remade, with_entries, with_part, without
from fairway.plugins.kubernetes.shaping.references import renamed_references

DEPLOYMENT: Final = "Deployment"
#: What only a Service that is reached from outside may have, or what only one Service may have.
_OUTSIDE: Final = (
    "allocateLoadBalancerNodePorts",
    "externalIPs",
    "externalTrafficPolicy",
    "healthCheckNodePort",
    "loadBalancerClass",
    "loadBalancerIP",
    "loadBalancerSourceRanges",
)


class NoVariant(UserError):
    """Manifests of which no variant can be made."""


class Variant(msgspec.Struct, frozen=True, kw_only=True):
    """Which copy is made."""

    #: The label and its value.
    key: str
    value: str
    #: What the names of the copies end with.
    suffix: str

    def name(self, original: str) -> str:
        """What a copy is called."""
        return f"{original}-{self.suffix}"


def found_workloads(manifests: Sequence[Manifest], wanted: Sequence[ResourceReference]) -> tuple[Manifest, ...]:
    """The workloads that the application names, or all Deployments; NoVariant when one that it names is not there."""
    if not wanted:
        return tuple(each for each in manifests if is_kind(each, "apps", DEPLOYMENT))
    found: dict[int, Manifest] = {}
    for reference in wanted:
        kind = reference.kind or DEPLOYMENT
        fitting = [each for each in manifests if each.kind == kind and reference.name in ("", each.name)]
        if not fitting:
            raise NoVariant(_missing("workloads", kind, reference.name, manifests))
        found |= {id(each): each for each in fitting}
    return tuple(each for each in manifests if id(each) in found)


def found_services(manifests: Sequence[Manifest], wanted: ResourceReference) -> tuple[Manifest, ...]:
    """The Service that the application names, or all of them; NoVariant when there is none."""
    services = [each for each in manifests if is_kind(each, "", "Service") and wanted.name in ("", each.name)]
    if not services:
        raise NoVariant(_missing("service", "Service", wanted.name, manifests))
    return tuple(services)


def with_selector_label(
    manifests: Sequence[Manifest], chosen: Sequence[Manifest], label: Mapping[str, str]
) -> tuple[Manifest, ...]:
    """The manifests, the chosen workloads among them with the label in their selectors and pods."""
    ids = {id(each) for each in chosen}
    return tuple(remade(each, lambda body: _labelled(body, label)) if id(each) in ids else each for each in manifests)


def lacks_selector_label(manifest: Manifest, label: Mapping[str, str]) -> bool:
    """Whether a workload's selector or pods are without the label."""
    places = (("spec", "selector", "matchLabels"), ("spec", "template", "metadata", "labels"))
    return any(
        (part(manifest.body, *place) or {}).get(key) != value for place in places for key, value in label.items()
    )


def only_label_differs(one: Body, other: Body, key: str) -> bool:
    """Whether the selectors of two workloads are the same but for a label that one of them has."""
    selectors = [part(each, "spec", "selector") or {} for each in (one, other)]
    having = [key in (part(each, "matchLabels") or {}) for each in selectors]
    bare = [without(each, ("matchLabels", key)) for each in selectors]
    return having[0] != having[1] and bare[0] == bare[1]


def variant_service(manifest: Manifest, variant: Variant) -> Manifest:
    """A Service of its own for a variant, inside the cluster."""
    if part(manifest.body, "spec", "type") == "ExternalName":
        raise NoVariant(f"Service {manifest.name} is of type ExternalName and selects no pods; no variant can be made")

    def change(body: Body) -> Body:
        spec = {name: value for name, value in (body.get("spec") or {}).items() if name not in _OUTSIDE}
        if spec.get("clusterIP") != "None":
            # An address that somebody asked for is the original's.
            spec = {name: value for name, value in spec.items() if name not in ("clusterIP", "clusterIPs")}
        spec["type"] = "ClusterIP"
        spec["selector"] = {**(spec.get("selector") or {}), variant.key: variant.value}
        if isinstance(spec.get("ports"), list | tuple):
            spec["ports"] = [without(port, ("nodePort",)) for port in spec["ports"]]
        return with_part(_renamed(body, variant), ("spec",), spec)

    return remade(manifest, change)


def variant_config(manifest: Manifest, variant: Variant) -> Manifest:
    """A copy of a ConfigMap or Secret."""
    return remade(manifest, lambda body: _renamed(body, variant))


def variant_workload(
    manifest: Manifest, variant: Variant, replicas: int, copied: Callable[[str, str], bool]
) -> Manifest:
    """A copy of a Deployment; `copied` tells of kind and name whether the variant has a copy of that configuration."""
    if not is_kind(manifest, "apps", DEPLOYMENT):
        raise NoVariant(
            f"{manifest.kind} {manifest.name} cannot run beside itself: variants are made of Deployments only; "
            "name the Deployments under `workloads` of the application"
        )

    def new_name(kind: str, name: str) -> str:
        return variant.name(name) if copied(kind, name) else name

    def change(body: Body) -> Body:
        body = _labelled(_renamed(body, variant), {variant.key: variant.value})
        body = with_part(body, ("spec", "replicas"), replicas)
        pod = renamed_references(part(body, "spec", "template", "spec") or {}, new_name)
        return with_part(body, ("spec", "template", "spec"), pod)

    return remade(manifest, change)


def variant_manifests(
    manifests: Sequence[Manifest],
    workloads: Sequence[Manifest],
    services: Sequence[Manifest],
    variant: Variant,
    replicas: Callable[[Manifest], int],
) -> tuple[Manifest, ...]:
    """Everything that a variant consists of."""
    if not workloads:
        raise NoVariant(
            "there is no Deployment among the manifests to make a variant of"
            + (f"; found {_kinds(manifests)}" if manifests else "; there are no manifests at all")
        )
    configs = [each for each in manifests if is_kind(each, "", "ConfigMap") or is_kind(each, "", "Secret")]
    copied = {(each.kind, each.namespace, each.name) for each in configs}
    made = [variant_service(each, variant) for each in services]
    made += [variant_config(each, variant) for each in configs]
    for each in workloads:
        namespace = each.namespace

        def has_copy(kind: str, name: str, namespace: str = namespace) -> bool:
            return (kind, namespace, name) in copied

        made.append(variant_workload(each, variant, replicas(each), has_copy))
    return tuple(made)


def replicas_of(wanted: Replicas, workload: Manifest, live_replicas: int | None) -> int:
    """How many copies a variant has: a number, or a share of the workload's own.

    Where an autoscaler sets that number, `live_replicas` says what it is now.
    """
    if not wanted.is_percentage:
        return max(1, wanted.number)
    written = part(workload.body, "spec", "replicas")
    primary = live_replicas if live_replicas is not None else written if isinstance(written, int) else 1
    return max(1, math.ceil(wanted.of(primary)))


def is_kind(manifest: Manifest, group: str, kind: str) -> bool:
    """Whether a manifest is of a kind of one group; another group may have a kind of the same name."""
    return manifest.kind == kind and manifest.key.group == group


def _renamed(body: Body, variant: Variant) -> dict[str, Any]:
    return with_part(body, ("metadata", "name"), variant.name(str(part(body, "metadata", "name"))))


def _labelled(body: Body, label: Mapping[str, str]) -> dict[str, Any]:
    body = with_entries(body, ("spec", "selector", "matchLabels"), label)
    return with_entries(body, ("spec", "template", "metadata", "labels"), label)


def _missing(option: str, kind: str, name: str, manifests: Sequence[Manifest]) -> str:
    what = f"{kind} {name}" if name else f"{kind}"
    there = sorted(each.name for each in manifests if each.kind == kind)
    found = f"of that kind there {'are' if len(there) > 1 else 'is'} {', '.join(there)}" if there else "there is none"
    return f"`{option}` of the application asks for {what}, which is not among its manifests; {found}"


def _kinds(manifests: Sequence[Manifest]) -> str:
    return ", ".join(sorted({each.kind for each in manifests}))
