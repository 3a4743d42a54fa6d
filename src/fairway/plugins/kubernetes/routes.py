"""`resourceRoutes` of v0: some of an application's objects go to other clusters than the rest.

The first route that fits an object decides; what none fits goes where the application goes. Each cluster then sees only
what goes to it, for applying, pruning, live state and drift alike.
"""

from collections.abc import Sequence

from fairway.config.agent_file import DeployTarget
from fairway.config.platforms import ResourceReference, ResourceRoute
from fairway.errors import UserError
from fairway.kube.manifest import Manifest
from fairway.plugins.kubernetes.settings import is_selected


class NoSuchTarget(UserError):
    """A deploy target that the agent does not have."""


def all_targets(
    own: Sequence[DeployTarget], routes: Sequence[ResourceRoute], known: Sequence[DeployTarget]
) -> tuple[DeployTarget, ...]:
    """Every deploy target to which something of the application may go; NoSuchTarget when a route leads nowhere."""
    found = {each.name: each for each in own}
    for route in routes:
        led_to = _led_to(route, known)
        if not led_to:
            wanted = route.provider.name or ", ".join(f"{key}={value}" for key, value in route.provider.labels.items())
            names = ", ".join(each.name for each in known) or "none"
            raise NoSuchTarget(f"resourceRoutes leads to {wanted}, which this agent does not have; it has {names}")
        found |= {each.name: each for each in led_to}
    return tuple(found.values())


def routed_to(
    manifests: Sequence[Manifest], target: DeployTarget, own: Sequence[DeployTarget], routes: Sequence[ResourceRoute]
) -> tuple[Manifest, ...]:
    """The manifests that go to one deploy target."""
    is_own = any(each.name == target.name for each in own)

    def goes_here(manifest: Manifest) -> bool:
        for route in routes:
            if _fits(route.match, manifest):
                return is_selected(route.provider, target)
        return is_own

    return tuple(filter(goes_here, manifests))


def _led_to(route: ResourceRoute, known: Sequence[DeployTarget]) -> list[DeployTarget]:
    return [each for each in known if is_selected(route.provider, each)]


def _fits(match: ResourceReference | None, manifest: Manifest) -> bool:
    if match is None:
        return True
    return match.kind in ("", manifest.kind) and match.name in ("", manifest.name)
