"""Objects whose manifests ask to be replaced as a whole, or to be deleted and made anew, rather than applied.

Neither can be had in part: who replaces takes away what people have added, and a Job that is made anew runs again. So a
rollback leaves those alone that are still what the commit has made to which it leads back.
"""

from typing import Any, Final

from fairway.errors import TemporaryError
from fairway.kube.cluster import Cluster
from fairway.kube.errors import AlreadyThere, Conflict, NotThere
from fairway.kube.manifest import Body
from fairway.plugins.kubernetes.anew import Anew
from fairway.plugins.kubernetes.marks import (
    APPLICATION,
    COMMIT,
    FORCE_SYNC_BY_REPLACE,
    SYNC_BY_REPLACE,
    asks_for,
    belongs_to,
    mark,
)
from fairway.plugins.kubernetes.parts import part, with_part
from fairway.plugins.kubernetes.placing import Placed
from fairway.plugins.kubernetes.removing import until_gone

#: How often something is begun again because the object changed meanwhile.
_ATTEMPTS: Final = 5
_ENABLED: Final = "enabled"


def is_replaced(body: Body) -> bool:
    """Whether the author of a manifest has asked for that, one way or the other."""
    return is_made_anew(body) or asks_for(body, SYNC_BY_REPLACE, _ENABLED)


def is_made_anew(body: Body) -> bool:
    """Whether the author of a manifest has asked for the object to be deleted first."""
    return asks_for(body, FORCE_SYNC_BY_REPLACE, _ENABLED)


def is_as_committed(body: Body, live: Body) -> bool:
    """Whether what is there was made by the same application for the same commit."""
    return belongs_to(live, mark(body, APPLICATION)) and mark(live, COMMIT) == mark(body, COMMIT)


class Replacer:
    """Replaces objects for one stage in one cluster."""

    def __init__(self, cluster: Cluster, anew: Anew, *, restoring: bool = False) -> None:
        self._cluster = cluster
        self._anew = anew
        #: Whether the stage leads back to what ran before.
        self._restoring = restoring

    async def replace(self, each: Placed) -> dict[str, Any]:
        """The object as the cluster answered, or as it is where it is to be left alone."""
        body, force = each.manifest.body, is_made_anew(each.manifest.body)
        for _ in range(_ATTEMPTS):
            live = await self._cluster.get(each.kind, each.namespace, each.key.name)
            if live is not None and self._is_left_alone(body, live):
                return live
            if force and await self._anew.is_made(body, live) and live is not None:
                return live
            try:
                if live is not None and force:
                    uid = str(part(live, "metadata", "uid"))
                    await self._cluster.delete(each.kind, each.namespace, each.key.name, uid=uid)
                    await until_gone(self._cluster, each.kind, live)
                    live = None
                if live is None:
                    return await self._cluster.create(body)
                version = part(live, "metadata", "resourceVersion")
                return await self._cluster.replace(with_part(body, ("metadata", "resourceVersion"), version))
            except (Conflict, AlreadyThere, NotThere):
                # Somebody else was quicker: look again.
                continue
        raise TemporaryError(f"{each.key} changes all the time; it could not be replaced")

    def _is_left_alone(self, body: Body, live: Body) -> bool:
        return self._restoring and is_as_committed(body, live)
