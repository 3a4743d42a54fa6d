"""One application at one deploy target while one stage runs: its manifests there, and how they get there.

Every stage goes through `bring`: marks, the check of everything, the record of places, a note of what is new, applying,
and waiting. Each of these can be done again, so a stage that was broken off anywhere is simply run again.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from fairway.config.agent_file import DeployTarget
from fairway.config.platforms import KubernetesInput
from fairway.errors import UserError
from fairway.kube.cluster import Cluster
from fairway.kube.errors import UnknownKind
from fairway.kube.kinds import Kind
from fairway.kube.manifest import Body, Key, Manifest, Where, key_of
from fairway.model.registration import Standing
from fairway.plugins.kubernetes.applying.anew import Anew
from fairway.plugins.kubernetes.applying.applying import Applier, Checked
from fairway.plugins.kubernetes.applying.placing import placed
from fairway.plugins.kubernetes.applying.replacing import Replacer
from fairway.plugins.kubernetes.applying.writing import stop_sharing
from fairway.plugins.kubernetes.manifests.command import ToolTroubled
from fairway.plugins.kubernetes.manifests.fields import where_written
from fairway.plugins.kubernetes.manifests.load import Manifests
from fairway.plugins.kubernetes.marks import APPLICATION, Owner, belongs_to, mark, marked, without_marks
from fairway.plugins.kubernetes.removing.keeping import Keeper
from fairway.plugins.kubernetes.removing.pruning import Search
from fairway.plugins.kubernetes.removing.record import Record
from fairway.plugins.kubernetes.removing.removing import Removed, remove
from fairway.plugins.kubernetes.rollout.pausing import resume_paused
from fairway.plugins.kubernetes.rollout.rollout import Rollout
from fairway.plugins.kubernetes.routes import routed_to
from fairway.plugins.kubernetes.settings import ApplicationSettings, application_settings, goes_to, input_for
from fairway.plugins.kubernetes.whose.alive import Applications
from fairway.plugins.kubernetes.whose.owning import Owning
from fairway.plugins.kubernetes.whose.registered import Registrations
from fairway.plugins.kubernetes.whose.sharing import sharing_manager
from fairway.sdk import Files, StageRun

_DEFINITION: Final = "CustomResourceDefinition"
_YES: Final = "yes"
_NO: Final = "no"


class Loaded(msgspec.Struct, frozen=True):
    """What a commit says about one deploy target."""

    settings: ApplicationSettings
    #: Each in the namespace that it goes to.
    manifests: tuple[Manifest, ...]


class Added(msgspec.Struct, frozen=True, order=True):
    """An object that a deployment has made."""

    api_version: str
    kind: str
    namespace: str
    name: str

    @property
    def key(self) -> Key:
        """Which object that is."""
        return Key(self.api_version.rpartition("/")[0], self.kind, self.namespace, self.name)


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where a stage works."""

    #: How the agent's file calls this plugin.
    plugin: str
    target: DeployTarget
    #: The deploy targets of the application itself, without those that only its routes lead to.
    own: tuple[DeployTarget, ...]
    #: BadAccess where its kubeconfig cannot be used.
    cluster: Callable[[], Cluster]
    manifests: Manifests
    #: What others want.
    applications: Applications
    #: Which of them there are.
    registered: Registrations
    #: Whether there is no other deploy target, which might be of the same cluster.
    alone: bool = True


