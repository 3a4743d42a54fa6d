"""What runs of an application on its clusters, and how it differs from Git.

Answered from pictures that are kept up to date, so that asking costs no call to a cluster; what is the same as when it
was last asked for is not worked out again. When a picture changes, the agent is told that asking is worth while, and it
need not ask otherwise.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from fairway.config.agent_file import DeployTarget
from fairway.errors import FairwayError
from fairway.kube.errors import ClusterAway
from fairway.kube.kinds import Kind
from fairway.model.live_state import Resource
from fairway.model.lost_targets import lost_in_words
from fairway.plugins.kubernetes.drift.drift import in_words
from fairway.plugins.kubernetes.drift.judge import Compared, Judge
from fairway.plugins.kubernetes.drift.mending import is_mendable
from fairway.plugins.kubernetes.live.away import Away
from fairway.plugins.kubernetes.live.kinds import kinds_below, served
from fairway.plugins.kubernetes.live.left import LeftObjects, left_in_words
from fairway.plugins.kubernetes.live.picture import Picture, User
from fairway.plugins.kubernetes.live.pictures import Pictures
from fairway.plugins.kubernetes.live.telling import Telling
from fairway.plugins.kubernetes.live.tree import foreign_resources, left_resources, resources, unseen
from fairway.plugins.kubernetes.live.unseen import Unseen, hides
from fairway.plugins.kubernetes.live.wanted import Variants, Wanted, WantedObjects, is_passing
from fairway.plugins.kubernetes.manifests.load import Manifests
from fairway.plugins.kubernetes.marks import Owner
from fairway.plugins.kubernetes.whose.alive import Applications, Wants
from fairway.sdk import Live, LiveQuestion, Plugin

#: An application that nobody has asked about for so long is not this agent's any more; ours asks every ten minutes.
_FORGET_SECONDS, _SWEEP_SECONDS = 1800.0, 60.0


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What was found at one deploy target."""

    resources: tuple[Resource, ...] = ()
    drift: tuple[str, ...] = ()
    #: Whether deploying takes any of it away.
    mendable: bool = True
    problem: str = ""
    #: Whether every change of it is told.
    watched: bool = False


class _AtTarget(msgspec.Struct):
    """What is remembered of an application at one deploy target."""

    picture: Picture
    judge: Judge
    #: How it differs from Git, and what that depends on.
    drift: tuple[str, ...] = ()
    mendable: bool = True
    #: Objects of Git that are there for others.
    foreign: tuple[Resource, ...] = ()
    wanted: Wanted | None = None
    depends_on: Any = None


class _Asked(msgspec.Struct):
    """What is remembered of an application."""

    at: float
    targets: dict[str, _AtTarget]


