"""The rollback: back to what ran before, with that commit's own settings, and nothing left of the new one.

Where the primary has not been touched it is as healthy as it was, so traffic goes back to it first of all. Where it
has been, traffic follows once the old version runs again. Then canary and baseline go, and what the deployment has
added. Namespaces, definitions of kinds and volumes that it has added stay: they may hold what cannot be made again.
Where the old version cannot be brought back, the reason says what stays besides.
"""

from collections.abc import Sequence
from typing import Any, Final

from fairway.errors import UserError
from fairway.kube.errors import BadAccess
from fairway.kube.manifest import Body, Key, Manifest, key_of
from fairway.plugins.kubernetes.applying.placing import placed
from fairway.plugins.kubernetes.drift.drift import may_be_gone
from fairway.plugins.kubernetes.health.health import Standing, health_of
from fairway.plugins.kubernetes.marks import COMMIT, mark
from fairway.plugins.kubernetes.parts import part
from fairway.plugins.kubernetes.removing.pruning import LASTING, surplus
from fairway.plugins.kubernetes.removing.removing import Removed
from fairway.plugins.kubernetes.rollout.away import listed
from fairway.plugins.kubernetes.rollout.waiting import is_waited_for
from fairway.plugins.kubernetes.shaping.config_hash import with_config_hash
from fairway.plugins.kubernetes.shaping.traffic import find_router
from fairway.plugins.kubernetes.shaping.variants import NoVariant, found_workloads, with_selector_label
from fairway.plugins.kubernetes.site import Loaded, Site
from fairway.plugins.kubernetes.stages import (
    PRIMARY_ROLLOUT,
    ROUTING,
    SYNC,
    find_variants,
    once,
    routes_traffic,
)
from fairway.plugins.kubernetes.started import started_pods
from fairway.sdk import Files, StageFailed

_JOB: Final = ("batch", "Job")


async def roll_back(site: Site) -> str:
    """Bring back what ran before the deployment; on a first deployment that is nothing."""
    if await site.is_untouched():
        site.remark = "nothing had been applied, so there was nothing to undo"
        return site.remark
    made = {each.key for each in await site.noted()}
    if site.run.running is None:
        return await _undo_first(site, made)
    back = _WayBack()
    try:
        applied = await _restore(site, site.run.running, back)
    except BadAccess:
        # Waited for, as a cluster is that does not answer.
        raise
    except UserError as error:
        raise StageFailed(f"{error}\n{await _given_up(site, back)}") from error
    removed = await _remove_all_variants(site, back.running)
    removed = removed.and_also(await _remove_added(site, applied))
    await _name_taken_over(site, {*made, *map(key_of, applied)})
    what = "1 object as it was" if len(applied) == 1 else f"{len(applied)} objects as they were"
    return f"{what} before, {removed.in_words()}"


class _WayBack:
    """How far a rollback has come."""

    #: What ran before, once its manifests are read.
    running: Loaded | None = None
    #: Whether traffic goes to the primary again.
    traffic_is_back = False


async def _restore(site: Site, before: Files, back: _WayBack) -> list[Body]:
    """Apply what ran before, and send traffic there."""
    running = back.running = await site.load(before)
    commit = before.commit
    site.run.log.info(f"Back to commit {commit[:7]}")
    manifests = await _without_moved(site, await _with_live_selectors(site, running))
    router = find_router(manifests, running.settings.spec) if routes_traffic(site.run) else None
    owner = site.owner(running, commit)
    create = running.settings.spec.input.auto_create_namespace
    # The hash is one of all manifests, whichever of them are applied together.
    hashed = await _without_ended_jobs(site, with_config_hash(manifests, await started_pods(site, manifests)))
    rest = [each for each in hashed if router is None or each.key != router.key]
    routers = [] if router is None else [[router]]
    applied: list[Body] = []
    for some in [rest, *routers] if _was_started(site, *PRIMARY_ROLLOUT, *SYNC) else [*routers, rest]:
        applied += await site.bring(some, owner, create_namespaces=create, restoring=True)
        back.traffic_is_back = back.traffic_is_back or some in routers
    return applied


async def _given_up(site: Site, back: _WayBack) -> str:
    """What becomes of canary and baseline when what ran before cannot be brought back, in words.

    They may be all that answers, so they stay, but for two cases: traffic goes to the primary again, or no stage has
    sent it anywhere and the primary is well. Without a stage for it, canary and primary share what their Service gets.
    """
    said = f"The primary stays as it is now at deploy target {site.target.name}"
    unneeded = back.traffic_is_back or (not _was_started(site, *ROUTING) and await _is_well(site, back.running))
    if unneeded:
        try:
            removed = await _remove_all_variants(site, back.running)
            if any(removed):
                verb = "are being" if removed.held else "were"
                said += f"; canary and baseline {verb} removed, which no traffic needs"
        except UserError as error:
            said += f"; {error}"
    found = [*await _all_variants(site, back.running), *await site.search.named(await site.added())]
    if not found:
        return said
    stays = listed(sorted({str(key_of(each)) for each in found}))
    why = "" if unneeded else ", to which traffic may go"
    return (
        f"{said}, and so does what this deployment has made: {stays}{why}; put right what is said above and deploy "
        f"{site.run.deployment.application_name} again, or remove by hand what is not wanted"
    )


