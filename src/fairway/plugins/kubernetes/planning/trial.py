"""Whether a cluster would take what a change brings, tried before anybody merges it.

Nothing is changed: the API server is asked to imagine it. Only what it says of the objects themselves counts against a
change. What may come with the change (a namespace, a kind, an account), what may not be asked for, and a cluster that
is away do not: whoever reviews a change need not have a cluster at hand.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final

import msgspec

from fairway.config.agent_file import DeployTarget
from fairway.errors import FairwayError, UserError
from fairway.kube.cluster import Cluster
from fairway.kube.errors import Invalid
from fairway.kube.manifest import Body, Key, Manifest
from fairway.plugins.kubernetes.applying.placing import Placed, placed
from fairway.plugins.kubernetes.applying.refusals import together
from fairway.plugins.kubernetes.drift.written import as_written
from fairway.plugins.kubernetes.live.objects import is_written
from fairway.plugins.kubernetes.manifests.fields import where_written
from fairway.plugins.kubernetes.marks import FORCE_SYNC_BY_REPLACE, SYNC_BY_REPLACE, Owner, asks_for
from fairway.sdk import Files
from fairway.sdk.side_by_side import all_ended

_AT_ONCE: Final = 8
#: How many objects are tried; who changes more is told so.
_MOST: Final = 100
#: How long a cluster may take for all of them, and how long one that took longer is not asked again.
_SECONDS: Final = 10.0
_REST_SECONDS: Final = 60.0


class Brought(msgspec.Struct, frozen=True, kw_only=True):
    """What a change brings to one deploy target."""

    #: Everything that the commit says.
    manifests: tuple[Manifest, ...]
    #: Which of it is new, or otherwise than before.
    changed: frozenset[Key]
    owner: Owner
    files: Files


class Trial(msgspec.Struct, frozen=True):
    """What came of it."""

    #: What the cluster refuses, in words; empty when nothing, or when that cannot be told.
    refused: str = ""
    #: Why it cannot be told.
    notes: tuple[str, ...] = ()


class Trials:
    """Tries changes at the clusters of one plugin."""

    def __init__(self, cluster: Callable[[DeployTarget], Cluster], seconds: float = _SECONDS) -> None:
        self._cluster = cluster
        self._seconds = seconds
        #: Deploy target → until when it is not asked.
        self._resting: dict[str, float] = {}

    async def of(self, target: DeployTarget, brought: Brought) -> Trial:
        """What the cluster of a deploy target says to a change."""
        now = asyncio.get_running_loop().time()
        untried = f"The cluster {target.name} was not asked whether it takes this"
        if not brought.changed:
            return Trial()
        if self._resting.get(target.name, 0.0) > now:
            return Trial(notes=(f"{untried}: it does not answer in time",))
        try:
            async with asyncio.timeout(self._seconds):
                return await _tried(self._cluster(target), brought)
        except TimeoutError:
            self._resting[target.name] = now + _REST_SECONDS
            return Trial(notes=(f"{untried}: it does not answer in time",))
        except FairwayError as error:
            return Trial(notes=tuple(f"{untried}: {error}".splitlines()))


async def _tried(cluster: Cluster, brought: Brought) -> Trial:
    pairs = zip(brought.manifests, await placed(cluster, brought.manifests), strict=True)
    objects = [each for said, each in pairs if said.key in brought.changed and _can_be_tried(each)]
    turns = asyncio.Semaphore(_AT_ONCE)
    live = await all_ended(_live(cluster, each, turns) for each in objects[:_MOST])
    ours = {each.key: body for each, body in zip(objects, live, strict=False) if body is not None and is_written(body)}
    written = as_written(objects[:_MOST], ours, brought.owner)
    errors = await all_ended(_refusal(cluster, each, turns) for each in written)
    refused = [(each.manifest, error) for each, error in zip(written, errors, strict=True) if error is not None]
    notes = (f"Only {_MOST} of {len(objects)} objects were tried at the cluster",) if len(objects) > _MOST else ()
    if not refused:
        return Trial(notes=notes)
    where = partial(where_written, loaded=[brought.files])
    return Trial(str(together(refused, "this was tried, nothing was changed", where)), notes)


def _can_be_tried(each: Placed) -> bool:
    """Not what the cluster does not know yet, nor what is replaced: that may have what no change can bring."""
    replaced = any(asks_for(each.manifest.body, how, "enabled") for how in (SYNC_BY_REPLACE, FORCE_SYNC_BY_REPLACE))
    return not each.defined_here and not replaced


async def _live(cluster: Cluster, each: Placed, turns: asyncio.Semaphore) -> Body | None:
    try:
        async with turns:
            return await cluster.get(each.kind, each.namespace, each.key.name)
    except UserError:
        # Who may not look may not change it, either, which the trial shows.
        return None


async def _refusal(cluster: Cluster, each: Placed, turns: asyncio.Semaphore) -> Invalid | None:
    """What the cluster says against an object; None where it takes it, or where that cannot be told."""
    try:
        async with turns:
            # With force: whose a field is shows when it is applied.
            await cluster.apply(each.manifest.body, dry_run=True, force=True)
    except Invalid as error:
        # A webhook may be one that cannot be asked without consequences.
        return None if "dry run" in str(error) else error
    except UserError:
        return None
    return None
