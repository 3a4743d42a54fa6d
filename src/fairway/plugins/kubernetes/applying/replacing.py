"""Objects whose manifests ask to be replaced as a whole, or to be deleted and made anew, rather than applied.

Neither can be had in part: who replaces takes away what people have added, and a Job that is made anew runs again. So a
rollback leaves those alone that are still what the commit has made to which it leads back. And what the cluster will
say is asked in advance: of what is to be deleted first, as if it were one of another name.
"""

from typing import Any, Final
from uuid import uuid4

from fairway.errors import TemporaryError
from fairway.kube.cluster import Cluster
from fairway.kube.errors import AlreadyThere, Conflict, Invalid, NotAllowed, NotThere
from fairway.kube.manifest import Body
from fairway.kube.statuses import NO_SUCH_FIELD
from fairway.plugins.kubernetes.applying.anew import Anew
from fairway.plugins.kubernetes.applying.placing import Placed
from fairway.plugins.kubernetes.applying.remaking import contents
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
from fairway.plugins.kubernetes.removing.removing import Held, until_gone
from fairway.plugins.kubernetes.shaping.order import is_of_kubernetes
from fairway.sdk.stage_log import StageLog

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


def holds_for_any_name(body: Body, error: Invalid | NotAllowed) -> bool:
    """Whether what the cluster refuses under another name, beside the object that is there, it will refuse as well once
    that one has gone: a missing right, and fields that are wrong in themselves.

    Quotas, webhooks and policies may count or know the object that is there; it may have what only one can have, such
    as a port; and kinds that people define may have rules of any sort.
    """
    if isinstance(error, NotAllowed):
        return "is not allowed to" in str(error)
    if "cannot be handled as" in str(error):
        return True
    return bool(error.causes) and all(_is_wrong_in_itself(body, field, said) for field, said in error.causes)


def _is_wrong_in_itself(body: Body, field: str, said: str) -> bool:
    if said == NO_SUCH_FIELD:
        return True
    known = is_of_kubernetes(body) and bool(field) and field != "metadata.name"
    return known and "already allocated" not in said


class Replacer:
    """Replaces objects for one stage in one cluster."""

    def __init__(self, cluster: Cluster, log: StageLog, anew: Anew, *, restoring: bool = False) -> None:
        self._cluster = cluster
        self._log = log
        self._anew = anew
        #: Whether the stage leads back to what ran before.
        self._restoring = restoring

    async def check(self, each: Placed, live: Body | None) -> None:
        """Raise what the cluster would refuse of it, as far as it can be asked without consequences."""
        body = each.manifest.body
        if live is None:
            try:
                await self._cluster.create(body, dry_run=True)
            except AlreadyThere:
                # Somebody else was quicker: it is looked at again when it is replaced.
                return
        elif is_made_anew(body) and not self._is_left_alone(body, live):
            await self._check_anew(each, live)
        elif not self._is_left_alone(body, live):
            version = part(live, "metadata", "resourceVersion")
            try:
                await self._cluster.replace(with_part(body, ("metadata", "resourceVersion"), version), dry_run=True)
            except (Conflict, NotThere):
                return

    async def _check_anew(self, each: Placed, live: Body) -> None:
        body, name = each.manifest.body, f"fairway-check-{uuid4().hex[:12]}"
        uid = str(part(live, "metadata", "uid"))
        await self._cluster.delete(each.kind, each.namespace, each.key.name, uid=uid, dry_run=True)
        try:
            await self._cluster.create(with_part(body, ("metadata", "name"), name), dry_run=True)
        except Invalid as error:
            if holds_for_any_name(body, error):
                raise Invalid(str(error).replace(name, each.key.name), causes=error.causes) from error
        except NotAllowed as error:
            if holds_for_any_name(body, error):
                raise

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
                    if why := await contents(self._cluster, body, live):
                        raise TemporaryError(f"{each.key} cannot be deleted any more, because {why}")
                    uid = str(part(live, "metadata", "uid"))
                    await self._cluster.delete(each.kind, each.namespace, each.key.name, uid=uid)
                    await until_gone(self._cluster, each.kind, live, see=Held(self._log).see)
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
