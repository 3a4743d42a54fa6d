"""Who gets how much traffic, as manifests: a Service's selector, an Istio VirtualService, or an SMI TrafficSplit.

Pure: the manifest of Git goes in, the one to apply comes out. Whatever is not about the application's own host stays as
its author wrote it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from fairway.config.platforms import KubernetesSpec, ResourceReference, VariantLabel
from fairway.errors import UserError
from fairway.kube.manifest import Body, Manifest
from fairway.plugins.kubernetes.parts import part, remade, with_part
from fairway.plugins.kubernetes.shaping.variants import is_kind
from fairway.plugins.kubernetes.shaping.weights import rounding, weights

ISTIO_GROUP: Final = "networking.istio.io"
SMI_GROUP: Final = "split.smi-spec.io"
_WHOLE: Final = 100


class CannotRoute(UserError):
    """Traffic that cannot be shared out as asked."""


class Shares(msgspec.Struct, frozen=True):
    """The share of each variant, of a hundred."""

    primary: float
    canary: float = 0.0
    baseline: float = 0.0

    @property
    def each(self) -> tuple[float, float, float]:
        """Those of primary, canary and baseline."""
        return self.primary, self.canary, self.baseline

    def __str__(self) -> str:
        return f"Primary: {self.primary:g}%, Canary: {self.canary:g}%, Baseline: {self.baseline:g}%"


def router(manifests: Sequence[Manifest], spec: KubernetesSpec) -> Manifest:
    """The one manifest that shares out the traffic; CannotRoute when it is not there."""
    method = spec.traffic_routing.method
    if method == "istio":
        wanted = spec.traffic_routing.istio.virtual_service if spec.traffic_routing.istio else ResourceReference()
        return _found(manifests, ISTIO_GROUP, "VirtualService", wanted.name)
    if method == "smi":
        return _found(manifests, SMI_GROUP, "TrafficSplit", "")
    return _found(manifests, "", "Service", spec.service.name)


def find_router(manifests: Sequence[Manifest], spec: KubernetesSpec) -> Manifest | None:
    """As `router`; None when it is not there."""
    try:
        return router(manifests, spec)
    except CannotRoute:
        return None


def routed(
    manifests: Sequence[Manifest], spec: KubernetesSpec, shares: Shares, suffixes: Mapping[str, str] | None = None
) -> Manifest:
    """The manifest that shares out the traffic so; `suffixes` are those of the variants' own Services."""
    manifest = router(manifests, spec)
    if spec.traffic_routing.method == "istio":
        return _by_istio(manifest, spec, shares, _host(manifests, spec))
    if spec.traffic_routing.method == "smi":
        return _by_smi(manifest, shares, {**_default_suffixes(spec.variant_label), **(suffixes or {})})
    return _by_pod_selector(manifest, spec.variant_label, shares)


def roundings(
    made: Manifest,
    manifests: Sequence[Manifest],
    spec: KubernetesSpec,
    shares: Shares,
    suffixes: Mapping[str, str] | None = None,
) -> tuple[str, ...]:
    """Of what `routed` has made: where the weights are not quite the shares that were asked for, and what they are."""
    if made in manifests or spec.traffic_routing.method == "podselector":
        return ()
    if spec.traffic_routing.method == "smi":
        names = _backends(made, {**_default_suffixes(spec.variant_label), **(suffixes or {})})
        given = {each.get("service"): int(each.get("weight") or 0) for each in part(made.body, "spec", "backends")}
        told = [rounding(f"TrafficSplit {made.name}", shares.each, [given.get(each, 0) for each in names])]
    else:
        told = [
            _istio_rounding(made, route, spec, shares, _host(manifests, spec))
            for route in part(made.body, "spec", "http")
            if _is_editable(route, spec)
        ]
    return tuple(filter(None, told))


def _is_editable(route: Body, spec: KubernetesSpec) -> bool:
    """Whether `editableRoutes` lets a route be changed."""
    editable = spec.traffic_routing.istio.editable_routes if spec.traffic_routing.istio else ()
    return not editable or part(route, "name") in editable