class Site:
    """What a stage can do at one deploy target, once its cluster is reached; what is noted can be read before."""

    cluster: Cluster
    search: Search

    def __init__(self, run: StageRun[Any], place: Place) -> None:
        self.run = run
        self.target = place.target
        self.record = Record(run, place.target.name)
        self.alone = place.alone
        self._place = place
        #: The commits whose manifests were loaded.
        self._loaded: list[Files] = []
        #: How many objects this stage has applied.
        self._applied = 0
        #: What people should know of a stage that succeeds; empty where there is nothing to say.
        self.remark = ""

    def reach(self) -> None:
        """Find the way to the cluster; BadAccess where its kubeconfig cannot be used."""
        self.cluster = self._place.cluster()
        self.search = Search(self.cluster, self.run.deployment.application_id)

    async def load(self, files: Files) -> Loaded:
        """The manifests of a commit for this deploy target, made with the settings of that commit."""
        self._loaded.append(files)
        settings = application_settings(files, self._place.plugin)
        own = [each for each in self._place.own if goes_to(settings.spec, each)]
        wanted, directory = input_for(settings.spec, self.target)
        found = await self._load(files, wanted, directory)
        routed = routed_to(found, self.target, own, settings.spec.resource_routes)
        objects = await placed(self.cluster, routed)
        return Loaded(settings, tuple(each.manifest for each in objects))

    async def load_what_can_be(self, files: Files) -> Loaded:
        """The same; without manifests where those are what is wrong, for whoever only takes things away."""
        try:
            return await self.load(files)
        except (UserError, ToolTroubled) as error:
            # Where anything was put is in the record; nobody waits with that for a chart whose host is away.
            self.run.log.info(f"The manifests of commit {files.commit[:7]} cannot be used: {error}")
            return Loaded(application_settings(files, self._place.plugin), ())

    async def load_running(self) -> Loaded | None:
        """What ran before this deployment; None on a first one."""
        return await self.load(self.run.running) if self.run.running is not None else None

    async def _load(self, files: Files, wanted: KubernetesInput, directory: str) -> tuple[Manifest, ...]:
        async def namespaced(api_version: str, kind: str) -> bool | None:
            try:
                return (await self.cluster.kind(api_version, kind)).namespaced
            except UnknownKind:
                return None

        name, manifests = self.run.deployment.application_name, self._place.manifests
        loaded = await manifests.load(
            files, wanted, application_name=name, kustomize_dir=directory, namespaced=namespaced
        )
        for note in (await manifests.render(files, wanted, application_name=name, kustomize_dir=directory)).notes:
            self.run.log.info(note)
        return loaded

    def owner(self, loaded: Loaded, commit: str, variant: str = "", suffix: str = "") -> Owner:
        """To whom objects belong that this stage applies; for copies, which variant they are, with which suffix."""
        label = loaded.settings.spec.variant_label
        return Owner(
            agent_id=self.run.deployment.agent_id,
            application_id=self.run.deployment.application_id,
            commit=commit,
            variant_key=label.key,
            variant=variant or label.primary_value,
            beside=bool(variant),
            suffix=suffix,
            of_older_agents=bool(self.run.deployment.platform_provider),
        )

    async def check(self, manifests: Sequence[Manifest], owner: Owner, *, create_namespaces: bool) -> None:
        """NotApplied where the cluster would refuse manifests; for whoever has something to apply before them."""
        objects = await placed(self.cluster, [marked(each, owner) for each in manifests])
        await self._applier(owner).check(objects, create_namespaces=create_namespaces, applied_before=self._applied)

    def _applier(self, owner: Owner, *, restoring: bool = False) -> Applier:
        owning = Owning(owner, self._place.applications, self._place.registered)
        replacer = Replacer(self.cluster, self.run.log, Anew(self.run, self.target.name), restoring=restoring)
        return Applier(self.cluster, self.run.log, replacer, self._written, owning)

    async def bring(
        self, manifests: Sequence[Manifest], owner: Owner, *, create_namespaces: bool = False, restoring: bool = False
    ) -> tuple[Body, ...]:
        """Apply the manifests and wait until what they describe is there; the objects as they were applied. `restoring`
        where that is what ran before; what people have paused goes on then."""
        objects = await placed(self.cluster, [marked(each, owner) for each in manifests])
        applier = self._applier(owner, restoring=restoring)
        rollout = Rollout(self.cluster, self.run.log, waits_for=self.run.waits_for)
        checked = await applier.check(objects, create_namespaces=create_namespaces, applied_before=self._applied)
        # Only now: what is not allowed would be asked about by every later stage.
        await self.record.extend(objects)
        await self._note_added(checked)
        await self.run.note_for_plugin({self._touched_key: _YES})
        if create_namespaces:
            await applier.create_namespaces({each.namespace for each in objects if each.namespace})

        async def serve_kinds(step: Sequence[Body]) -> None:
            await rollout.wait([each for each in step if each["kind"] == _DEFINITION])

        applied: tuple[Body, ...] = await applier.apply(checked, serve_kinds)
        self._applied += len(applied)
        if restoring:
            applied = await resume_paused(self.cluster, applied, self.run.log)
        await rollout.wait(applied)
        return applied

    async def remove(self, bodies: Sequence[Body], why: str) -> Removed:
        """Take objects away."""
        if bodies:
            await self.run.note_for_plugin({self._touched_key: _YES})
        removed = await remove(self.cluster, bodies, self.run.log, why)
        await self._forget_added(bodies)
        return removed

    async def prune(self, bodies: Sequence[Body], applied: Sequence[Body]) -> Removed:
        """Take away what is not in Git any more, but for what others would lose something by."""
        kept = await Keeper(self.cluster, self.run.deployment.application_id, bodies, applied).kept()
        for each in kept:
            if each.for_good:
                await self._give_up(each.body)
            self.run.log.info(str(each))
        keys = {key_of(each.body) for each in kept}
        return await self.remove([each for each in bodies if key_of(each) not in keys], "Git does not have it any more")

    async def stop_sharing(self, applied: Sequence[Body]) -> None:
        """Take back what the application has said of what others own, but for what was just applied."""
        keys = {key_of(each) for each in applied}
        application_id = self.run.deployment.application_id
        for each in await self.search.shared(await self.record.places()):
            if key_of(each) not in keys:
                await stop_sharing(self.cluster, each, sharing_manager(application_id))
                self.run.log.info(f"{key_of(each)}: another application's, and no longer shared by this one")

    async def _give_up(self, body: Body) -> None:
        key = key_of(body)
        kind = await self.cluster.kind(str(body["apiVersion"]), key.kind)
        label = application_settings(self.run.target, self._place.plugin).spec.variant_label
        await self.cluster.patch(kind, key.namespace, key.name, without_marks(label.key))

    async def begin(self) -> None:
        """Note, before the first stage of a deployment does anything here, that nothing was done yet: what an agent has
        begun that did not note it cannot be known."""
        stages = [each for each in self.run.deployment.stages if each.id != self.run.stage.id and not each.is_rollback]
        before = any(each.name.startswith("K8S_") and each.was_started for each in stages)
        if not before and await self.run.noted_by_plugin(self._touched_key) is None:
            await self.run.note_for_plugin({self._touched_key: _NO})

    async def is_untouched(self) -> bool:
        """Whether no stage of the deployment has applied or removed anything here."""
        return await self.run.noted_by_plugin(self._touched_key) == _NO

    @property
    def is_undone(self) -> bool:
        """Whether a rollback follows when the stage does not succeed, as the application's file says."""
        return application_settings(self.run.target, self._place.plugin).config.planner.auto_rollback

    async def other_owner(self, live: Body | None) -> str:
        """The name of another application that is there and has an object; empty where none has."""
        own, other = self.run.deployment.application_id, mark(live, APPLICATION) if live is not None else ""
        if live is None or other == own or not belongs_to(live, other):
            return ""
        found = await self._place.registered.find(other)
        return "" if found.standing is Standing.GONE else found.name or other

    async def live(self, manifest: Manifest) -> dict[str, Any] | None:
        """The object that a manifest means, as it is now."""
        kind = await self.cluster.kind(manifest.api_version, manifest.kind)
        return await self.cluster.get(kind, manifest.namespace, manifest.name)

    async def added(self) -> list[tuple[Kind, Key]]:
        """The objects that this deployment has made here, as far as their kinds are still served."""
        found = []
        for each in await self.noted():
            try:
                kind = await self.cluster.kind(each.api_version, each.kind)
            except UnknownKind:
                continue
            found.append((kind, each.key))
        return found

    def _written(self, manifest: Manifest, field: str) -> Where:
        return where_written(manifest, field, reversed(self._loaded))

    async def _note_added(self, checked: Iterable[Checked]) -> None:
        """Write down, before it is made, what was not there: a rollback takes it away again."""
        before = await self.noted()
        new = {
            Added(each.kind.api_version, each.key.kind, each.key.namespace, each.key.name)
            for each in (each.placed for each in checked if each.fresh)
        }
        if not new <= before:
            await self._note(before | new)

    async def _forget_added(self, bodies: Sequence[Body]) -> None:
        """What is gone need not be taken away again, nor is it left over."""
        before = await self.noted() if bodies else set()
        keys = {key_of(each) for each in bodies}
        left = {each for each in before if each.key not in keys}
        if left != before:
            await self._note(left)

    async def _note(self, added: set[Added]) -> None:
        await self.run.note_for_plugin({self._added_key: msgspec.json.encode(sorted(added)).decode()})

    async def noted(self) -> set[Added]:
        """The same, as it was written down; that takes no cluster."""
        noted = await self.run.noted_by_plugin(self._added_key)
        return set(msgspec.json.decode(noted, type=list[Added])) if noted else set()

    async def note_configuration(self, hashes: Mapping[str, Mapping[str, str]]) -> None:
        """Write down of workloads that others have started with which configuration they run, by its hashes."""
        await self.run.note_for_plugin({self._configuration_key: msgspec.json.encode(hashes).decode()})

    async def noted_configuration(self) -> dict[str, dict[str, str]]:
        """The same, as it was written down."""
        noted = await self.run.noted_by_plugin(self._configuration_key)
        return msgspec.json.decode(noted, type=dict[str, dict[str, str]]) if noted else {}

    @property
    def _configuration_key(self) -> str:
        return f"configuration-{self.target.name}"

    @property
    def _touched_key(self) -> str:
        return f"touched-{self.target.name}"

    @property
    def _added_key(self) -> str:
        return f"added-{self.target.name}"
