"""What is shown of a deploy target that nobody can look at: that and why, since when, and below it what was seen last.

What was seen last may be as well as before, or gone; so nothing of it counts as healthy.
"""

from collections.abc import Iterable
from datetime import datetime

import msgspec

from fairway.clock import Clock, SystemClock
from fairway.errors import FairwayError
from fairway.kube.errors import BadAccess, ClusterAway, CredentialsRefused
from fairway.model.live_state import Health, Resource

#: How a tree calls a deploy target.
TYPE = "DeployTarget"


class Unseen:
    """Which deploy targets cannot be looked at."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        #: By name.
        self._since: dict[str, datetime] = {}

    def seen(self, target: str) -> None:
        """A deploy target could be looked at."""
        self._since.pop(target, None)

    def tree(self, target: str, why: str, last: Iterable[Resource] = ()) -> tuple[Resource, ...]:
        """A deploy target that cannot be looked at, and what was seen there last."""
        return unseen(target, why, self._since.setdefault(target, self._clock.now()), last)


def hides(error: FairwayError) -> bool:
    """Whether what runs cannot be seen for an error; one in the manifests, for example, hides nothing."""
    return isinstance(error, ClusterAway | CredentialsRefused | BadAccess)


def unseen(target: str, why: str, since: datetime, last: Iterable[Resource]) -> tuple[Resource, ...]:
    """The tree of a deploy target that cannot be looked at since then."""
    below = tuple(last)
    root = Resource(
        id=f"deploy-target:{target}",
        name=target,
        type=TYPE,
        health_description=f"not known since {since:%Y-%m-%d %H:%M:%S} UTC: {why.removeprefix(f'{target}: ')}"
        + ("; below it is what was seen last" if below else ""),
        deploy_target=target,
        created_at=since,
    )
    return (root, *(_last_seen(each, root.id) for each in below))


def _last_seen(resource: Resource, root: str) -> Resource:
    was = "last seen" if resource.health is Health.UNKNOWN else f"last seen {resource.health.value}"
    return msgspec.structs.replace(
        resource,
        parent_ids=resource.parent_ids or (root,),
        health=Health.UNKNOWN,
        health_description=f"{was}: {resource.health_description}" if resource.health_description else was,
    )
