"""What each stage does at one deploy target: which manifests it makes of those of Git, and what it takes away.

How they get into the cluster is `Site`'s business. Each function returns a line about what was done.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

from fairway.config.platforms import KubernetesSpec, VariantLabel
from fairway.config.stages import (
    K8sBaselineRolloutOptions,
    K8sCanaryRolloutOptions,
    K8sPrimaryRolloutOptions,
    K8sSyncOptions,
    K8sTrafficRoutingOptions,
)
from fairway.errors import UserError
from fairway.kube.errors import UnknownKind
from fairway.kube.manifest import Body, Key, Manifest, key_of
from fairway.model.trigger import SyncStrategy
from fairway.plugins.kubernetes.applying.placing import placed
from fairway.plugins.kubernetes.drift.judge import is_scaled_by_others
from fairway.plugins.kubernetes.health.verdict import counted
from fairway.plugins.kubernetes.manifests.command import ToolTroubled
from fairway.plugins.kubernetes.marks import Owner, mark
from fairway.plugins.kubernetes.parts import part
from fairway.plugins.kubernetes.removing.pruning import surplus
from fairway.plugins.kubernetes.removing.record import Where
from fairway.plugins.kubernetes.removing.removing import Removed
from fairway.plugins.kubernetes.settings import input_for
from fairway.plugins.kubernetes.shaping.config_hash import with_config_hash
from fairway.plugins.kubernetes.shaping.needed import needed
from fairway.plugins.kubernetes.shaping.patches import patched
from fairway.plugins.kubernetes.shaping.traffic import Shares, find_router, live_selector, roundings, routed
from fairway.plugins.kubernetes.shaping.variants import (
    Variant,
    found_services,
    found_workloads,
    lacks_selector_label,
    replicas_of,
    variant_manifests,
    variant_service,
    with_selector_label,
)
from fairway.plugins.kubernetes.site import Loaded, Site
from fairway.plugins.kubernetes.started import started_pods
from fairway.sdk import StageFailed, StageRun

_DEPLOYMENT: Final = ("apps/v1", "Deployment")
#: What a variant consists of.
_OF_VARIANTS: Final = frozenset({("v1", "Service"), ("v1", "ConfigMap"), ("v1", "Secret"), _DEPLOYMENT})
#: Where PipeCD's older agents write down what a variant consists of: keys of objects, with commas between them.
_NOTED_BY_V0: Final = {"canary": "canary-resources", "baseline": "baseline-resources"}
ROUTING: Final = ("K8S_TRAFFIC_ROUTING", "K8S_MULTI_TRAFFIC_ROUTING")
CANARY_ROLLOUT: Final = ("K8S_CANARY_ROLLOUT", "K8S_MULTI_CANARY_ROLLOUT")
BASELINE_ROLLOUT: Final = ("K8S_BASELINE_ROLLOUT", "K8S_MULTI_BASELINE_ROLLOUT")
SYNC: Final = ("K8S_SYNC", "K8S_MULTI_SYNC")
PRIMARY_ROLLOUT: Final = ("K8S_PRIMARY_ROLLOUT", "K8S_MULTI_PRIMARY_ROLLOUT")


async def sync(site: Site, options: K8sSyncOptions) -> str:
    """Bring everything to what Git says, at once."""
    loaded = await site.load(site.run.target)
    spec = loaded.settings.spec
    asked = sync_options(site.run, spec, options)
    manifests = loaded.manifests
    if asked.add_variant_label_to_selector:
        manifests = with_primary_selector(manifests, spec)
    applied = await bring_primary(site, loaded, manifests, site.run.target.commit)
    removed = await prune(site, loaded, applied) if asked.prune else Removed()
    return _done(applied, removed)


def sync_options(run: StageRun[Any], spec: KubernetesSpec, options: K8sSyncOptions) -> Any:
    """The options of a sync: those of the stage, or those of a quick sync where the stage has none."""
    is_quick = run.deployment.trigger.sync_strategy is not SyncStrategy.PIPELINE and options == type(options)()
    return spec.quick_sync if is_quick else options


async def roll_out_primary(site: Site, options: K8sPrimaryRolloutOptions) -> str:
    """Bring the primary to what Git says; canary, baseline and the way that traffic takes stay."""
    loaded = await site.load(site.run.target)
    spec = loaded.settings.spec
    manifests: Sequence[Manifest] = loaded.manifests
    if options.add_variant_label_to_selector:
        manifests = with_primary_selector(manifests, spec)
    elif spec.traffic_routing.method == "podselector" and routes_traffic(site.run):
        refuse_unlabelled(manifests, spec)
    untouched: list[Body] = []
    if routes_traffic(site.run, later=True) and (router := find_router(manifests, spec)) is not None:
        live = await site.live(router)
        manifests = [each for each in manifests if each is not router]
        if spec.traffic_routing.method == "podselector":
            manifests = [*manifests, live_selector(router, live, spec.variant_label)]
        elif live is not None:
            untouched.append(live)
        else:
            manifests = [*manifests, router]
    if options.create_service:
        own = variant(spec.variant_label, spec.variant_label.primary_value, options.suffix)
        manifests = [*manifests, *(variant_service(each, own) for each in found_services(manifests, spec.service))]
    applied = await bring_primary(site, loaded, manifests, site.run.target.commit)
    removed = Removed()
    if options.prune:
        removed = await prune(site, loaded, [*applied, *untouched], spare_variants=True)
    return _done(applied, removed)


async def roll_out_canary(site: Site, options: K8sCanaryRolloutOptions) -> str:
    """Run the new version beside the primary."""
    loaded = await site.load(site.run.target)
    label = loaded.settings.spec.variant_label
    manifests = patched(loaded.manifests, options.patches)
    canary = variant(label, label.canary_value, options.suffix)
    made = await _variant(site, loaded.settings.spec, manifests, canary, options)
    owner = site.owner(loaded, site.run.target.commit, label.canary_value, options.suffix)
    before = await _bring_needed(site, loaded, made, owner)
    create = loaded.settings.spec.input.auto_create_namespace
    return _done([*before, *await site.bring(made, owner, create_namespaces=create)])


async def roll_out_baseline(site: Site, options: K8sBaselineRolloutOptions) -> str:
    """Run what runs now once more, afresh, to compare the canary with."""
    running = await site.load_running()
    if running is None:
        raise StageFailed("there is nothing to compare with: this application has never been deployed before")
    target = await site.load(site.run.target)
    label = target.settings.spec.variant_label
    baseline = variant(label, label.baseline_value, options.suffix)
    made = await _variant(site, running.settings.spec, running.manifests, baseline, options)
    commit = site.run.running.commit if site.run.running else ""
    return _done(await site.bring(made, site.owner(target, commit, label.baseline_value, options.suffix)))


async def clean_canary(site: Site) -> str:
    """Take the canary away, with whatever earlier stages have left of one."""
    return await _clean(site, lambda label: label.canary_value, "the canary is not needed any more")


async def clean_baseline(site: Site) -> str:
    """Take the baseline away, with whatever earlier stages have left of one."""
    return await _clean(site, lambda label: label.baseline_value, "the baseline is not needed any more")


async def route_traffic(site: Site, options: K8sTrafficRoutingOptions) -> str:
    """Share out the traffic."""
    loaded = await site.load(site.run.target)
    spec, shares = loaded.settings.spec, Shares(*options.shares)
    made = routed(loaded.manifests, spec, shares, _suffixes(loaded))
    label = spec.variant_label
    for value, share, before in (
        (label.canary_value, shares.canary, CANARY_ROLLOUT[0]),
        (label.baseline_value, shares.baseline, BASELINE_ROLLOUT[0]),
    ):
        if share and not await _is_there(site, loaded, label, value):
            raise StageFailed(f"there is no {value} to send traffic to; put {before} before this stage")
    await site.bring([made], site.owner(loaded, site.run.target.commit))
    for rounded in roundings(made, loaded.manifests, spec, shares, _suffixes(loaded)):
        site.run.log.info(rounded)
    return str(shares)


def variant(label: VariantLabel, value: str, suffix: str) -> Variant:
    """One variant of an application."""
    return Variant(key=label.key, value=value, suffix=suffix)


def with_primary_selector(manifests: Sequence[Manifest], spec: KubernetesSpec) -> tuple[Manifest, ...]:
    """The manifests, with the label of the primary in the selectors and pods of the workloads."""
    label = {spec.variant_label.key: spec.variant_label.primary_value}
    return with_selector_label(manifests, found_workloads(manifests, spec.workloads), label)


def refuse_unlabelled(manifests: Sequence[Manifest], spec: KubernetesSpec) -> None:
    """A Service can only tell variants apart whose pods have the label."""
    label = {spec.variant_label.key: spec.variant_label.primary_value}
    lacking = [each for each in found_workloads(manifests, spec.workloads) if lacks_selector_label(each, label)]
    if lacking:
        names = ", ".join(f"{each.kind} {each.name}" for each in lacking)
        key, value = next(iter(label.items()))
        raise StageFailed(
            f"{names} must have the label {key}: {value} in spec.selector.matchLabels and in the labels of its pods, "
            "so that the Service can tell it from the canary; write it there, or set addVariantLabelToSelector"
        )


def routes_traffic(run: StageRun[Any], *, later: bool = False) -> bool:
    """Whether the deployment has a stage that shares out traffic; with `later`, one that comes after this one."""
    here = run.stage.index
    return any(
        each.name in ROUTING and not each.is_rollback and (each.index > here or not later)
        for each in run.deployment.stages
    )


def is_last_rollout(run: StageRun[Any]) -> bool:
    """Whether no later stage of the deployment brings the primary."""
    names = (*SYNC, *PRIMARY_ROLLOUT)
    return not any(
        each.name in names and not each.is_rollback and each.index > run.stage.index for each in run.deployment.stages
    )


async def bring_primary(site: Site, loaded: Loaded, manifests: Sequence[Manifest], commit: str) -> tuple[Body, ...]:
    """Apply manifests as those of the primary."""
    create = loaded.settings.spec.input.auto_create_namespace
    hashed = with_config_hash(manifests, await started_pods(site, manifests))
    return await site.bring(hashed, site.owner(loaded, commit), create_namespaces=create)


async def prune(site: Site, loaded: Loaded, applied: Sequence[Body], *, spare_variants: bool = False) -> Removed:
    """Take away what the application has and Git does not."""
    label = loaded.settings.spec.variant_label
    found = await site.search.at(await site.record.places())
    if not await site.record.is_whole():
        elsewhere = await site.search.everywhere((each.namespace for each in loaded.manifests), only=not site.alone)
        for why in elsewhere.unseen:
            site.run.log.info(f"Objects of a kind that cannot be read are looked for the next time: {why}")
        await site.record.complete(map(Where.of, elsewhere.objects), whole=not elsewhere.unseen)
        found += elsewhere.objects
    found += await _running_before(site, applied)

    def spare(body: Body) -> bool:
        return spare_variants and mark(body, label.key) in (label.canary_value, label.baseline_value)

    await site.stop_sharing(applied)
    return await site.prune(once(surplus(found, applied, spare)), applied)


async def find_variants(site: Site, loaded: Loaded, value: str) -> list[dict[str, Any]]:
    """Everything of one variant; what a commit describes is its primary, whatever its label says: that may have meant
    something else in another commit."""
    label = loaded.settings.spec.variant_label
    found = await _of_variant(site, loaded, {label.key: value}, _OF_VARIANTS)
    noted = _NOTED_BY_V0["canary" if value == label.canary_value else "baseline"]
    found += await _noted_by_v0(site, noted, input_for(loaded.settings.spec, site.target)[0].namespace)
    described = {each.key for each in loaded.manifests}
    return once([each for each in found if key_of(each) not in described])


async def _noted_by_v0(site: Site, key: str, own_namespace: str) -> list[dict[str, Any]]:
    """What an agent of PipeCD's older generation has made and written down, for a deployment that was taken over from
    it: there are no labels to find it by. Where the application's file says in which namespace everything is, such an
    agent puts it there, whatever it writes down."""
    kinds = []
    for each in filter(None, site.run.deployment.metadata.get(key, "").split(",")):
        api_version, kind_name, namespace, name = each.split(":")
        try:
            kind = await site.cluster.kind(api_version, kind_name)
        except UnknownKind:
            continue
        kinds.append((kind, Key(kind.group, kind.kind, own_namespace or namespace, name)))
    return await site.search.named(kinds)


async def _clean(site: Site, value_of: Any, why: str) -> str:
    loaded = await site.load_what_can_be(site.run.target)
    found = await find_variants(site, loaded, value_of(loaded.settings.spec.variant_label))
    return (await site.remove(found, why)).in_words("object")


async def _variant(
    site: Site,
    spec: KubernetesSpec,
    manifests: Sequence[Manifest],
    made: Variant,
    options: K8sCanaryRolloutOptions | K8sBaselineRolloutOptions,
) -> tuple[Manifest, ...]:
    workloads = found_workloads(manifests, spec.workloads)
    services = found_services(manifests, spec.service) if options.create_service else ()
    live: dict[int, int | None] = {}
    for each in workloads:
        now = await site.live(each) if options.replicas.is_percentage else None
        scaled = now is not None and (part(each.body, "spec", "replicas") is None or is_scaled_by_others(now))
        live[id(each)] = part(now, "spec", "replicas") if scaled else None
    copies = variant_manifests(
        manifests, workloads, services, made, lambda each: replicas_of(options.replicas, each, live[id(each)])
    )
    # One that an earlier deployment has left is to run with this configuration, too.
    return with_config_hash(copies)


async def _bring_needed(site: Site, loaded: Loaded, copies: Sequence[Manifest], owner: Owner) -> tuple[Body, ...]:
    """Bring, as the primary's, what the pods of copies cannot do without and the cluster does not have."""
    lacking = [each for each in needed(copies, loaded.manifests) if await site.live(each) is None]
    if not lacking:
        return ()
    create = loaded.settings.spec.input.auto_create_namespace
    if not any(each.kind == "Namespace" for each in lacking):
        # Where the copies are refused, nothing is to be applied.
        await site.check(copies, owner, create_namespaces=create)
    for each in lacking:
        site.run.log.info(f"{each.key}: comes with the {owner.variant} already, as Git has it: its pods need it")
    return await site.bring(lacking, site.owner(loaded, site.run.target.commit), create_namespaces=create)