def _istio_rounding(made: Manifest, route: Body, spec: KubernetesSpec, shares: Shares, host: str) -> str:
    ours = [each for each in part(route, "route") or () if _sends_to(each, host, made.namespace)]
    given = {part(each, "destination", "subset"): int(each.get("weight") or 0) for each in ours}
    if not ours or not given.keys() <= {*_values(spec.variant_label)}:
        # Not one that was changed.
        return ""
    of = f"route {route['name']} of " if route.get("name") else ""
    name = f"{of}VirtualService {made.name}"
    return rounding(
        name[0].upper() + name[1:], shares.each, [given.get(each, 0) for each in _values(spec.variant_label)]
    )


def live_selector(manifest: Manifest, live: Body | None, label: VariantLabel) -> Manifest:
    """A Service of Git that goes on selecting the variant that it selects now."""
    current = part(live, "spec", "selector", label.key) if live else None
    if current not in (label.canary_value, label.baseline_value):
        return manifest
    return remade(manifest, lambda body: with_part(body, ("spec", "selector", label.key), current))


def _found(manifests: Sequence[Manifest], group: str, kind: str, name: str) -> Manifest:
    there = [each for each in manifests if is_kind(each, group, kind)]
    fitting = [each for each in there if name in ("", each.name)]
    if fitting:
        return fitting[0]
    what = f"{kind} {name}" if name else f"{kind} of {group}" if group else kind
    names = ", ".join(each.name for each in there)
    raise CannotRoute(
        f"there is no {what} among the manifests to share out the traffic with"
        + (f"; there is {names}" if there else "")
    )


def _by_pod_selector(manifest: Manifest, label: VariantLabel, shares: Shares) -> Manifest:
    chosen = {label.primary_value: shares.primary, label.canary_value: shares.canary}
    full = [value for value, share in chosen.items() if share == _WHOLE]
    if not full:
        raise CannotRoute(
            f"a Service selects the primary or the canary, it cannot send {shares}; write `all: primary` or "
            "`all: canary`, or set trafficRouting.method to istio or smi"
        )
    if part(manifest.body, "spec", "selector", label.key) != label.primary_value:
        raise CannotRoute(
            f"Service {manifest.name} does not select {label.key}: {label.primary_value}; write that into its "
            "spec.selector, so that it can be changed to another variant"
        )
    return remade(manifest, lambda body: with_part(body, ("spec", "selector", label.key), full[0]))


def _host(manifests: Sequence[Manifest], spec: KubernetesSpec) -> str:
    """To which host the traffic goes that is shared out."""
    istio = spec.traffic_routing.istio
    if istio and istio.host:
        return istio.host
    if spec.service.name:
        return spec.service.name
    services = [each for each in manifests if is_kind(each, "", "Service")]
    if not services:
        raise CannotRoute("trafficRouting.istio.host is missing, and there is no Service among the manifests")
    return services[0].name


def _by_istio(manifest: Manifest, spec: KubernetesSpec, shares: Shares, host: str) -> Manifest:
    editable = spec.traffic_routing.istio.editable_routes if spec.traffic_routing.istio else ()
    routes = part(manifest.body, "spec", "http") or []
    names = [part(each, "name") for each in routes]
    missing = [each for each in editable if each not in names]
    if missing:
        raise CannotRoute(
            f"VirtualService {manifest.name} has no http route {', '.join(missing)}; editableRoutes names routes that "
            f"it has: {', '.join(str(each) for each in names if each) or 'none has a name'}"
        )

    def is_ours(destination: Any) -> bool:
        return _sends_to(destination, host, manifest.namespace)

    chosen = [(each, _is_editable(each, spec)) for each in routes]
    if not any(is_ours(to) for route, edit in chosen if edit for to in part(route, "route") or ()):
        hosts = {str(part(to, "destination", "host")) for route in routes for to in part(route, "route") or ()}
        raise CannotRoute(
            f"no route of VirtualService {manifest.name} that may be changed sends to {host}; it sends to "
            f"{', '.join(sorted(hosts)) or 'nobody'}; name the right one as trafficRouting.istio.host"
        )
    if shares.primary == _WHOLE and not any(_favours_a_variant(route, spec.variant_label, is_ours) for route in routes):
        # As its author wrote it, so that it does not differ from Git afterwards.
        return manifest
    changed = [_istio_route(route, spec.variant_label, shares, is_ours) if edit else route for route, edit in chosen]
    return remade(manifest, lambda body: with_part(body, ("spec", "http"), changed))


