"""Bringing manifests to a cluster: everything is checked before the first is applied, then step by step.

How an object is written, and who may lose a field by it, is `writing`'s business, or `replacing`'s.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeVar

import msgspec

from fairway.errors import FairwayError
from fairway.kube.cluster import Cluster
from fairway.kube.errors import AlreadyThere, Invalid, NotAllowed, NotThere, UnknownKind
from fairway.kube.kinds import Kind
from fairway.kube.manifest import Body, Key, Manifest, key_of
from fairway.plugins.kubernetes.applying.admission import load_admission
from fairway.plugins.kubernetes.applying.adoption import can_be_taken_over
from fairway.plugins.kubernetes.applying.known_change import WORTHWHILE, is_config, needs_no_check
from fairway.plugins.kubernetes.applying.ordered_lines import OrderedLines
from fairway.plugins.kubernetes.applying.outcome import outcome
from fairway.plugins.kubernetes.applying.placing import Placed
from fairway.plugins.kubernetes.applying.refusals import OtherSelector, Written, is_unchangeable, together
from fairway.plugins.kubernetes.applying.remaking import reason_to_keep
from fairway.plugins.kubernetes.applying.replacing import Replacer, is_made_anew, is_replaced
from fairway.plugins.kubernetes.applying.writing import Writer
from fairway.plugins.kubernetes.marks import APPLICATION, mark, selector
from fairway.plugins.kubernetes.parts import part
from fairway.plugins.kubernetes.removing.removing import wait_until_gone
from fairway.plugins.kubernetes.shaping.order import in_steps
from fairway.plugins.kubernetes.shaping.variants import only_label_differs
from fairway.plugins.kubernetes.whose.owning import Owning
from fairway.plugins.kubernetes.whose.sharing import is_shareable, sharers
from fairway.sdk import Retry
from fairway.sdk.side_by_side import all_ended
from fairway.sdk.stage_log import StageLog

T = TypeVar("T")
#: Calls side by side. Of many objects a tenth less time than with ten, and on a cluster far away half of it; each takes
#: a connection with its handshake, so that more would cost those who have few.
_AT_ONCE: Final = 20
#: For objects of a kind that this very stage defines: it is served by each part of the API server in its own time.
_SERVED_SOON: Final = Retry(attempts=9, first_delay=0.1, longest_delay=10.0)
_RBAC: Final = "rbac.authorization.k8s.io"
#: Of these the API server asks, already when it checks them, that others are there.
_NEEDING: Final = {
    ("", "Pod"): frozenset({"ServiceAccount", "PriorityClass", "RuntimeClass"}),
    (_RBAC, "RoleBinding"): frozenset({"Role", "ClusterRole"}),
    (_RBAC, "ClusterRoleBinding"): frozenset({"ClusterRole"}),
}


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """A manifest that the cluster would take, and how it takes it."""

    placed: Placed
    #: The object as it was then, where it is there.
    before: Body | None = None
    #: Whether fields are to be taken over from kubectl.
    adopt: bool = False
    #: The id of another application that had the object until now.
    taken_from: str = ""
    #: The id of another application that has the object and keeps it.
    shared_with: str = ""
    #: Why an object that asks to be recreated is applied in place.
    kept_because: str = ""

    @property
    def fresh(self) -> bool:
        """Whether the object is not there yet."""
        return self.before is None

    @property
    def is_replaced(self) -> bool:
        """Whether it is written as a whole; what others have a say in is applied instead, so that they keep theirs."""
        if self.kept_because:
            return False
        return is_replaced(self.placed.manifest.body) and not (self.before and sharers(self.before))


class Applier:
    """Applies the manifests of one stage to one cluster."""

    def __init__(self, cluster: Cluster, log: StageLog, replacer: Replacer, written: Written, owning: Owning) -> None:
        self._cluster = cluster
        self._log = log
        self._replacer = replacer
        self._writer = Writer(cluster, log, owning)
        self._written = written
        self._owning = owning
        self._places = asyncio.Semaphore(_AT_ONCE)
        #: All kinds, once somebody had to know.
        self._served: tuple[Kind, ...] | None = None

    async def check(
        self, manifests: Sequence[Placed], *, create_namespaces: bool = False, applied_before: int = 0
    ) -> tuple[Checked, ...]:
        """What the cluster would make of the manifests; NotApplied with everything that it refuses, and how many other
        objects the stage has applied before."""
        missing = await self._missing_namespaces(manifests, create_namespaces)
        there = {each.manifest.kind for each in manifests}
        own = await self._own_of_many(manifests, missing)
        known = await self._known(manifests, own)

        async def check(each: Placed) -> Checked:
            if each.namespace in missing:
                return Checked(placed=each)
            if each.key in known:
                return known[each.key]
            return await self._check(each, there, own.get(each.key))

        return await self._side_by_side(
            manifests,
            check,
            lambda each: each.manifest,
            lambda _: f"{applied_before} had been applied before" if applied_before else "nothing was applied",
        )

    async def apply(
        self, checked: Sequence[Checked], after_step: Callable[[Sequence[Body]], Awaitable[None]]
    ) -> tuple[dict[str, Any], ...]:
        """The objects as the cluster answered; `after_step` may wait for those of one step before the next."""
        by_key = {each.placed.key: each for each in checked}
        applied: list[dict[str, Any]] = []
        for step in in_steps(each.placed.manifest for each in checked):
            lines = OrderedLines(self._log, [each.key for each in step])
            objects = await self._side_by_side(
                [by_key[each.key] for each in step],
                partial(self._apply, lines=lines),
                lambda each: each.placed.manifest,
                partial(_applied, len(checked), len(applied)),
            )
            applied += objects
            await after_step(objects)
        return tuple(applied)

    async def create_namespaces(self, names: Iterable[str]) -> None:
        """Make the namespaces that are not there, each once."""
        kind = await self._cluster.kind("v1", "Namespace")
        for name in sorted(set(names)):
            if await self._cluster.get(kind, "", name) is None:
                try:
                    await self._cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
                    self._log.info(f"Created Namespace {name}")
                except AlreadyThere:
                    # Somebody else was quicker.
                    continue

    async def _own_of_many(self, manifests: Sequence[Placed], missing: frozenset[str]) -> dict[Key, Body]:
        """Of the places with many of the manifests, what the application has there: less work than one by one."""
        places: dict[tuple[Kind, str], list[Placed]] = {}
        for each in manifests:
            if each.namespace not in missing and not each.defined_here:
                places.setdefault((each.kind, each.namespace), []).append(each)
        own: dict[Key, Body] = {}
        for (kind, namespace), some in places.items():
            if self._owning.is_copy or len(some) < WORTHWHILE:
                continue
            application = mark(some[0].manifest.body, APPLICATION)
            try:
                found = await self._cluster.list(kind, namespace, selector(application))
            except NotAllowed:
                # Then each of them is asked about.
                continue
            own |= {key_of(each): each for each in found}
        return own

    async def _known(self, manifests: Sequence[Placed], own: Mapping[Key, Body]) -> dict[Key, Checked]:
        """Those that the cluster is certain to take in place of what is there."""
        certain = [each for each in manifests if each.key in own and needs_no_check(each.manifest.body, own[each.key])]
        if not certain:
            return {}
        admission = await load_admission(self._cluster)
        return {
            each.key: Checked(placed=each, before=own[each.key])
            for each in certain
            # Who asks about the content of configuration is rare, and refuses it rarely.
            if not admission.has_a_say(each.kind) or (not admission.is_known and is_config(each.manifest.body))
        }

    async def _missing_namespaces(self, manifests: Sequence[Placed], create: bool) -> frozenset[str]:
        """The namespaces that this stage will make, so that nothing in them can be checked before."""
        made = {each.manifest.name for each in manifests if each.manifest.kind == "Namespace"}
        used = {each.namespace for each in manifests if each.namespace and (create or each.namespace in made)}
        if not used:
            return frozenset()
        kind = await self._cluster.kind("v1", "Namespace")

        async def is_missing(name: str) -> bool:
            try:
                return await self._cluster.get(kind, "", name) is None
            except NotAllowed:
                # Who may not look at namespaces will hardly make them.
                return False

        return frozenset([name for name in sorted(used) if await is_missing(name)])

    async def _check(self, each: Placed, there: set[str], own: Body | None) -> Checked:
        needs = _NEEDING.get((each.key.group, each.key.kind), frozenset())
        if self._owning.is_copy:
            # Of what is not to be touched nobody wants to hear what else is wrong with it.
            await self._looked_at(each)
        if each.defined_here:
            return await self._looked_at(each)
        try:
            return await self._tried(each, own)
        except (NotThere, NotAllowed) as error:
            if needs & there or "dry run" in str(error):
                # What it needs may only come, or be changed, with it.
                return await self._looked_at(each)
            raise
        except Invalid as error:
            if "dry run" in str(error):
                # A webhook that cannot be asked without consequences; it will be asked when it matters.
                return await self._looked_at(each)
            raise

    async def _tried(self, each: Placed, own: Body | None) -> Checked:
        looked = None
        if is_replaced(each.manifest.body) or (own is None and is_shareable(each.key)):
            looked = await self._looked_at(each)
            if looked.shared_with:
                await self._judged(each, self._writer.share(each.manifest.body, looked.before or {}, dry_run=True))
                return looked
            if looked.is_replaced:
                await self._judged(each, self._replacer.check(each, looked.before))
                return looked
        answer = await self._judged(each, self._writer.apply(each.manifest.body, dry_run=True))
        # An object that is only imagined has no version.
        if not part(answer, "metadata", "resourceVersion"):
            return Checked(placed=each)
        if looked is not None or own is None:
            # The answer has our marks already; whose the object is until now, only it says itself.
            return looked or await self._looked_at(each)
        return Checked(
            placed=each, before=own, adopt=can_be_taken_over(part(answer, "metadata", "managedFields") or ())
        )

    async def _looked_at(self, each: Placed) -> Checked:
        live = await self._cluster.get(each.kind, each.namespace, each.key.name)
        if live is None and each.defined_here:
            live = await self._in_another_version(each)
        if live is None:
            return Checked(placed=each)
        if other := await self._owning.shared_with(each.manifest.body, live):
            return Checked(placed=each, before=live, shared_with=other)
        return Checked(
            placed=each,
            before=live,
            adopt=can_be_taken_over(part(live, "metadata", "managedFields") or ()),
            taken_from=await self._owning.taken_from(each.manifest.body, live),
            kept_because=await self._kept_because(each, live),
        )

    async def _kept_because(self, each: Placed, live: Body) -> str:
        if not is_made_anew(each.manifest.body):
            return ""
        return await reason_to_keep(self._cluster, each, live, self._owning.variant_key)

    async def _in_another_version(self, each: Placed) -> dict[str, Any] | None:
        """The object where the cluster serves its kind, but not yet in the version that the manifest has."""
        if self._served is None:
            self._served = (await self._cluster.served()).kinds
        for kind in self._served:
            if (kind.group, kind.kind) == (each.kind.group, each.kind.kind):
                return await self._cluster.get(kind, each.namespace, each.key.name)
        return None

    async def _apply(self, checked: Checked, lines: OrderedLines) -> dict[str, Any]:
        said = ""
        try:
            answer, said = await self._apply_once_served(checked)
            return answer
        finally:
            lines.say(checked.placed.key, said)

    async def _apply_once_served(self, checked: Checked) -> tuple[dict[str, Any], str]:
        for failures in range(1, _SERVED_SOON.attempts):
            try:
                return await self._apply_now(checked)
            except (UnknownKind, NotThere):
                if not checked.placed.defined_here:
                    raise
            await _SERVED_SOON.sleep(_SERVED_SOON.delay(failures))
        return await self._apply_now(checked)

    async def _apply_now(self, checked: Checked) -> tuple[dict[str, Any], str]:
        """The object as the cluster answered, and what became of it."""
        each = checked.placed
        if checked.shared_with:
            answer = await self._judged(each, self._writer.share(each.manifest.body, checked.before or {}))
        elif checked.is_replaced:
            answer = await self._judged(each, self._replacer.replace(each))
        else:
            if checked.kept_because:
                self._log.info(f"{each.key}: not recreated, because {checked.kept_because}")
            if checked.adopt:
                await self._writer.take_over(each)
            answer = await self._judged(each, self._writer.apply(each.manifest.body))
        if checked.before is not None and not checked.shared_with and is_shareable(each.key):
            await self._writer.stop_sharing(checked.before)
        if part(answer, "metadata", "deletionTimestamp"):
            # What was just applied goes with it.
            await wait_until_gone(self._cluster, each.kind, answer, self._log)
            return await self._apply_now(Checked(placed=each))
        return answer, f"{each.key}: {await self._told(checked, answer)}"

    async def _told(self, checked: Checked, answer: Body) -> str:
        if checked.taken_from:
            return f"taken over from application {checked.taken_from}"
        done = outcome(checked.before, answer, self._owning.variant_key)
        return f"{done}; {await self._owning.whose(checked.shared_with)}" if checked.shared_with else done

    async def _judged(self, each: Placed, writing: Awaitable[T]) -> T:
        """What the cluster answers; what it says of a field that cannot be changed holds for our own objects only."""
        try:
            return await writing
        except Invalid as error:
            live = await self._cluster.get(each.kind, each.namespace, each.key.name) if is_unchangeable(error) else None
            if live is not None:
                await self._owning.refuse_to_remake(live, error)
                if only_label_differs(each.manifest.body, live, key := self._owning.variant_key):
                    has_it = bool(part(live, "spec", "selector", "matchLabels", key))
                    raise OtherSelector(error, key, is_there=has_it) from error
            raise

    async def _side_by_side(
        self,
        what: Sequence[Any],
        work: Callable[[Any], Awaitable[T]],
        manifest_of: Callable[[Any], Manifest],
        standing: Callable[[int], str],
    ) -> tuple[T, ...]:
        """The results, or one error for all that failed; whatever is under way is waited for. What has been done then,
        `standing` says, given how many of these have succeeded."""

        async def in_turn(each: Any) -> T | FairwayError:
            async with self._places:
                try:
                    return await work(each)
                except FairwayError as error:
                    return error

        results = await all_ended(in_turn(each) for each in what)
        done = tuple(each for each in results if not isinstance(each, FairwayError))
        if len(done) < len(results):
            failed = [
                (manifest_of(each), result)
                for each, result in zip(what, results, strict=True)
                if isinstance(result, FairwayError)
            ]
            raise together(failed, standing(len(done)), self._written)
        return done


def _applied(of: int, before: int, now: int) -> str:
    return f"{before + now} of {of} objects had been applied"