async def _is_there(site: Site, loaded: Loaded, label: VariantLabel, value: str) -> bool:
    return bool(await _of_variant(site, loaded, {label.key: value}, {_DEPLOYMENT}))


async def _of_variant(
    site: Site, loaded: Loaded, label: dict[str, str], kinds: Collection[tuple[str, str]]
) -> list[dict[str, Any]]:
    """What there is of a variant, of these kinds: where something was ever put and, since others may have put it
    there, where Git has something."""

    def of_kinds(places: Iterable[Where]) -> list[Where]:
        return [each for each in places if (each.api_version, each.kind) in kinds]

    of_git = of_kinds(Where.of(each.body) for each in loaded.manifests)
    # PipeCD's plugin calls its copies by the suffix of the stage, or by the default one.
    rollouts = (*CANARY_ROLLOUT, *BASELINE_ROLLOUT)
    suffixes = {*_NOTED_BY_V0, *(each.suffix for each in loaded.settings.stage_options(*rollouts))}
    return await site.search.at(of_kinds(await site.record.places()), label, perhaps=of_git, suffixes=suffixes)


async def _running_before(site: Site, applied: Sequence[Body]) -> list[dict[str, Any]]:
    """What the running commit says is there: PipeCD's older agents leave no labels to find it by."""
    try:
        running = await site.load_running()
        if running is None:
            return []
        kinds = await placed(site.cluster, running.manifests)
    except (UserError, ToolTroubled) as error:
        site.run.log.info(f"What ran before cannot be read any more, and is not looked for: {error}")
        return []
    keys = {key_of(each) for each in applied}
    return await site.search.named((each.kind, each.key) for each in kinds if each.key not in keys)


def _suffixes(loaded: Loaded) -> dict[str, str]:
    """How the Services of the variants are called in this pipeline."""
    label = loaded.settings.spec.variant_label
    named = (
        (label.primary_value, PRIMARY_ROLLOUT),
        (label.canary_value, CANARY_ROLLOUT),
        (label.baseline_value, BASELINE_ROLLOUT),
    )
    found = {value: loaded.settings.stage_options(*stages) for value, stages in named}
    return {value: options[-1].suffix for value, options in found.items() if options}


def once(bodies: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each object once."""
    return list({str(part(each, "metadata", "uid")): each for each in bodies}.values())


def _done(applied: Sequence[Body], removed: Removed = Removed()) -> str:
    return f"{counted(len(applied), 'object')} applied" + (f", {removed.in_words()}" if any(removed) else "")
