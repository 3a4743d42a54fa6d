"""Writing an object by server-side apply, with Fairway as the manager of what Git says.

Three sorts of others may manage a field that Git says otherwise: kubectl as PipeCD's agents use it is taken over from;
what people change by hand is taken back; and of a controller nobody is robbed, the stage fails and names it, because
the two would go on for ever. The one exception is the number of replicas, which belongs to whoever scales. Of what
applications share, the last one's word holds.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from fairway.errors import TemporaryError
from fairway.kube.cluster import JSON_PATCH, Cluster
from fairway.kube.errors import Conflict
from fairway.kube.manifest import Body, key_of
from fairway.plugins.kubernetes.applying.adoption import can_be_taken_over, is_by_hand, taken_over
from fairway.plugins.kubernetes.applying.placing import Placed
from fairway.plugins.kubernetes.marks import ON_CONFLICT, asks_for
from fairway.plugins.kubernetes.parts import part, without
from fairway.plugins.kubernetes.whose.owning import Owning
from fairway.plugins.kubernetes.whose.sharing import called, is_of_applications, nothing_of
from fairway.sdk.stage_log import StageLog

#: How often something is begun again because the object changed meanwhile.
_ATTEMPTS: Final = 5
_REPLICAS: Final = ".spec.replicas"


class Writer:
    """Writes objects for one stage in one cluster. What others lose by it, or keep, is told when it is done, and not
    when it is only tried."""

    def __init__(self, cluster: Cluster, log: StageLog, owning: Owning) -> None:
        self._cluster = cluster
        self._log = log
        self._owning = owning

    async def apply(self, body: Body, *, dry_run: bool = False) -> dict[str, Any]:
        """The object as the cluster answered."""
        try:
            return await self._cluster.apply(body, dry_run=dry_run)
        except Conflict as error:
            if scalers := [each for each, fields in error.theirs.items() if _only_scales(each, fields)]:
                answer = await self.apply(without(body, ("spec", "replicas")), dry_run=dry_run)
                told = f"the number of replicas is left to {_and(scalers)}, which scales it"
            elif _may_override(body, error):
                answer = await self._cluster.apply(body, dry_run=dry_run, force=True)
                told = self._overridden(error, body)
            else:
                raise
            if told and not dry_run:
                self._log.info(f"{key_of(body)}: {told}")
            return answer

    async def share(self, body: Body, live: Body, *, dry_run: bool = False) -> dict[str, Any]:
        """Write what we say of an object that stays another application's."""
        body = self._owning.as_shared(body)
        apply = partial(self._cluster.apply, body, dry_run=dry_run, manager=self._owning.sharing_manager)
        try:
            return await apply()
        except Conflict as error:
            if not _may_override(body, error):
                raise
            answer = await apply(force=True)
            if (told := self._overridden(error, live)) and not dry_run:
                self._log.info(f"{key_of(body)}: {told}")
            return answer

    async def stop_sharing(self, before: Body) -> None:
        """Say nothing any more as one that shares an object, where we have done so before it became ours."""
        entries = part(before, "metadata", "managedFields") or ()
        if any(each.get("manager") == self._owning.sharing_manager for each in entries):
            await stop_sharing(self._cluster, before, self._owning.sharing_manager)

    async def take_over(self, each: Placed) -> None:
        """Make ours what kubectl manages."""
        for _ in range(_ATTEMPTS):
            live = await self._cluster.get(each.kind, each.namespace, each.key.name)
            entries = part(live, "metadata", "managedFields") or ()
            if live is None or not can_be_taken_over(entries):
                return
            patch = [
                {"op": "replace", "path": "/metadata/managedFields", "value": taken_over(entries)},
                # Refused when the object has changed meanwhile.
                {
                    "op": "replace",
                    "path": "/metadata/resourceVersion",
                    "value": part(live, "metadata", "resourceVersion"),
                },
            ]
            try:
                await self._cluster.patch(each.kind, each.namespace, each.key.name, patch, JSON_PATCH)
            except Conflict:
                continue
            self._log.info(f"{each.key}: taken over from kubectl")
            return
        raise TemporaryError(f"{each.key} changes all the time; it could not be taken over from kubectl")

    def _overridden(self, error: Conflict, live: Body) -> str:
        fields = self._owning.told(error.fields)
        by = _and([called(each, live) for each in error.managers])
        return f"{_and(fields)} as Git says, no longer as {by} did" if fields else ""


async def stop_sharing(cluster: Cluster, live: Body, manager: str) -> None:
    """Take back what was said as one that shares an object."""
    try:
        await cluster.apply(nothing_of(live), manager=manager)
    except Conflict:
        # It is another one by now, of which nothing was said.
        return


def _only_scales(manager: str, fields: Sequence[str]) -> bool:
    return set(fields) == {_REPLICAS} and not is_by_hand(manager)


def _may_override(body: Body, error: Conflict) -> bool:
    free = all(is_by_hand(each) or is_of_applications(each) for each in error.managers)
    return bool(error.managers) and (free or asks_for(body, ON_CONFLICT, "override"))


def _and(names: Sequence[str]) -> str:
    return " and ".join(dict.fromkeys(names))
