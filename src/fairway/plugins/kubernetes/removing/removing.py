"""Taking objects away: workloads before what they use, and only what still is what it was taken for.

An object is deleted by its uid, so that one which somebody has made anew under the same name stays, and only in the
version that was looked at, so that one stays which another application has taken over in the last moment. What is
deleted is waited for until it is gone, but not for ever: finalizers may take their time, and then that is said.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from typing import Any, Final, NamedTuple

from fairway.errors import FairwayError, TemporaryError, UserError
from fairway.kube.calls import Patience
from fairway.kube.cluster import Cluster, Scope
from fairway.kube.errors import Conflict, Expired
from fairway.kube.kinds import Kind
from fairway.kube.manifest import Body, key_of
from fairway.kube.turns import WATCH_PATIENCE, Turns
from fairway.plugins.kubernetes.health.health import health_of
from fairway.plugins.kubernetes.health.verdict import counted
from fairway.plugins.kubernetes.marks import APPLICATION, mark
from fairway.plugins.kubernetes.parts import part
from fairway.plugins.kubernetes.shaping.order import in_steps_away
from fairway.sdk.side_by_side import all_ended
from fairway.sdk.stage_log import StageLog

#: How long finalizers are waited for.
_PATIENCE_SECONDS: Final = 60.0
_AT_ONCE: Final = 16
#: How often something is begun again because the object changed meanwhile.
_ATTEMPTS: Final = 10


class Removed(NamedTuple):
    """What became of objects that were to go."""

    gone: int = 0
    #: How many are still there, because something holds them.
    held: int = 0

    def and_also(self, other: "Removed") -> "Removed":
        """Both together."""
        return Removed(self.gone + other.gone, self.held + other.held)

    def in_words(self, what: str = "") -> str:
        """For the last line of a stage; with `what` they are, where that line has not said it before."""
        gone = f"{counted(self.gone, what) if what else self.gone} removed"
        return f"{gone}, {self.held} still being removed" if self.held else gone


class NotRemoved(UserError):
    """Objects that could not be taken away."""


class StillThere(UserError):
    """An object that somebody has deleted, and that something holds."""


async def remove(cluster: Cluster, bodies: Sequence[Body], log: StageLog, why: str) -> Removed:
    """Take objects away; all are tried, then NotRemoved names those that failed."""
    failed: list[tuple[Body, FairwayError]] = []
    removed: list[Removed] = []
    places = asyncio.Semaphore(_AT_ONCE)

    async def one(body: Body) -> None:
        async with places:
            try:
                removed.append(await _remove(cluster, body, log, why))
            except FairwayError as error:
                failed.append((body, error))

    for step in in_steps_away(bodies):
        await all_ended(map(one, step))
    if not failed:
        return Removed(sum(each.gone for each in removed), sum(each.held for each in removed))
    for _, error in failed:
        if error.retry:
            raise error
    reasons = "\n".join(f"{key_of(body)}: {error}" for body, error in failed)
    raise NotRemoved(f"{len(failed)} of {len(bodies)} objects could not be removed:\n{reasons}")


async def _remove(cluster: Cluster, body: Body, log: StageLog, why: str) -> Removed:
    """What became of it: what something holds may take long, and goes by itself then; what somebody has taken stays."""
    kind = await cluster.kind(str(body["apiVersion"]), str(body["kind"]))
    key = key_of(body)
    found = await _delete(cluster, kind, body)
    if found is None:
        log.info(f"{key}: was gone already")
        return Removed(gone=1)
    if (other := mark(found, APPLICATION)) != mark(body, APPLICATION):
        log.info(f"{key}: stays, because {f'application {other}' if other else 'somebody'} has taken it over")
        return Removed()
    held = Held(log)
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            await until_gone(cluster, kind, body, see=held.see)
    except TimeoutError:
        waiting = ", ".join(held.by) or "what depends on it"
        log.info(f"{key}: is being removed, because {why}; {waiting} may take longer, which is not waited for")
        return Removed(held=1)
    log.info(f"{key}: removed, because {why}")
    return Removed(gone=1)


async def _delete(cluster: Cluster, kind: Kind, body: Body) -> Body | None:
    """The object that was deleted, or is another application's by now; None where it was gone already."""
    key, uid, application = key_of(body), str(part(body, "metadata", "uid") or ""), mark(body, APPLICATION)
    live: Body | None = body
    for _ in range(_ATTEMPTS):
        if live is None or str(part(live, "metadata", "uid") or "") != uid:
            return None
        if mark(live, APPLICATION) != application:
            return live
        version = str(part(live, "metadata", "resourceVersion") or "")
        try:
            return live if await cluster.delete(kind, key.namespace, key.name, uid=uid, version=version) else None
        except Conflict:
            live = await cluster.get(kind, key.namespace, key.name)
    raise TemporaryError(f"{key} changes all the time; it could not be removed")


async def wait_until_gone(cluster: Cluster, kind: Kind, body: Body, log: StageLog) -> None:
    """Wait for the end of an object that somebody else has deleted; StillThere where that takes too long."""
    held = Held(log)
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            await until_gone(cluster, kind, body, see=held.see)
    except TimeoutError as error:
        by = ", ".join(held.by) or "what depends on it"
        raise StillThere(f"somebody has deleted it, and it waits for {by}; see to that, then deploy again") from error


class Held:
    """What keeps an object from going that was deleted; said in the log whenever it is something else."""

    def __init__(self, log: StageLog) -> None:
        self._log = log
        #: The names of its finalizers.
        self.by: tuple[str, ...] = ()

    def see(self, live: Body) -> None:
        """The object as it is now."""
        by = tuple(part(live, "metadata", "finalizers") or ())
        if by and by != self.by:
            self._log.info(f"{key_of(live)}: {health_of(live).reason}")
        self.by = by


async def until_gone(
    cluster: Cluster,
    kind: Kind,
    body: Body,
    patience: Patience = WATCH_PATIENCE,
    see: Callable[[Body], None] = lambda _: None,
) -> None:
    """Wait until an object that was deleted is not there any more, or another one is; `see` is shown it meanwhile."""
    key, uid = key_of(body), part(body, "metadata", "uid")
    turns = Turns(patience)
    while True:
        live = await cluster.get(kind, key.namespace, key.name)
        if live is None or part(live, "metadata", "uid") != uid:
            return
        see(live)
        since = str(part(live, "metadata", "resourceVersion") or "")
        try:
            scope = Scope(namespace=key.namespace, name=key.name)
            async with aclosing(cluster.follow(kind, scope, since, dict[str, Any])) as changes:
                async for change in changes:
                    if change.type == "DELETED":
                        return
                    if change.type != "BOOKMARK":
                        see({"apiVersion": kind.api_version, "kind": kind.kind, **change.object})
        except Expired:
            pass
        await turns.over()
