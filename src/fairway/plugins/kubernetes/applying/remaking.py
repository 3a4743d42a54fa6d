"""Whether an object with `force-sync-by-replace` is deleted and created again, or applied in place.

Deleting a namespace deletes all objects in it, and deleting the definition of a kind all objects of that kind. So these
are recreated only when they hold nothing, by the same check as pruning. Other objects are recreated when a sync would
change them. Jobs, Pods and custom resources may do their work when they are created, so each sync recreates them.
"""

from typing import Final

from fairway.kube.cluster import Cluster
from fairway.kube.manifest import Body
from fairway.plugins.kubernetes.applying.placing import Placed
from fairway.plugins.kubernetes.drift.judge import Judge
from fairway.plugins.kubernetes.marks import APPLICATION, mark, own_marks
from fairway.plugins.kubernetes.planning.difference import Change
from fairway.plugins.kubernetes.removing.keeping import Keeper
from fairway.plugins.kubernetes.shaping.order import is_of_kubernetes

_RUN_ONCE: Final = frozenset({"Job", "Pod"})


async def reason_to_keep(cluster: Cluster, placed: Placed, live: Body, variant_key: str) -> str:
    """Why an object is applied in place; empty where it is recreated."""
    body = placed.manifest.body
    if not is_of_kubernetes(body) or placed.manifest.kind in _RUN_ONCE:
        return ""
    changes = await Judge(cluster).changes(placed, live)
    if not any(_counts(each, variant_key) for each in changes):
        return "nothing of it changes"
    return await contents(cluster, body, live)


async def contents(cluster: Cluster, body: Body, live: Body) -> str:
    """What deleting a namespace or the definition of a kind would delete as well; empty where that is nothing."""
    kept = await Keeper(cluster, mark(body, APPLICATION), [live], ()).kept()
    return kept[0].why if kept else ""


def _counts(change: Change, variant_key: str) -> bool:
    """Whether a change is more than one of our own labels and annotations."""
    place = change.path[:2]
    is_mark = place in (("metadata", "labels"), ("metadata", "annotations")) and change.path[2:3] != ()
    return not (is_mark and change.path[2] in own_marks(variant_key))
