"""The rollback: back to what ran before, with that commit's own settings, and nothing left of the new one.

Where the primary has not been touched it is as healthy as it was, so traffic goes back to it first of all. Where it
has been, traffic follows once the old version runs again. Then canary and baseline go, and what the deployment has
added. Namespaces, definitions of kinds and volumes that it has added stay: they may hold what cannot be made again.
"""

from collections.abc import Sequence
from typing import Any

from fairway.kube.manifest import Body, Manifest, key_of
from fairway.plugins.kubernetes.config_hash import with_config_hash
from fairway.plugins.kubernetes.parts import part
from fairway.plugins.kubernetes.pruning import LASTING, surplus
from fairway.plugins.kubernetes.site import Loaded, Site
from fairway.plugins.kubernetes.stages import (
    PRIMARY_ROLLOUT,
    remove_variants,
    routes_traffic,
)
from fairway.plugins.kubernetes.started import started_pods
from fairway.plugins.kubernetes.traffic import find_router
from fairway.plugins.kubernetes.variants import NoVariant, found_workloads, with_selector_label

_SYNC = ("K8S_SYNC", "K8S_MULTI_SYNC")


async def roll_back(site: Site) -> str:
    """Bring back what ran before the deployment; on a first deployment that is nothing."""
    running = await site.load_running()
    if running is None:
        return await _undo_first(site)
    commit = site.run.running.commit if site.run.running else ""
    site.run.log.info(f"Back to commit {commit[:7]}")
    manifests = await _with_live_selectors(site, running)
    router = find_router(manifests, running.settings.spec) if routes_traffic(site.run) else None
    owner = site.owner(running, commit)
    create = running.settings.spec.input.auto_create_namespace
    # The hash is one of all manifests, whichever of them are applied together.
    hashed = with_config_hash(manifests, await started_pods(site, manifests))
    rest = [each for each in hashed if router is None or each.key != router.key]
    routers = [] if router is None else [[router]]
    applied: list[Body] = []
    for some in [rest, *routers] if _primary_was_touched(site) else [*routers, rest]:
        applied += await site.bring(some, owner, create_namespaces=create)
    removed = await _remove_all_variants(site, running)
    removed += await _remove_added(site, applied)
    what = "1 object as it was" if len(applied) == 1 else f"{len(applied)} objects as they were"
    return f"{what} before, {removed} removed"


async def _undo_first(site: Site) -> str:
    site.run.log.info("Nothing was deployed before: what this deployment has made is taken away")
    removed = await _remove_all_variants(site, None)
    removed += await _remove_added(site, ())
    return "1 object removed" if removed == 1 else f"{removed} objects removed"


async def _with_live_selectors(site: Site, running: Loaded) -> tuple[Manifest, ...]:
    """The manifests with the selectors that the live workloads have.

    A selector cannot be changed: which stage had put the variant's label there, by which setting, does not matter.
    """
    spec = running.settings.spec
    label = {spec.variant_label.key: spec.variant_label.primary_value}
    asked = spec.quick_sync.add_variant_label_to_selector or any(
        each.add_variant_label_to_selector for each in running.settings.stage_options(*PRIMARY_ROLLOUT, *_SYNC)
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


def _primary_was_touched(site: Site) -> bool:
    return any(
        each.name in (*PRIMARY_ROLLOUT, *_SYNC) and each.was_started
        for each in site.run.deployment.stages
        if not each.is_rollback
    )


async def _remove_all_variants(site: Site, running: Loaded | None) -> int:
    """Canary and baseline, by the labels of both commits."""
    # It may be the manifests that the deployment has failed with.
    target = await site.load_what_can_be(site.run.target)
    removed = 0
    labels = []
    for loaded in (target, running) if running is not None else (target,):
        label = loaded.settings.spec.variant_label
        if label in labels:
            continue
        labels.append(label)
        for value in (label.canary_value, label.baseline_value):
            removed += await remove_variants(site, loaded, value, "the deployment is rolled back")
    return removed


async def _remove_added(site: Site, applied: Sequence[Body]) -> int:
    """What the deployment has made and what ran before does not have."""
    added = await site.search.named(await site.added())
    found = surplus(added, applied)
    for each in found:
        if each["kind"] in LASTING:
            site.run.log.info(f"{key_of(each)}: stays, although it is new; it may hold what cannot be made again")
    gone = [each for each in found if each["kind"] not in LASTING]
    return await site.remove(gone, "it came with the deployment that is rolled back")
