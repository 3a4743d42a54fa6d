"""Changes since a picture of what runs, drawn into that picture: pure.

Agents of the older generation send a whole picture every ten minutes and, for Kubernetes, the changes in between. A
change carries the version of the picture that has it; one that is older than what is stored is already in there.
"""

from collections.abc import Iterable

import msgspec

from fairway.model.live_state import Health, LiveState, ResourceChange, ResourceEvent


def apply_events(state: LiveState, events: Iterable[ResourceEvent]) -> LiveState:
    """The state with the changes that are not in it yet, in the order of their versions."""
    resources = {resource.id: resource for resource in state.resources}
    version = state.version
    for event in sorted(events, key=lambda event: event.snapshot_version):
        if event.snapshot_version < version:
            continue
        version = event.snapshot_version
        if event.change is ResourceChange.DELETED:
            resources.pop(event.resource.id, None)
        else:
            resources[event.resource.id] = event.resource
    found = tuple(resources.values())
    if found == state.resources and version == state.version:
        return state
    health = _whole_health(resource.health for resource in found)
    return msgspec.structs.replace(state, resources=found, version=version, health=health)


def _whole_health(parts: Iterable[Health]) -> Health:
    """The whole is as well as the worst of its parts; nothing is well."""
    found = set(parts)
    for health in (Health.UNHEALTHY, Health.OTHER, Health.UNKNOWN):
        if health in found:
            return health
    return Health.HEALTHY
