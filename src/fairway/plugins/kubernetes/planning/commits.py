"""What an agent asks about commits before anything happens: their versions, how to deploy them, what they would change.

All of it is answered from files, so a cluster that is away keeps nobody from planning. What a change would bring is
also tried at the cluster, where that can be done. Each commit is read with its own settings.
"""

from collections.abc import Sequence

import msgspec

from fairway.config.agent_file import DeployTarget
from fairway.config.platforms import KubernetesSpec
from fairway.errors import UserError
from fairway.kube.manifest import Manifest
from fairway.model.artifact import ArtifactVersion
from fairway.plugins.kubernetes.applying.refusals import NotApplied
from fairway.plugins.kubernetes.manifests.load import Manifests
from fairway.plugins.kubernetes.marks import Owner
from fairway.plugins.kubernetes.planning.preview import brought, preview
from fairway.plugins.kubernetes.planning.strategy import decide_strategy
from fairway.plugins.kubernetes.planning.trial import Brought, Trial, Trials
from fairway.plugins.kubernetes.planning.versions import image_versions
from fairway.plugins.kubernetes.routes import all_targets, routed_to
from fairway.plugins.kubernetes.settings import ApplicationSettings, application_settings, goes_to, input_for
from fairway.plugins.kubernetes.stages import PRIMARY_ROLLOUT, SYNC
from fairway.sdk import Files, Preview, PreviewQuestion, Strategy, SyncStrategy
from fairway.sdk.side_by_side import all_ended

#: For the settings that hold wherever the application goes.
_ANYWHERE = DeployTarget(name="")
#: An error goes by the headers of an answer, in which there is no more room.
_MOST_LETTERS = 4000


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """What a commit says about one deploy target."""

    settings: ApplicationSettings
    manifests: tuple[Manifest, ...]
    notes: tuple[str, ...] = ()


class Commits:
    """Answers for one plugin; `plugin` is how the agent's file names it, `known` are its deploy targets."""

    def __init__(self, manifests: Manifests, plugin: str, known: Sequence[DeployTarget], trials: Trials) -> None:
        self._manifests = manifests
        self._trials = trials
        self._plugin = plugin
        self._known = tuple(known)

    async def versions(self, files: Files) -> tuple[ArtifactVersion, ...]:
        """The images that a commit would bring, wherever it goes."""
        found: dict[ArtifactVersion, None] = {}
        for target in self._kinds_of_targets(self._settings(files).spec):
            found |= dict.fromkeys(image_versions((await self._said(files, target)).manifests))
        return tuple(found)

    async def strategy(self, target: Files, running: Files | None) -> Strategy | None:
        """Whether the change deserves the pipeline at one deploy target at least; None on a first deployment."""
        if running is None:
            return None
        if target.commit == running.commit:
            # What differs in the cluster is not known here.
            return Strategy(SyncStrategy.QUICK_SYNC, "Quick sync, because this commit has been deployed before")
        decided: list[Strategy] = []
        for each in self._kinds_of_targets(self._settings(target).spec):
            new = await self._said(target, each)
            try:
                old = await self._said(running, each)
            except UserError as error:
                return Strategy(SyncStrategy.PIPELINE, f"Pipeline, because what runs cannot be read any more: {error}")
            named = [each.settings.spec.workloads for each in (new, old)]
            decided.append(decide_strategy(old.manifests, new.manifests, *named))
        return next((each for each in decided if each.strategy is SyncStrategy.PIPELINE), decided[0])

    async def previews(self, question: PreviewQuestion) -> tuple[Preview, ...]:
        """What a change would do to each deploy target that something of the application goes to; NotApplied with all
        that a cluster does not take of it."""
        spec = self._settings(question.target).spec
        own = tuple(each for each in question.targets if goes_to(spec, each))
        targets = all_targets(own, spec.resource_routes, self._known)
        found = await all_ended(self._preview(question, own, each) for each in targets)
        refused = [
            trial.refused if len(found) == 1 else f"{seen.deploy_target}: {trial.refused}"
            for seen, trial in found
            if trial.refused
        ]
        if refused:
            raise NotApplied("\n".join(refused)[:_MOST_LETTERS])
        return tuple(seen for seen, _ in found)

    async def _preview(
        self, question: PreviewQuestion, own: Sequence[DeployTarget], target: DeployTarget
    ) -> tuple[Preview, Trial]:
        new = await self._said(question.target, target, question.application_name)
        after = routed_to(new.manifests, target, own, new.settings.spec.resource_routes)
        before: tuple[Manifest, ...] = ()
        notes, named_before = new.notes, new.settings.spec.workloads
        if question.running is not None:
            try:
                old = await self._said(question.running, target, question.application_name)
                before = routed_to(old.manifests, target, own, old.settings.spec.resource_routes)
                named_before = old.settings.spec.workloads
            except UserError as error:
                notes = (f"what runs cannot be read any more, so everything seems new: {error}", *notes)
        label = new.settings.spec.variant_label
        owner = Owner(
            # Which agent deploys is not asked for here; objects that were deployed tell it.
            agent_id="",
            application_id=question.application_id,
            commit=question.target.commit,
            variant_key=label.key,
            variant=label.primary_value,
        )
        changed = brought(before, after)
        trial = await self._trials.of(
            target, Brought(manifests=after, changed=changed, owner=owner, files=question.target)
        )
        notes = (*notes, *trial.notes)
        strategy = decide_strategy(before, after, new.settings.spec.workloads, named_before).strategy
        return preview(target.name, before, after, notes, prunes=_prunes(new.settings, strategy)), trial

    async def _said(self, files: Files, target: DeployTarget, application_name: str = "") -> Said:
        settings = self._settings(files)
        wanted, directory = input_for(settings.spec, target)
        name = application_name or settings.config.name
        # Rendered once: the second finds what the first has made.
        rendering = await self._manifests.render(files, wanted, application_name=name, kustomize_dir=directory)
        manifests = await self._manifests.load(
            files, wanted, application_name=name, kustomize_dir=directory, may_be_empty=True
        )
        return Said(settings=settings, manifests=manifests, notes=rendering.notes)

    def _settings(self, files: Files) -> ApplicationSettings:
        return application_settings(files, self._plugin)

    def _kinds_of_targets(self, spec: KubernetesSpec) -> tuple[DeployTarget, ...]:
        """One deploy target for each way in which manifests may be made."""
        several = self._known if spec.input.multi_targets else ()
        return tuple(each for each in several if goes_to(spec, each)) or (_ANYWHERE,)


def _prunes(settings: ApplicationSettings, decided: SyncStrategy) -> bool:
    """Whether a deployment of a change takes away what Git does not have any more."""
    spec, config = settings.spec, settings.config
    if config.stages and (config.planner.always_use_pipeline or decided is SyncStrategy.PIPELINE):
        return any(each.prune for each in settings.stage_options(*PRIMARY_ROLLOUT, *SYNC))
    return spec.quick_sync.prune
