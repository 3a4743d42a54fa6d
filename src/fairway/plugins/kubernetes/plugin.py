"""Kubernetes as an agent sees it: the stages, and the answers to its questions, each a thin method.

Two plugins share everything: `kubernetes` for an application on one cluster, `kubernetes_multicluster` for one on
several side by side, whose stages may be for some of them only.
"""

import asyncio
from collections.abc import Callable
from typing import Any, ClassVar

from fairway.config.agent_file import DeployTarget
from fairway.config.stages import (
    K8sBaselineRolloutOptions,
    K8sCanaryRolloutOptions,
    K8sMultiBaselineRolloutOptions,
    K8sMultiCanaryRolloutOptions,
    K8sMultiCleanOptions,
    K8sMultiPrimaryRolloutOptions,
    K8sMultiSyncOptions,
    K8sMultiTrafficRoutingOptions,
    K8sPrimaryRolloutOptions,
    K8sSyncOptions,
    K8sTrafficRoutingOptions,
    StageOptions,
)
from fairway.kube.calls import Patience
from fairway.model.artifact import ArtifactVersion
from fairway.model.stage import DISPLAY
from fairway.plugins.kubernetes import stages
from fairway.plugins.kubernetes.clusters import Clusters
from fairway.plugins.kubernetes.live.live import LiveStates
from fairway.plugins.kubernetes.manifests.load import Manifests
from fairway.plugins.kubernetes.planning.commits import Commits
from fairway.plugins.kubernetes.planning.trial import Trials
from fairway.plugins.kubernetes.removing.left_behind import LeftBehind
from fairway.plugins.kubernetes.rollout.away import Work, patiently, refuse_lost
from fairway.plugins.kubernetes.routes import all_targets
from fairway.plugins.kubernetes.settings import application_settings, goes_to
from fairway.plugins.kubernetes.shaping.traffic import Shares
from fairway.plugins.kubernetes.site import Place, Site
from fairway.plugins.kubernetes.undoing import roll_back
from fairway.plugins.kubernetes.whose.alive import Applications
from fairway.plugins.kubernetes.whose.registered import Registrations
from fairway.sdk import (
    Files,
    Live,
    LiveQuestion,
    Outcome,
    PlannedStage,
    Plugin,
    PluginSettings,
    Preview,
    PreviewQuestion,
    StageFailed,
    StageRun,
    Strategy,
    rollback,
    stage,
    undo,
)
from fairway.sdk.plugin import StageSpec


