"""Who gets how much traffic, as manifests."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.config.platforms import IstioRouting, KubernetesSpec, ResourceReference, TrafficRouting, VariantLabel
from fairway.kube.manifest import Manifest
from fairway.plugins.kubernetes.parts import part
from fairway.plugins.kubernetes.shaping.traffic import CannotRoute, Shares, live_selector, roundings, routed, same_host
from tests.unit.plugins.kubernetes.builders import a_service, an_object

BY_SELECTOR = KubernetesSpec()
BY_ISTIO = KubernetesSpec(traffic_routing=TrafficRouting(method="istio", istio=IstioRouting(host="web")))
BY_SMI = KubernetesSpec(traffic_routing=TrafficRouting(method="smi"))
PRIMARY = {"app": "web", "pipecd.dev/variant": "primary"}


def to(host: str, subset: str = "", weight: int | None = None, **more: Any) -> dict[str, Any]:
    destination = {"host": host, **({"subset": subset} if subset else {})}
    return {"destination": destination, **({"weight": weight} if weight is not None else {}), **more}


def a_virtual_service(*routes: Mapping[str, Any], name: str = "web", version: str = "v1beta1") -> Manifest:
    spec = {"hosts": ["web"], "http": list(routes), "tcp": [{"route": [to("db")]}]}
    return an_object(f"networking.istio.io/{version}", "VirtualService", name, spec=spec)


def http_of(manifest: Manifest) -> Any:
    return part(manifest.body, "spec", "http")


@pytest.mark.parametrize(
    ("shares", "value"),
    [
        pytest.param(Shares(100), "primary", id="primary"),
        pytest.param(Shares(0, 100), "canary", id="canary"),
    ],
)
def test_a_service_selects_the_variant_that_gets_everything(shares: Shares, value: str) -> None:
    made = routed([a_service(selector=PRIMARY)], BY_SELECTOR, shares)

    assert made == a_service(selector={**PRIMARY, "pipecd.dev/variant": value})


@pytest.mark.parametrize("shares", [Shares(90, 10), Shares(0, 0, 100)])
def test_a_service_cannot_share_out_traffic_nor_select_the_baseline(shares: Shares) -> None:
    """Defect 21 of PipeCD: percentages that cannot be were not refused."""
    with pytest.raises(CannotRoute, match=f"it cannot send {shares}"):
        routed([a_service(selector=PRIMARY)], BY_SELECTOR, shares)


def test_a_service_that_does_not_select_the_primary_is_refused() -> None:
    with pytest.raises(CannotRoute, match=r"Service web does not select pipecd\.dev/variant: primary"):
        routed([a_service()], BY_SELECTOR, Shares(0, 100))


def test_the_service_that_is_named_is_the_one() -> None:
    spec = KubernetesSpec(service=ResourceReference(name="api"))

    with pytest.raises(CannotRoute, match=r"there is no Service api among the manifests.*; there is web"):
        routed([a_service("web")], spec, Shares(100))


@pytest.mark.parametrize("version", ["v1alpha3", "v1beta1", "v1"])
def test_istio_gets_a_destination_for_each_variant_with_its_weight(version: str) -> None:
    manifest = a_virtual_service({"route": [to("web", "primary", 100)]}, version=version)

    made = routed([manifest], BY_ISTIO, Shares(60, 30, 10))

    weighted = [to("web", "primary", 60), to("web", "canary", 30), to("web", "baseline", 10)]
    assert made == a_virtual_service({"route": weighted}, version=version)


def test_other_hosts_keep_their_weight_and_go_last() -> None:
    manifest = a_virtual_service({"route": [to("legacy", weight=20), to("web", "primary", 80)]})

    made = routed([manifest], BY_ISTIO, Shares(50, 50))

    assert http_of(made) == [{"route": [to("web", "primary", 40), to("web", "canary", 40), to("legacy", weight=20)]}]


def test_what_stands_beside_a_destination_stays() -> None:
    """Defect 21 of PipeCD: headers of a destination were lost."""
    headers = {"request": {"set": {"x": "1"}}}
    manifest = a_virtual_service({"timeout": "5s", "route": [to("web", "primary", 100, headers=headers)]})

    made = routed([manifest], BY_ISTIO, Shares(90, 10))

    weighted = [to("web", "primary", 90, headers=headers), to("web", "canary", 10, headers=headers)]
    assert http_of(made) == [{"timeout": "5s", "route": weighted}]


def test_only_editable_routes_are_changed() -> None:
    routing = TrafficRouting(method="istio", istio=IstioRouting(host="web", editable_routes=("main",)))
    other = {"name": "other", "route": [to("web", "primary", 100)]}
    manifest = a_virtual_service({"name": "main", "route": [to("web", "primary", 100)]}, other)

    made = routed([manifest], KubernetesSpec(traffic_routing=routing), Shares(90, 10))

    weighted = [to("web", "primary", 90), to("web", "canary", 10)]
    assert http_of(made) == [{"name": "main", "route": weighted}, other]


def test_routes_and_hosts_that_are_not_there_are_told_with_those_that_are() -> None:
    manifest = a_virtual_service({"name": "main", "route": [to("web")]})
    no_route = TrafficRouting(method="istio", istio=IstioRouting(host="web", editable_routes=("other",)))
    no_host = TrafficRouting(method="istio", istio=IstioRouting(host="api"))

    with pytest.raises(CannotRoute, match="has no http route other; editableRoutes names routes that it has: main"):
        routed([manifest], KubernetesSpec(traffic_routing=no_route), Shares(90, 10))
    with pytest.raises(CannotRoute, match="sends to api; it sends to web; name the right one"):
        routed([manifest], KubernetesSpec(traffic_routing=no_host), Shares(90, 10))


def test_without_a_host_the_service_is_the_host() -> None:
    """Defect 22 of PipeCD, whose older agents know `istio.host` only and whose newer ones the Service only."""
    spec = KubernetesSpec(traffic_routing=TrafficRouting(method="istio"))
    manifest = a_virtual_service({"route": [to("web", "primary", 100)]})

    made = routed([a_service("web"), manifest], spec, Shares(0, 100))

    assert http_of(made) == [{"route": [to("web", "canary", 100)]}]


def test_the_virtual_service_that_is_named_is_the_one() -> None:
    istio = IstioRouting(host="web", virtual_service=ResourceReference(name="second"))
    spec = KubernetesSpec(traffic_routing=TrafficRouting(method="istio", istio=istio))
    route = {"route": [to("web", "primary", 100)]}

    made = routed([a_virtual_service(route), a_virtual_service(route, name="second")], spec, Shares(0, 100))

    assert made.name == "second"


def test_all_for_the_primary_is_what_git_says() -> None:
    manifest = a_virtual_service({"route": [to("web", "primary", 100), to("web", "canary", 0)]})

    assert routed([manifest], BY_ISTIO, Shares(100)) is manifest


def test_all_for_the_primary_is_so_also_where_git_says_otherwise() -> None:
    manifest = a_virtual_service({"route": [to("web", "primary", 50), to("web", "canary", 50)]})

    assert http_of(routed([manifest], BY_ISTIO, Shares(100))) == [{"route": [to("web", "primary", 100)]}]


_PERCENT = st.integers(0, 100)


@given(_PERCENT, _PERCENT, _PERCENT)
def test_weights_always_make_a_hundred_and_none_is_negative(canary: int, baseline: int, others: int) -> None:
    canary = min(canary, 100 - min(baseline, 100))
    shares = Shares(100 - canary - min(baseline, 100 - canary), canary, min(baseline, 100 - canary))
    manifest = a_virtual_service({"route": [to("web", "primary", 100 - others), to("legacy", weight=others)]})

    (route,) = http_of(routed([manifest], BY_ISTIO, shares))

    weights = [each["weight"] for each in route["route"]]
    assert sum(weights) == 100
    assert min(weights) >= 0


@given(_PERCENT, st.integers(1, 99), _PERCENT)
def test_a_share_is_never_rounded_away_where_there_is_room(others: int, canary: int, baseline: int) -> None:
    baseline = min(baseline, 99 - canary)
    manifest = a_virtual_service({"route": [to("web", "primary", 100 - others), to("legacy", weight=others)]})

    (route,) = http_of(routed([manifest], BY_ISTIO, Shares(100 - canary - baseline, canary, baseline)))

    asked = [100 - canary - baseline, canary, baseline]
    weights = {each["destination"].get("subset"): each["weight"] for each in route["route"]}
    given = [weights.get(each, 0) for each in ("primary", "canary", "baseline")]
    assert len(list(filter(None, given))) == min(len(list(filter(None, asked))), 100 - others)
    assert all(abs(each - share * (100 - others) / 100) < 2 for each, share in zip(given, asked, strict=True))


def test_a_small_share_beside_another_host_has_a_destination_and_what_was_set_is_told() -> None:
    manifest = a_virtual_service({"name": "main", "route": [to("web", "primary", 70), to("legacy", weight=30)]})

    made = routed([manifest], BY_ISTIO, Shares(99, 1))

    weighted = [to("web", "primary", 69), to("web", "canary", 1), to("legacy", weight=30)]
    assert http_of(made) == [{"name": "main", "route": weighted}]
    assert roundings(made, [manifest], BY_ISTIO, Shares(99, 1)) == (
        "Route main of VirtualService web: weights are whole numbers, so of the 70 that are not for others there go "
        "69 to the primary, 1 to the canary",
    )


def test_weights_of_routes_that_may_not_be_changed_are_not_told() -> None:
    routes = [{"name": name, "route": [to("web", "primary", 70), to("legacy", weight=30)]} for name in ("main", "rest")]
    manifest = a_virtual_service(*routes)
    istio = IstioRouting(host="web", editable_routes=("main",))
    spec = KubernetesSpec(traffic_routing=TrafficRouting(method="istio", istio=istio))
    made = routed([manifest], spec, Shares(99, 1))

    (told,) = roundings(made, [manifest], spec, Shares(99, 1))

    assert told.startswith("Route main of VirtualService web: ")


def test_weights_that_are_just_what_was_asked_for_are_not_told() -> None:
    manifest = a_virtual_service({"route": [to("web", "primary", 80), to("legacy", weight=20)]})
    made = routed([manifest], BY_ISTIO, Shares(50, 50))

    assert roundings(made, [manifest], BY_ISTIO, Shares(50, 50)) == ()


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        pytest.param("web", "web", True, id="short names"),
        pytest.param("web", "web.shop", True, id="with its namespace"),
        pytest.param("web", "web.shop.svc.cluster.local", True, id="in full"),
        pytest.param("web", "web.other.svc.cluster.local", False, id="of another namespace"),
        pytest.param("example.com", "example.org", False, id="outside"),
    ],
)
def test_hosts_are_the_same_however_they_are_written(one: str, other: str, same: bool) -> None:
    assert same_host(one, other, "shop") is same


def a_split(*backends: dict[str, Any]) -> Manifest:
    return an_object(
        "split.smi-spec.io/v1alpha2", "TrafficSplit", "web", spec={"service": "web", "backends": list(backends)}
    )


def test_a_traffic_split_gets_a_backend_for_each_variant_with_its_weight() -> None:
    manifest = a_split({"service": "web-primary", "weight": 100}, {"service": "legacy", "weight": 0})

    made = routed([manifest], BY_SMI, Shares(70, 20, 10))

    assert made == a_split(
        {"service": "web-primary", "weight": 70},
        {"service": "web-canary", "weight": 20},
        {"service": "web-baseline", "weight": 10},
        {"service": "legacy", "weight": 0},
    )


def test_a_small_share_of_a_traffic_split_is_not_rounded_away() -> None:
    manifest = a_split({"service": "web-primary", "weight": 70}, {"service": "legacy", "weight": 30})

    made = routed([manifest], BY_SMI, Shares(98, 1, 1))

    assert made == a_split(
        {"service": "web-primary", "weight": 68},
        {"service": "web-canary", "weight": 1},
        {"service": "web-baseline", "weight": 1},
        {"service": "legacy", "weight": 30},
    )
    assert roundings(made, [manifest], BY_SMI, Shares(98, 1, 1)) == (
        "TrafficSplit web: weights are whole numbers, so of the 70 that are not for others there go "
        "68 to the primary, 1 to the canary, 1 to the baseline",
    )


def test_a_traffic_split_goes_by_the_suffixes_of_the_pipeline() -> None:
    manifest = a_split({"service": "web-primary", "weight": 100})

    made = routed([manifest], BY_SMI, Shares(50, 50), {"canary": "new"})

    assert made == a_split({"service": "web-primary", "weight": 50}, {"service": "web-new", "weight": 50})


@pytest.mark.parametrize(
    ("live", "kept"),
    [
        pytest.param("canary", "canary", id="all to the canary"),
        pytest.param("primary", "primary", id="all to the primary"),
        pytest.param("something", "primary", id="what is none of ours"),
        pytest.param(None, "primary", id="not there yet"),
    ],
)
def test_a_service_can_go_on_selecting_what_it_selects_now(live: str | None, kept: str) -> None:
    body = {"spec": {"selector": {"pipecd.dev/variant": live}}} if live else None

    made = live_selector(a_service(selector=PRIMARY), body, VariantLabel())

    assert part(made.body, "spec", "selector", "pipecd.dev/variant") == kept