def _istio_route(route: Body, label: VariantLabel, shares: Shares, is_ours: Callable[[Any], bool]) -> Body:
    destinations = part(route, "route") or ()
    ours = [each for each in destinations if is_ours(each)]
    if not ours:
        return route
    others = [each for each in destinations if not is_ours(each)]
    # A single destination without a weight gets everything; beside others it gets nothing.
    left = _WHOLE - sum(int(each.get("weight") or 0) for each in others)
    if left < 0:
        raise CannotRoute(f"a route sends {_WHOLE - left} % of the traffic to other hosts; expected 100 at most")
    subsets = zip(_values(label), weights(shares.each, left), strict=True)
    made = [_istio_destination(ours, subset, weight) for subset, weight in subsets if weight > 0]
    return {**route, "route": [*made, *others]}


def _favours_a_variant(route: Body, label: VariantLabel, is_ours: Callable[[Any], bool]) -> bool:
    """Whether a route of Git itself sends traffic to canary or baseline."""
    destinations = [each for each in part(route, "route") or () if is_ours(each)]
    variants = [
        each
        for each in destinations
        if part(each, "destination", "subset") in (label.canary_value, label.baseline_value)
    ]
    return any(each.get("weight") or len(destinations) == 1 for each in variants)


def _istio_destination(ours: Sequence[Body], subset: str, weight: int) -> Body:
    """One destination; what its author wrote beside the weight, such as headers, stays."""
    model = next((each for each in ours if part(each, "destination", "subset") == subset), ours[0])
    return {**with_part(model, ("destination", "subset"), subset), "weight": weight}


def _sends_to(destination: Any, host: str, namespace: str) -> bool:
    return same_host(str(part(destination, "destination", "host") or ""), host, namespace)


def same_host(one: str, other: str, namespace: str) -> bool:
    """Whether two names mean the same host: short names mean one of the namespace."""
    return _full_host(one, namespace) == _full_host(other, namespace)


def _full_host(host: str, namespace: str) -> str:
    labels = host.rstrip(".").split(".")
    if len(labels) == 1:
        labels.append(namespace or "default")
    if len(labels) == 2:
        labels.append("svc")
    if labels[2:] == ["svc"]:
        labels += ["cluster", "local"]
    return ".".join(labels)


def _default_suffixes(label: VariantLabel) -> dict[str, str]:
    return {value: value for value in _values(label)}


def _values(label: VariantLabel) -> tuple[str, str, str]:
    return label.primary_value, label.canary_value, label.baseline_value


def _backends(manifest: Manifest, suffixes: Mapping[str, str]) -> list[str]:
    """The Services of primary, canary and baseline."""
    return [f"{part(manifest.body, 'spec', 'service')}-{suffix}" for suffix in suffixes.values()]


def _by_smi(manifest: Manifest, shares: Shares, suffixes: Mapping[str, str]) -> Manifest:
    service = str(part(manifest.body, "spec", "service") or "")
    if not service:
        raise CannotRoute(f"TrafficSplit {manifest.name} has no spec.service; write the Service that it stands for")
    backends = part(manifest.body, "spec", "backends") or []
    names = _backends(manifest, suffixes)
    others = [each for each in backends if each.get("service") not in names]
    left = _WHOLE - sum(int(each.get("weight") or 0) for each in others)
    if left < 0:
        raise CannotRoute(
            f"TrafficSplit {manifest.name} sends {_WHOLE - left} % to other backends; expected 100 at most"
        )
    made = []
    for name, weight in zip(names, weights(shares.each, left), strict=True):
        before: Body = next((each for each in backends if each.get("service") == name), {"service": name})
        if weight > 0 or "weight" in before:
            made.append({**before, "weight": weight})
    return remade(manifest, lambda body: with_part(body, ("spec", "backends"), [*made, *others]))