class LiveStates:
    """Answers for one plugin. It belongs to one event loop."""

    def __init__(self, plugin: Plugin, manifests: Manifests) -> None:
        self._plugin = plugin.settings.name
        self._known_targets = plugin.settings.targets
        self._wanted = WantedObjects(plugin, manifests)
        self._left = LeftObjects(plugin)
        self._telling = Telling(plugin.live_state_changed)
        self._away = Away(self._telling.touch)
        self._applications = plugin.settings.shared.get(Applications)
        self._unseen = Unseen()
        self._shared = plugin.settings.shared.get(Pictures)
        self._shared.join(self._telling.touch)
        #: By deploy target.
        self._pictures: dict[str, Picture] = {}
        #: By application.
        self._asked: dict[str, _Asked] = {}
        self._swept_at = 0.0

    async def close(self) -> None:
        """Watch nothing any more."""
        await self._away.close()
        await self._telling.close()
        await self._shared.leave(self._telling.touch)

    async def look(self, question: LiveQuestion) -> Live:
        """What runs, at all deploy targets of the application; one that is away does not hide the others."""
        targets = self._wanted.targets(question)
        if not targets and not question.lost_targets:
            return Live(problem="The application names no deploy target of this plugin")
        self._telling.want(question.application_id)
        self._sweep()
        former = await self._left.targets(question, targets)
        self._note(question, targets, former)
        found = await asyncio.gather(*(self._answer(question, each) for each in targets))
        left = await asyncio.gather(*(self._left_at(question, each, found) for each in former))
        answers = [*found, *map(self._lost, question.lost_targets), *left]
        differs = any(answer.drift for answer in answers)
        named = {each.name: answer for each, answer in zip((*targets, *former), (*found, *left), strict=True)}
        return Live(
            resources=tuple(resource for answer in answers for resource in answer.resources),
            drift=_drift(named),
            mendable=any(answer.mendable for answer in answers if answer.drift or not differs),
            problem="; ".join(answer.problem for answer in answers if answer.problem),
            watched=all(answer.watched for answer in answers),
        )

    def _lost(self, target: str) -> Answer:
        words = lost_in_words(self._plugin, (target,), [each.name for each in self._known_targets])
        return Answer(resources=self._unseen.tree(target, words), problem=words, watched=True)

    async def _answer(self, question: LiveQuestion, target: DeployTarget) -> Answer:
        application_id = question.application_id
        away = self._away.words(target.name, application_id)
        if not away:
            try:
                answer = await self._look_at(question, target)
                self._away.answered(target.name)
                return answer
            except FairwayError as error:
                away = f"{target.name}: {error}"
                if not hides(error):
                    return Answer(resources=self._last_seen(application_id, target), problem=away)
                if isinstance(error, ClusterAway) and target.name in self._pictures:
                    self._away.note(target.name, self._pictures[target.name].cluster, away)
                    # Now that it is known to be away: who asks is told of its return.
                    self._away.words(target.name, application_id)
        # What was seen last is better than nothing; that it may be old is said.
        last = self._last_seen(application_id, target)
        return Answer(resources=self._unseen.tree(target.name, away, last), problem=away)

    async def _left_at(self, question: LiveQuestion, target: DeployTarget, current: Sequence[Answer]) -> Answer:
        """What is left at a former deploy target; its failures do not hide what runs at the current ones."""
        if any(each.problem for each in current):
            # Which objects are theirs is not known.
            return Answer()
        uids = {resource.id for each in current for resource in each.resources}
        try:
            known = self._known(question.application_id, target)
            found = await self._left.at(question, self._user(question.application_id, target.name), known.picture, uids)
        except FairwayError as error:
            return Answer(resources=self._unseen.tree(target.name, str(error)))
        self._unseen.seen(target.name)
        roots = [each for each in found if each.application]
        drift = left_in_words(roots, target.name)
        return Answer(
            resources=left_resources(found, target.name),
            drift=drift,
            mendable=self._wanted.prunes(question),
            watched=True,
        )

    def _last_seen(self, application_id: str, target: DeployTarget) -> tuple[Resource, ...]:
        picture = self._pictures.get(target.name)
        return resources(picture.families.family(application_id), target.name) if picture else ()

    async def _look_at(self, question: LiveQuestion, target: DeployTarget) -> Answer:
        known = self._known(question.application_id, target)
        picture, cluster = known.picture, known.picture.cluster
        wanted = await self._wanted.at(question, target, cluster)
        wants = Wants(question.files.commit, wanted.keys)
        self._applications.want(question.application_id, (self._plugin, target.name), wants)
        own = await served(cluster, wanted.kinds)
        below = [each for each in await kinds_below(cluster, own) if each not in own]
        problems = await picture.watch(
            self._user(question.application_id, target.name), [*own, *below], wanted.namespaces
        )
        notes = unseen(error for kind, error in problems.items() if kind in below)
        here = self._places(question, wanted)
        family = picture.families.family(question.application_id)
        tree = resources([each for each in family if here is None or each.namespace in here], target.name, notes)
        problem = _problem(own, problems, target)
        if any(hides(error) for kind, error in problems.items() if kind in own):
            return Answer(resources=self._unseen.tree(target.name, problem, tree), problem=problem)
        self._unseen.seen(target.name)
        if problem:
            return Answer(resources=tree, problem=problem)
        depends_on = (picture.families.revision(question.application_id), question.deployment_under_way)
        # By identity: what a commit says is read once, and comparing it would be the whole work again.
        if known.wanted is not wanted or known.depends_on != depends_on:
            compared = _compared(question, wanted, picture, here)
            drift = await known.judge.drift(compared)
            # Objects of others are not watched, so they are looked at each time.
            known.wanted = None if drift.missing or drift.foreign else wanted
            known.depends_on = depends_on
            known.foreign = foreign_resources(drift.foreign, target.name)
            known.drift = in_words(drift, question.files.commit)
            known.mendable = is_mendable(drift, wanted.settings, (each.body() for each in compared.live))
        # Nobody tells when a kind comes to be served.
        watched = len(own) == len(wanted.kinds)
        tree = (*tree, *known.foreign)
        return Answer(resources=tree, drift=known.drift, mendable=known.mendable, watched=watched)

    def _known(self, application_id: str, target: DeployTarget) -> _AtTarget:
        known = self._asked[application_id].targets.get(target.name)
        if known is None:
            if target.name not in self._pictures:
                self._pictures[target.name] = self._shared.of(target)
            picture = self._pictures[target.name]
            known = self._asked[application_id].targets[target.name] = _AtTarget(picture, Judge(picture.cluster))
        return known

    def _places(self, question: LiveQuestion, wanted: Wanted) -> frozenset[str] | None:
        """In which namespaces something can be of one deploy target; None where it can be in any.

        Another deploy target of the application may be of the same cluster, with other namespaces.
        """
        return wanted.namespaces | {""} if len(self._wanted.targets(question)) > 1 else None

    def _user(self, application_id: str, target: str) -> User:
        return User(self._plugin, application_id, target)

    def _note(self, question: LiveQuestion, targets: Sequence[DeployTarget], former: Sequence[DeployTarget]) -> None:
        """Remember that an application was asked about, and forget deploy targets that are not its own any more."""
        now = asyncio.get_running_loop().time()
        self._applications.see(question.application_id, now)
        self._applications.go_to(question.application_id, self._plugin, [each.name for each in targets])
        asked = self._asked.setdefault(question.application_id, _Asked(now, {}))
        asked.at = now
        for name in asked.targets.keys() - {each.name for each in (*targets, *former)}:
            asked.targets.pop(name).picture.leave(self._user(question.application_id, name))

    def _sweep(self) -> None:
        """Now and then, forget the applications that nobody has asked about for long."""
        now = asyncio.get_running_loop().time()
        if now - self._swept_at < _SWEEP_SECONDS:
            return
        self._swept_at = now
        for application_id in [each for each, asked in self._asked.items() if now - asked.at >= _FORGET_SECONDS]:
            self._telling.forget(application_id)
            self._wanted.forget(application_id)
            self._left.forget(application_id)
            for name, left in self._asked.pop(application_id).targets.items():
                left.picture.leave(self._user(application_id, name))


