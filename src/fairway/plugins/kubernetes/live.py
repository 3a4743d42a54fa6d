"""What runs of an application on its clusters, and how it differs from Git.

Answered from pictures that are kept up to date, so that asking costs no call to a cluster; what is the same as when it
was last asked for is not worked out again. When a picture changes, the agent is told that asking is worth while.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from fairway.config.agent_file import DeployTarget
from fairway.errors import FairwayError
from fairway.kube.cluster import Cluster
from fairway.kube.errors import ClusterAway
from fairway.kube.kinds import Kind
from fairway.model.live_state import Resource
from fairway.plugins.kubernetes.clusters import Clusters
from fairway.plugins.kubernetes.drift import in_words
from fairway.plugins.kubernetes.drift_judge import Compared, Judge
from fairway.plugins.kubernetes.live_kinds import kinds_below, served
from fairway.plugins.kubernetes.live_picture import Picture
from fairway.plugins.kubernetes.live_telling import Telling
from fairway.plugins.kubernetes.live_wanted import Variants, Wanted, WantedObjects, is_passing
from fairway.plugins.kubernetes.manifests.load import Manifests
from fairway.plugins.kubernetes.settings import target_settings
from fairway.plugins.kubernetes.tree import resources
from fairway.sdk import Live, LiveQuestion, Plugin

#: How long a cluster that did not answer is not asked again: hundreds of applications would wait for it one by one.
_AWAY_SECONDS = 20.0


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What was found at one deploy target."""

    resources: tuple[Resource, ...] = ()
    drift: tuple[str, ...] = ()
    problem: str = ""


class LiveStates:
    """Answers for one plugin. It belongs to one event loop."""

    def __init__(self, plugin: Plugin, clusters: Clusters, manifests: Manifests) -> None:
        self._clusters = clusters
        self._wanted = WantedObjects(plugin, manifests)
        self._telling = Telling(plugin.live_state_changed)
        self._pictures: dict[str, Picture] = {}
        self._judges: dict[tuple[str, str], Judge] = {}
        #: Application and deploy target → how it differs from Git, and what that depends on.
        self._drifts: dict[tuple[str, str], tuple[Wanted, Any, tuple[str, ...]]] = {}
        #: Deploy target → when it was found to be away, and how.
        self._away: dict[str, tuple[float, str]] = {}

    async def close(self) -> None:
        """Watch nothing any more."""
        await self._telling.close()
        for picture in self._pictures.values():
            await picture.close()

    async def look(self, question: LiveQuestion) -> Live:
        """What runs, at all deploy targets of the application; one that is away does not hide the others."""
        targets = self._wanted.targets(question)
        if not targets:
            return Live(problem="The application names no deploy target of this plugin")
        self._telling.want(question.application_id)
        answers = await asyncio.gather(*(self._answer(question, each) for each in targets))
        named = {target.name: answer for target, answer in zip(targets, answers, strict=True)}
        return Live(
            resources=tuple(resource for answer in answers for resource in answer.resources),
            drift=_drift(named),
            problem="; ".join(answer.problem for answer in answers if answer.problem),
        )

    async def _answer(self, question: LiveQuestion, target: DeployTarget) -> Answer:
        now = asyncio.get_running_loop().time()
        since, away = self._away.get(target.name, (0.0, ""))
        if not away or now - since >= _AWAY_SECONDS:
            try:
                return await self._look_at(question, target)
            except FairwayError as error:
                away = f"{target.name}: {error}"
                if isinstance(error, ClusterAway):
                    self._away[target.name] = (asyncio.get_running_loop().time(), away)
        # What was seen last is better than nothing; that it may be old is said.
        picture = self._pictures.get(target.name)
        seen = picture.family(question.application_id) if picture else ()
        return Answer(resources=resources(seen, target.name), problem=away)

    async def _look_at(self, question: LiveQuestion, target: DeployTarget) -> Answer:
        key = (question.application_id, target.name)
        cluster = self._clusters.of(target)
        picture = self._picture(target, cluster)
        wanted = await self._wanted.at(question, target, cluster)
        own = await served(cluster, wanted.kinds)
        below = [each for each in await kinds_below(cluster, own) if each not in own]
        problems = await picture.watch([*own, *below], wanted.namespaces)
        notes = [str(error) for kind, error in problems.items() if kind in below]
        tree = resources(picture.family(question.application_id), target.name, notes)
        if problem := _problem(own, problems, target):
            return Answer(resources=tree, problem=problem)
        depends_on = (picture.revision(question.application_id), question.deployment_under_way)
        known = self._drifts.get(key)
        # By identity: what a commit says is read once, and comparing it would be the whole work again.
        if known is None or known[0] is not wanted or known[1] != depends_on:
            drift = await self._judge(key, cluster).drift(_compared(question, wanted, picture))
            known = self._drifts[key] = (wanted, depends_on, in_words(drift, question.files.commit))
        return Answer(resources=tree, drift=known[2])

    def _judge(self, key: tuple[str, str], cluster: Cluster) -> Judge:
        if key not in self._judges:
            self._judges[key] = Judge(cluster)
        return self._judges[key]

    def _picture(self, target: DeployTarget, cluster: Cluster) -> Picture:
        if target.name not in self._pictures:
            informer = target_settings(target).app_state_informer
            self._pictures[target.name] = Picture(cluster, informer, self._telling.touch)
        return self._pictures[target.name]


def _compared(question: LiveQuestion, wanted: Wanted, picture: Picture) -> Compared:
    """What is in Git and in the cluster, without what a pipeline has made beside it."""
    objects = tuple(each for each in wanted.objects() if picture.is_wanted(each.kind))
    variants = Variants(
        settings=wanted.settings,
        services=frozenset(each.manifest.name for each in objects if each.manifest.kind == "Service"),
        roots=tuple(picture.roots(question.application_id)),
        under_way=question.deployment_under_way,
    )
    live = tuple(each for each in variants.roots if not is_passing(each, variants))
    return Compared(wanted=objects, live=live, ignore_fields=wanted.settings.config.drift_detection.ignore_fields)


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
