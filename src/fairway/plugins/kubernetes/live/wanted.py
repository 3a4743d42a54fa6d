"""What should run of an application at one deploy target, as Git says, and where else it has ever had objects."""

import zlib
from collections.abc import Iterable

import msgspec

from fairway.config.agent_file import DeployTarget
from fairway.kube.cluster import Cluster
from fairway.kube.errors import UnknownKind
from fairway.kube.manifest import Key
from fairway.plugins.kubernetes.applying.placing import Placed, placed
from fairway.plugins.kubernetes.drift.mending import prunes
from fairway.plugins.kubernetes.live.objects import Seen
from fairway.plugins.kubernetes.manifests.load import Manifests
from fairway.plugins.kubernetes.marks import COMMIT, mark
from fairway.plugins.kubernetes.removing.record import Where, kept_places
from fairway.plugins.kubernetes.routes import all_targets, routed_to
from fairway.plugins.kubernetes.settings import (
    ApplicationSettings,
    application_settings,
    goes_to,
    input_for,
    target_settings,
)
from fairway.plugins.kubernetes.shaping.variants import DEPLOYMENT
from fairway.sdk import LiveQuestion, Plugin


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What a commit says. It is there for every application all the time, so the objects are kept packed."""

    settings: ApplicationSettings
    packed: bytes
    #: apiVersion and kind of everything that the application has, may have had, or is to be looked for.
    kinds: tuple[tuple[str, str], ...]
    namespaces: frozenset[str]

    def objects(self) -> tuple[Placed, ...]:
        """The objects that are to be."""
        return msgspec.json.decode(zlib.decompress(self.packed), type=tuple[Placed, ...])

    def keys(self) -> frozenset[Key]:
        """Which objects these are."""
        return frozenset(each.key for each in self.objects())


class _Known(msgspec.Struct):
    """What was read of a commit."""

    commit: str
    wanted: Wanted
    #: Whether the same commit may say something else tomorrow, such as by the newest version of a chart.
    floats: bool
    #: Whether it was deployed since, with whatever it said then.
    is_deployed: bool = False


class WantedObjects:
    """Knows what is wanted for all applications of a plugin; read once for each commit, and what floats once more when
    it was deployed."""

    def __init__(self, plugin: Plugin, manifests: Manifests) -> None:
        self._plugin = plugin
        self._manifests = manifests
        self._known: dict[tuple[str, str], _Known] = {}
        #: Application id → its file, and what it says.
        self._settings: dict[str, tuple[bytes, ApplicationSettings]] = {}

    def targets(self, question: LiveQuestion) -> tuple[DeployTarget, ...]:
        """Where something of the application may run."""
        routes = self._said(question).spec.resource_routes
        return all_targets(self._own(question), routes, self._plugin.settings.targets)

    async def at(self, question: LiveQuestion, target: DeployTarget, cluster: Cluster) -> Wanted:
        """What is wanted at one deploy target."""
        key, under_way = (question.application_id, target.name), question.deployment_under_way
        known = self._known.get(key)
        if known is None or known.commit != question.files.commit or (known.is_deployed and not under_way):
            wanted = await self._read(question, target, cluster)
            known = self._known[key] = _Known(question.files.commit, wanted, await self._floats(question, target))
        known.is_deployed |= known.floats and bool(under_way)
        return known.wanted

    def prunes(self, question: LiveQuestion) -> bool:
        """Whether a deployment removes what Git does not have."""
        return prunes(self._said(question))

    def forget(self, application_id: str) -> None:
        """Nobody asks about an application any more."""
        self._settings.pop(application_id, None)
        self._known = {key: known for key, known in self._known.items() if key[0] != application_id}

    async def _read(self, question: LiveQuestion, target: DeployTarget, cluster: Cluster) -> Wanted:
        settings = self._said(question)
        wanted, directory = input_for(settings.spec, target)

        async def namespaced(api_version: str, kind: str) -> bool | None:
            try:
                return (await cluster.kind(api_version, kind)).namespaced
            except UnknownKind:
                return None

        loaded = await self._manifests.load(
            question.files,
            wanted,
            application_name=question.application_name,
            kustomize_dir=directory,
            namespaced=namespaced,
        )
        here = routed_to(loaded, target, self._own(question), settings.spec.resource_routes)
        objects = await placed(cluster, here)
        places = await kept_places(self._plugin, question.application_id, target.name)
        return Wanted(
            settings=settings,
            packed=zlib.compress(msgspec.json.encode(objects), 1),
            kinds=_kinds(objects, places, target),
            namespaces=_namespaces(objects, places) or frozenset({cluster.default_namespace}),
        )

    async def _floats(self, question: LiveQuestion, target: DeployTarget) -> bool:
        wanted, directory = input_for(self._said(question).spec, target)
        # It has just been made.
        rendering = await self._manifests.render(
            question.files, wanted, application_name=question.application_name, kustomize_dir=directory
        )
        return rendering.floating

    def _own(self, question: LiveQuestion) -> tuple[DeployTarget, ...]:
        spec = self._said(question).spec
        return tuple(each for each in question.targets if goes_to(spec, each))

    def _said(self, question: LiveQuestion) -> ApplicationSettings:
        text = question.files.config_text
        known = self._settings.get(question.application_id)
        if known is None or known[0] != text:
            said = application_settings(question.files, self._plugin.settings.name)
            known = self._settings[question.application_id] = (text, said)
        return known[1]


class Variants(msgspec.Struct, frozen=True, kw_only=True):
    """What tells which objects a pipeline has made."""

    settings: ApplicationSettings
    #: Names of the Services in Git.
    services: frozenset[str]
    #: All objects of the application.
    roots: tuple[Seen, ...]
    #: Whether a deployment is under way; None where nobody says.
    under_way: bool | None


def is_passing(seen: Seen, among: Variants) -> bool:
    """Whether an object is there for a while only, or beside those in Git, because a pipeline wants it so.

    A canary or baseline belongs to the deployment that is under way. Where nobody says whether one is (PipeCD's agents
    do not), it is taken to be so while the canary is of another commit than what runs as primary. What else the primary
    has may be of the canary's already, because its pods need it or traffic is sent there.
    """
    label, body = among.settings.spec.variant_label, seen.body()
    variant = mark(body, label.key)
    if variant == label.primary_value:
        return _is_primary_service(seen, among)
    if variant not in (label.canary_value, label.baseline_value):
        return False
    if among.under_way is not None:
        return among.under_way
    primaries = (each.body() for each in among.roots if each.kind == DEPLOYMENT)
    commits = {mark(each, COMMIT) for each in primaries if mark(each, label.key) == label.primary_value}
    return mark(body, COMMIT) not in commits


def _is_primary_service(seen: Seen, among: Variants) -> bool:
    """Whether it is the Service that K8S_PRIMARY_ROLLOUT makes beside the one in Git."""
    if seen.kind != "Service":
        return False
    primary = among.settings.spec.variant_label.primary_value
    for options in among.settings.stage_options("K8S_PRIMARY_ROLLOUT", "K8S_MULTI_PRIMARY_ROLLOUT"):
        suffix = options.suffix or primary
        if options.create_service and any(seen.name == f"{name}-{suffix}" for name in among.services):
            return True
    return False


def _kinds(objects: Iterable[Placed], places: Iterable[Where], target: DeployTarget) -> tuple[tuple[str, str], ...]:
    found = dict.fromkeys((each.kind.api_version, each.kind.kind) for each in objects)
    groups = {(each.kind.group, each.kind.kind) for each in objects}
    kept = {(each.api_version, each.kind): None for each in sorted(places)}
    included = target_settings(target).app_state_informer.include_resources
    kept |= {(each.api_version, each.kind): None for each in included if each.kind}
    for api_version, kind in kept:
        # One version of a kind is enough, and that of the manifests is the one to compare.
        if (api_version.rpartition("/")[0], kind) not in groups:
            found[api_version, kind] = None
    return tuple(found)


def _namespaces(objects: Iterable[Placed], places: Iterable[Where]) -> frozenset[str]:
    found = {each.namespace for each in objects} | {each.namespace for each in places}
    return frozenset(found - {""})