def _compared(question: LiveQuestion, wanted: Wanted, picture: Picture, here: frozenset[str] | None) -> Compared:
    """What is in Git and in the cluster (in these namespaces), without what a pipeline has made beside it."""
    objects = wanted.objects()
    unwatched = frozenset(each.key for each in objects if not picture.is_wanted(each.kind))
    label = wanted.settings.spec.variant_label
    variants = Variants(
        settings=wanted.settings,
        services=frozenset(each.manifest.name for each in objects if each.manifest.kind == "Service"),
        roots=tuple(
            each for each in picture.families.roots(question.application_id) if here is None or each.namespace in here
        ),
        under_way=question.deployment_under_way,
    )
    return Compared(
        wanted=objects,
        unwatched=unwatched,
        live=tuple(each for each in variants.roots if not is_passing(each, variants)),
        owner=Owner(
            # Which agent deploys is not asked for here; objects that were deployed tell it.
            agent_id="",
            application_id=question.application_id,
            commit=question.files.commit,
            variant_key=label.key,
            variant=label.primary_value,
        ),
        ignore_fields=wanted.settings.config.drift_detection.ignore_fields,
    )


def _problem(own: Sequence[Kind], problems: Mapping[Kind, FairwayError], target: DeployTarget) -> str:
    """Why what Git says cannot be compared; what objects make in turn is not compared."""
    found = dict.fromkeys(str(error) for kind, error in problems.items() if kind in own)
    return f"{target.name}: {'; '.join(found)}" if found else ""


def _drift(answers: Mapping[str, Answer]) -> tuple[str, ...]:
    """The differences at all deploy targets, each under its name where there are several."""
    differing = {name: answer.drift for name, answer in answers.items() if answer.drift}
    if len(answers) <= 1 or not differing:
        return tuple(line for drift in differing.values() for line in drift)
    summary = "; ".join(f"{name}: {drift[0]}" for name, drift in differing.items())
    return (summary, *(line for name, drift in differing.items() for line in ("", f"## {name}", *drift[1:])))