class OnClusters(Plugin):
    """What both plugins share."""

    #: How long a stage waits for a cluster that is away, where it has no less time than that.
    away_seconds: ClassVar[float] = 3600.0
    #: How patient each single call is before that.
    patience: ClassVar[Patience] = Patience()

    def __init__(self, settings: PluginSettings) -> None:
        super().__init__(settings)
        self.clusters = Clusters(self.patience)
        self.manifests = Manifests(settings.state, settings.config, self.install_tool)
        self.commits = Commits(self.manifests, settings.name, settings.targets, Trials(self.clusters.of))
        self.live = LiveStates(self, self.manifests)

    async def close(self) -> None:
        await self.live.close()
        await self.manifests.close()
        await self.clusters.close()

    async def live_state(self, question: LiveQuestion) -> Live:
        return await self.live.look(question)

    async def versions(self, target: Files) -> tuple[ArtifactVersion, ...]:
        return await self.commits.versions(target)

    async def strategy(self, target: Files, running: Files | None) -> Strategy | None:
        return await self.commits.strategy(target, running)

    async def plan_preview(self, question: PreviewQuestion) -> tuple[Preview, ...]:
        return await self.commits.previews(question)

    def plan(self, spec: StageSpec, options: StageOptions, /) -> PlannedStage:
        if isinstance(options, K8sTrafficRoutingOptions) and spec.name in stages.ROUTING:
            return PlannedStage(metadata={DISPLAY: str(Shares(*options.shares))})
        return PlannedStage()

    async def on_targets(
        self, run: StageRun[Any], work: Work, only: tuple[str, ...] = (), *, prunes: bool | None = None
    ) -> Outcome:
        """Do the work at each deploy target of the application, side by side, or at some of them. `prunes` is None for
        a stage that does not bring the primary."""
        targets = self._targets(run)
        chosen = _named(targets, only)
        if not chosen:
            raise StageFailed("the application names no deploy target of this plugin; name one where it is registered")
        open_site = self._sites(run, alone=len(targets) == 1)
        left = LeftBehind(run, self.settings.targets, targets)
        former = () if run.stage.is_rollback else await left.note()
        outcome = await self._on_each(run, chosen, open_site, work)
        if prunes is not None and stages.is_last_rollout(run):
            await left.clear(former, open_site, prune=prunes)
        return outcome

    def _sites(self, run: StageRun[Any], *, alone: bool) -> Callable[[DeployTarget], Site]:
        own = run.targets
        applications, registered = self.settings.shared.get(Applications), Registrations(run.find_application)
        applications.see(run.deployment.application_id, asyncio.get_running_loop().time())

        def open_site(target: DeployTarget) -> Site:
            place = Place(
                plugin=self.settings.name,
                target=target,
                own=own,
                cluster=lambda: self.clusters.of(target),
                manifests=self.manifests,
                applications=applications,
                registered=registered,
                alone=alone,
            )
            return Site(run, place)

        return open_site

    async def _on_each(
        self,
        run: StageRun[Any],
        chosen: tuple[DeployTarget, ...],
        open_site: Callable[[DeployTarget], Site],
        work: Work,
    ) -> Outcome:
        own = run.targets
        remarks: dict[str, str] = {}

        async def at(target: DeployTarget) -> str:
            site = open_site(target)
            if not run.stage.is_rollback:
                await site.begin()
            lost = target.name in run.lost_targets
            done = await (refuse_lost(site, self.settings) if lost else patiently(site, work, self.away_seconds))
            remarks.update({target.name: site.remark} if site.remark else {})
            return done

        if len(chosen) == 1:
            run.log.success(await at(chosen[0]))
            return Outcome(message="".join(remarks.values()))
        run.targets = chosen
        try:
            await run.on_each_target(at)
        finally:
            # The stage may be tried again: where routes lead does not become the application's own for that.
            run.targets = own
        return Outcome(message="; ".join(f"{name}: {said}" for name, said in sorted(remarks.items())))

    def _sync_prunes(self, run: StageRun[Any]) -> bool:
        spec = application_settings(run.target, self.settings.name).spec
        return bool(stages.sync_options(run, spec, run.options).prune)

    def _targets(self, run: StageRun[Any]) -> tuple[DeployTarget, ...]:
        """Where anything of the application goes; a rollback has to do with both commits."""
        commits = [run.target, *([run.running] if run.running is not None and run.stage.is_rollback else [])]
        found: dict[str, DeployTarget] = {}
        for files in commits:
            spec = application_settings(files, self.settings.name).spec
            own = tuple(each for each in run.targets if goes_to(spec, each))
            found |= {each.name: each for each in all_targets(own, spec.resource_routes, self.settings.targets)}
        # Something of it may be there, though nobody can get there any more.
        return (*found.values(), *(DeployTarget(name=each) for each in run.lost_targets))


class Kubernetes(OnClusters):
    """An application on a cluster."""

    name = "kubernetes"

    @stage("K8S_SYNC", options=K8sSyncOptions, quick_sync=True)
    async def sync(self, run: StageRun[K8sSyncOptions]) -> None:
        """Bring everything to what Git says, at once."""
        await self.on_targets(run, lambda site: stages.sync(site, run.options), prunes=self._sync_prunes(run))

    @stage("K8S_PRIMARY_ROLLOUT", options=K8sPrimaryRolloutOptions)
    async def roll_out_primary(self, run: StageRun[K8sPrimaryRolloutOptions]) -> None:
        """Bring the primary to what Git says."""
        options = run.options
        await self.on_targets(run, lambda site: stages.roll_out_primary(site, options), prunes=options.prune)

    @stage("K8S_CANARY_ROLLOUT", options=K8sCanaryRolloutOptions)
    async def roll_out_canary(self, run: StageRun[K8sCanaryRolloutOptions]) -> None:
        """Run the new version beside the primary."""
        await self.on_targets(run, lambda site: stages.roll_out_canary(site, run.options))

    @stage("K8S_CANARY_CLEAN")
    async def clean_canary(self, run: StageRun[StageOptions]) -> None:
        """Take the canary away."""
        await self.on_targets(run, stages.clean_canary)

    @stage("K8S_BASELINE_ROLLOUT", options=K8sBaselineRolloutOptions)
    async def roll_out_baseline(self, run: StageRun[K8sBaselineRolloutOptions]) -> None:
        """Run what runs now once more, afresh."""
        await self.on_targets(run, lambda site: stages.roll_out_baseline(site, run.options))

    @stage("K8S_BASELINE_CLEAN")
    async def clean_baseline(self, run: StageRun[StageOptions]) -> None:
        """Take the baseline away."""
        await self.on_targets(run, stages.clean_baseline)

    @stage("K8S_TRAFFIC_ROUTING", options=K8sTrafficRoutingOptions)
    async def route_traffic(self, run: StageRun[K8sTrafficRoutingOptions]) -> None:
        """Share out the traffic."""
        await self.on_targets(run, lambda site: stages.route_traffic(site, run.options))

    @rollback("K8S_ROLLBACK")
    async def roll_back(self, run: StageRun[StageOptions]) -> Outcome:
        """Bring back what ran before the deployment."""
        return await self.on_targets(run, roll_back)

    # Nobody plans it here: it comes with deployments that an agent of PipeCD's older generation has planned.
    @undo("ROLLBACK", of="")
    async def roll_back_v0(self, run: StageRun[StageOptions]) -> Outcome:
        """The same, by its older name."""
        return await self.on_targets(run, roll_back)


