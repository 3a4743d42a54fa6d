"""Which objects go to which cluster."""

import pytest

from fairway.config.agent_file import DeployTarget
from fairway.config.platforms import ResourceReference, ResourceRoute, TargetSelector
from fairway.plugins.kubernetes.routes import NoSuchTarget, all_targets, routed_to
from tests.unit.plugins.kubernetes.builders import a_config_map, a_deployment, a_service

OWN = DeployTarget(name="own")
TOKYO = DeployTarget(name="tokyo", labels={"region": "asia"})
OSAKA = DeployTarget(name="osaka", labels={"region": "asia"})
KNOWN = (OWN, TOKYO, OSAKA)
MANIFESTS = (a_deployment("web"), a_service("web"), a_config_map("settings"))


def a_route(kind: str = "", name: str = "", *, to: str = "", **labels: str) -> ResourceRoute:
    match = ResourceReference(kind=kind, name=name) if kind or name else None
    return ResourceRoute(provider=TargetSelector(name=to, labels=labels), match=match)


def kinds_at(target: DeployTarget, *routes: ResourceRoute) -> list[str]:
    return [each.kind for each in routed_to(MANIFESTS, target, [OWN], routes)]


def test_without_routes_everything_goes_where_the_application_goes() -> None:
    assert routed_to(MANIFESTS, OWN, [OWN], ()) == MANIFESTS
    assert all_targets([OWN], (), KNOWN) == (OWN,)


def test_the_first_route_that_fits_decides_and_what_none_fits_stays() -> None:
    """Defect 30 of PipeCD: each cluster knows what goes to it, also when nothing is applied."""
    routes = (
        a_route("ConfigMap", region="asia"),
        a_route("ConfigMap", to="own"),
        a_route("Service", "web", to="tokyo"),
    )

    assert [kinds_at(each, *routes) for each in KNOWN] == [["Deployment"], ["Service", "ConfigMap"], ["ConfigMap"]]
    assert all_targets([OWN], routes, KNOWN) == KNOWN


def test_a_route_without_a_match_takes_everything() -> None:
    assert kinds_at(OWN, a_route(to="tokyo")) == []
    assert len(kinds_at(TOKYO, a_route(to="tokyo"))) == 3


def test_a_route_that_leads_nowhere_is_refused() -> None:
    with pytest.raises(NoSuchTarget, match="leads to kyoto, which this agent does not have; it has own, tokyo, osaka"):
        all_targets([OWN], [a_route(to="kyoto")], KNOWN)