async def _is_well(site: Site, running: Loaded | None) -> bool:
    """Whether everything of the primary that takes traffic is available, whoever has made it so."""
    if running is None:
        return False
    live = [await site.live(each) for each in running.manifests if is_waited_for(each.body)]
    return all(each is not None and health_of(each).standing is Standing.DONE for each in live)


async def _undo_first(site: Site, made: set[Key]) -> str:
    site.run.log.info("Nothing was deployed before: what this deployment has made is taken away")
    removed = await _remove_all_variants(site, None)
    removed = removed.and_also(await _remove_added(site, ()))
    await _name_taken_over(site, made)
    return removed.in_words("object")


async def _with_live_selectors(site: Site, running: Loaded) -> tuple[Manifest, ...]:
    """The manifests with the selectors that the live workloads have.

    A selector cannot be changed: which stage had put the variant's label there, by which setting, does not matter.
    """
    spec = running.settings.spec
    label = {spec.variant_label.key: spec.variant_label.primary_value}
    asked = spec.quick_sync.add_variant_label_to_selector or any(
        each.add_variant_label_to_selector for each in running.settings.stage_options(*PRIMARY_ROLLOUT, *SYNC)
    )
    try:
        workloads = found_workloads(running.manifests, spec.workloads)
    except NoVariant:
        # Whoever only synchronises may name one that is not there; what is live decides in any case.
        workloads = found_workloads(running.manifests, ())
    chosen = []
    for each in workloads:
        live = await site.live(each)
        selected: Any = part(live, "spec", "selector", "matchLabels") or {}
        if label.items() <= selected.items() if live is not None else asked:
            chosen.append(each)
    return with_selector_label(running.manifests, chosen, label)


async def _without_moved(site: Site, manifests: Sequence[Manifest]) -> tuple[Manifest, ...]:
    """The manifests without those of objects that the deployment gave up and another application has by now."""
    kept = {each.key for each in (await site.load_what_can_be(site.run.target)).manifests}
    moved: dict[Key, str] = {}
    for each in manifests:
        if each.key not in kept and (other := await site.other_owner(await site.live(each))):
            moved[each.key] = other
            site.run.log.info(f"{each.key}: stays as it is, because it is application {other}'s by now")
    return tuple(each for each in manifests if each.key not in moved)


async def _without_ended_jobs(site: Site, manifests: Sequence[Manifest]) -> list[Manifest]:
    """The manifests without Jobs that are gone: what was done once is not done again by going back to it."""
    touched = _was_started(site, *PRIMARY_ROLLOUT, *SYNC)
    made = {each.key for each in await site.noted()}
    left = []
    for each in manifests:
        if (each.key.group, each.kind) != _JOB:
            left.append(each)
            continue
        live = await site.live(each)
        if live is None and (not touched or may_be_gone(each.body)):
            site.run.log.info(f"{each.key}: is not run again, although it is not there any more")
        elif live is not None and each.key in made and mark(live, COMMIT) == site.run.target.commit:
            site.run.log.info(f"{each.key}: is not run again; it was gone before this deployment has made its own")
        else:
            left.append(each)
    return left


def _was_started(site: Site, *names: str) -> bool:
    """Whether a stage of the deployment with one of these names may have done anything."""
    stages = site.run.deployment.stages
    return any(each.name in names and each.was_started for each in stages if not each.is_rollback)


async def _remove_all_variants(site: Site, running: Loaded | None) -> Removed:
    return await site.remove(await _all_variants(site, running), "the deployment is rolled back")


async def _all_variants(site: Site, running: Loaded | None) -> list[dict[str, Any]]:
    """Canary and baseline, by the labels of both commits."""
    # It may be the manifests that the deployment has failed with.
    target = await site.load_what_can_be(site.run.target)
    found: list[dict[str, Any]] = []
    labels = []
    for loaded in (target, running) if running is not None else (target,):
        label = loaded.settings.spec.variant_label
        if label in labels:
            continue
        labels.append(label)
        for value in (label.canary_value, label.baseline_value):
            found += await find_variants(site, loaded, value)
    described = {each.key for each in running.manifests} if running is not None else set()
    return once([each for each in found if key_of(each) not in described])


async def _remove_added(site: Site, applied: Sequence[Body]) -> Removed:
    """What the deployment has made and what ran before does not have."""
    await site.stop_sharing(applied)
    added = await site.search.named(await site.added())
    found = surplus(added, applied)
    for each in found:
        if each["kind"] in LASTING:
            site.run.log.info(f"{key_of(each)}: stays, although it is new; it may hold what cannot be made again")
    gone = [each for each in found if each["kind"] not in LASTING]
    return await site.remove(gone, "it came with the deployment that is rolled back")


async def _name_taken_over(site: Site, others: set[Key]) -> None:
    """Say what the deployment has changed, and neither made nor brought back: no commit says how that was before."""
    commit = site.run.target
    manifests = (await site.load_what_can_be(commit)).manifests
    wanted = [each for each in await placed(site.cluster, manifests) if each.key not in others]
    found = await site.search.named((each.kind, each.key) for each in wanted)
    names = sorted(str(key_of(each)) for each in found if mark(each, COMMIT) == commit.commit)
    for each in names:
        site.run.log.info(f"{each}: stays as this deployment has made it, because it was there before")
    if names:
        verb, what, were = ("stays", "it", "it was") if len(names) == 1 else ("stay", "them", "they were")
        site.remark = f"{listed(names)} {verb} as this deployment has made {what}: what {were} before is not in Git"
