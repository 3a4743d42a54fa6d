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
from fairway.plugins.kubernetes.live_wanted import Wanted, WantedObjects, is_passing
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
        #: Application and deploy target → what was found, and what that depends on.
        self._found: dict[tuple[str, str], tuple[Any, Answer]] = {}
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
        self._telling.want(question.application_id)
        answers = await asyncio.gather(*(self._answer(question, each) for each in targets))
        named = {target.name: answer for target, answer in zip(targets, answers, strict=True)}
        return Live(
            resources=tuple(resource for answer in answers for resource in answer.resources),
            drift=_drift(named),
            problem="; ".join(answer.problem for answer in answers if answer.problem),
        )

    async def _answer(self, question: LiveQuestion, target: DeployTarget) -> Answer:
        key, now = (question.application_id, target.name), asyncio.get_running_loop().time()
        since, away = self._away.get(target.name, (0.0, ""))
        if not away or now - since >= _AWAY_SECONDS:
            try:
                return await self._look_at(question, target)
            except FairwayError as error:
                away = f"{target.name}: {error}"
                if isinstance(error, ClusterAway):
                    self._away[target.name] = (asyncio.get_running_loop().time(), away)
        # What was seen last is better than nothing; that it may be old is said.
        before = self._found.get(key)
        return Answer(resources=before[1].resources if before else (), problem=away)

    async def _look_at(self, question: LiveQuestion, target: DeployTarget) -> Answer:
        key = (question.application_id, target.name)
        cluster = self._clusters.of(target)
        picture = self._picture(target, cluster)
        wanted = await self._wanted.at(question, target, cluster)
        own = await served(cluster, wanted.kinds)
        below = [each for each in await kinds_below(cluster, own) if each not in own]
        problems = await picture.watch([*own, *below], wanted.namespaces)
        depends_on = (
            wanted,
            picture.revision(question.application_id),
            tuple((kind, str(error)) for kind, error in problems.items()),
            question.deployment_under_way,
        )
        known = self._found.get(key)
        # By identity: the manifests of a commit are made once, and comparing them would be the whole work again.
        if known is not None and known[0][0] is wanted and known[0][1:] == depends_on[1:]:
            return known[1]
        notes = [str(error) for kind, error in problems.items() if kind in below]
        tree = resources(picture.family(question.application_id), target.name, notes)
        problem = _problem(own, problems, target)
        found = Answer(resources=tree, problem=problem)
        if not problem:
            drift = await self._judge(key, cluster).drift(self._compared(question, wanted, picture))
            found = msgspec.structs.replace(found, drift=in_words(drift, question.files.commit))
        self._found[key] = (depends_on, found)
        return found

    def _compared(self, question: LiveQuestion, wanted: Wanted, picture: Picture) -> Compared:
        roots = picture.roots(question.application_id)
        live = tuple(each for each in roots if not is_passing(each, wanted, roots, question.deployment_under_way))
        compared = tuple(each for each in wanted.objects if picture.is_wanted(each.kind))
        fields = wanted.settings.config.drift_detection.ignore_fields
        return Compared(wanted=compared, live=live, ignore_fields=fields)

    def _judge(self, key: tuple[str, str], cluster: Cluster) -> Judge:
        if key not in self._judges:
            self._judges[key] = Judge(cluster)
        return self._judges[key]

    def _picture(self, target: DeployTarget, cluster: Cluster) -> Picture:
        if target.name not in self._pictures:
            informer = target_settings(target).app_state_informer
            self._pictures[target.name] = Picture(cluster, informer, self._telling.touch)
        return self._pictures[target.name]


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
