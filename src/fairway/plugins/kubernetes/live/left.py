"""What is left of an application at deploy targets to which it is not deployed any more."""

from collections.abc import Collection, Sequence

from fairway.config.agent_file import DeployTarget
from fairway.errors import FairwayError
from fairway.kube.manifest import Key
from fairway.plugins.kubernetes.health.verdict import counted
from fairway.plugins.kubernetes.live.kinds import kinds_below, served
from fairway.plugins.kubernetes.live.objects import Seen
from fairway.plugins.kubernetes.live.picture import Picture, User
from fairway.plugins.kubernetes.removing.record import kept_places, kept_targets
from fairway.sdk import LiveQuestion, Plugin

#: What former deploy targets depend on: the commit, the current targets, and whether a deployment is under way.
_Given = tuple[str, tuple[str, ...], bool | None]


class LeftObjects:
    """Finds them for all applications of a plugin. It belongs to one event loop."""

    def __init__(self, plugin: Plugin) -> None:
        self._plugin = plugin
        #: Application id → what was given, and the former deploy targets.
        self._known: dict[str, tuple[_Given, tuple[DeployTarget, ...]]] = {}

    async def targets(self, question: LiveQuestion, current: Sequence[DeployTarget]) -> tuple[DeployTarget, ...]:
        """The former deploy targets of an application that the agent still has."""
        names = tuple(each.name for each in current)
        given = (question.files.commit, names, question.deployment_under_way)
        known = self._known.get(question.application_id)
        if known is None or known[0] != given:
            try:
                kept = await kept_targets(self._plugin, question.application_id) - {*names}
            except FairwayError:
                # The next look reads it again; until then the current deploy targets are shown.
                return ()
            former = tuple(each for each in self._plugin.settings.targets if each.name in kept)
            known = self._known[question.application_id] = (given, former)
        return known[1]

    def forget(self, application_id: str) -> None:
        """The application is not asked about any more."""
        self._known.pop(application_id, None)

    async def at(self, question: LiveQuestion, user: User, picture: Picture, current: Collection[str]) -> list[Seen]:
        """The objects of an application at a former deploy target. Two deploy targets may be of one cluster, so those
        with the `current` uids do not count."""
        places = await kept_places(self._plugin, question.application_id, user.target)
        own = await served(picture.cluster, {(each.api_version, each.kind): None for each in sorted(places)})
        below = [each for each in await kinds_below(picture.cluster, own) if each not in own]
        problems = await picture.watch(user, [*own, *below], frozenset(each.namespace for each in places) - {""})
        for kind in own:
            if kind in problems:
                raise problems[kind]
        return [each for each in picture.families.family(question.application_id) if each.uid not in current]


def left_in_words(roots: Sequence[Seen], target: str) -> tuple[str, ...]:
    """For people: how much is left at a former deploy target, and what; nothing where nothing is."""
    if not roots:
        return ()
    keys = sorted(Key(each.api_version.rpartition("/")[0], each.kind, each.namespace, each.name) for each in roots)
    return (
        f"{counted(len(keys), 'object')} left at deploy target {target}, which the application does not use any more",
        "",
        "A deployment with `prune: true` removes:",
        "",
        *(f"- {number}. {key}" for number, key in enumerate(keys, 1)),
    )