class KubernetesMulticluster(OnClusters):
    """An application on several clusters, side by side."""

    name = "kubernetes_multicluster"

    @stage("K8S_MULTI_SYNC", options=K8sMultiSyncOptions, quick_sync=True)
    async def sync(self, run: StageRun[K8sMultiSyncOptions]) -> None:
        """Bring everything to what Git says, at once."""
        prunes, only = self._sync_prunes(run), run.options.multi_targets
        await self.on_targets(run, lambda site: stages.sync(site, run.options), only, prunes=prunes)

    @stage("K8S_MULTI_PRIMARY_ROLLOUT", options=K8sMultiPrimaryRolloutOptions)
    async def roll_out_primary(self, run: StageRun[K8sMultiPrimaryRolloutOptions]) -> None:
        """Bring the primary to what Git says."""
        options, only = run.options, run.options.multi_targets
        await self.on_targets(run, lambda site: stages.roll_out_primary(site, options), only, prunes=options.prune)

    @stage("K8S_MULTI_CANARY_ROLLOUT", options=K8sMultiCanaryRolloutOptions)
    async def roll_out_canary(self, run: StageRun[K8sMultiCanaryRolloutOptions]) -> None:
        """Run the new version beside the primary."""
        await self.on_targets(run, lambda site: stages.roll_out_canary(site, run.options), run.options.multi_targets)

    @stage("K8S_MULTI_CANARY_CLEAN", options=K8sMultiCleanOptions)
    async def clean_canary(self, run: StageRun[K8sMultiCleanOptions]) -> None:
        """Take the canary away."""
        await self.on_targets(run, stages.clean_canary, run.options.multi_targets)

    @stage("K8S_MULTI_BASELINE_ROLLOUT", options=K8sMultiBaselineRolloutOptions)
    async def roll_out_baseline(self, run: StageRun[K8sMultiBaselineRolloutOptions]) -> None:
        """Run what runs now once more, afresh."""
        await self.on_targets(run, lambda site: stages.roll_out_baseline(site, run.options), run.options.multi_targets)

    @stage("K8S_MULTI_BASELINE_CLEAN", options=K8sMultiCleanOptions)
    async def clean_baseline(self, run: StageRun[K8sMultiCleanOptions]) -> None:
        """Take the baseline away."""
        await self.on_targets(run, stages.clean_baseline, run.options.multi_targets)

    @stage("K8S_MULTI_TRAFFIC_ROUTING", options=K8sMultiTrafficRoutingOptions)
    async def route_traffic(self, run: StageRun[K8sMultiTrafficRoutingOptions]) -> None:
        """Share out the traffic."""
        await self.on_targets(run, lambda site: stages.route_traffic(site, run.options), run.options.multi_targets)

    @rollback("K8S_MULTI_ROLLBACK")
    async def roll_back(self, run: StageRun[StageOptions]) -> Outcome:
        """Bring back what ran before the deployment, everywhere."""
        return await self.on_targets(run, roll_back)


def _named(targets: tuple[DeployTarget, ...], only: tuple[str, ...]) -> tuple[DeployTarget, ...]:
    """The deploy targets that a stage names, or all; StageFailed when it names another than the application's."""
    unknown = [each for each in only if each not in {one.name for one in targets}]
    if unknown:
        names = ", ".join(each.name for each in targets) or "none"
        raise StageFailed(f"multiTargets names {', '.join(unknown)}; the application's deploy targets are {names}")
    return tuple(each for each in targets if not only or each.name in only)
