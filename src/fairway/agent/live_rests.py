"""Which applications need not be asked about: those of which every plugin has promised to tell when something changes.

A promise holds for what was asked, and for as long as the plugin's process lives that gave it: another commit, other
deploy targets or a plugin that was started again end it. Promises are not trusted blindly. A part of the applications
that rest is asked about in every round all the same, those first that have rested longest, so that each has its turn
and no round is more work than another.
"""

from collections.abc import Callable, Collection, Sequence
from itertools import islice

import msgspec

from fairway.agent.applications import KnownApplication
from fairway.agent.plugins.client import PluginClient
from fairway.errors import FairwayError
from fairway.model.application import GitPath

#: After how many rounds every application has been asked about, though nobody has told of a change.
ROUNDS = 10


class _Asked(msgspec.Struct, frozen=True):
    """What the answers were about."""

    commit: str
    file: str
    name: str
    git_path: GitPath
    provider: str
    targets: dict[str, tuple[str, ...]]


class _Rest(msgspec.Struct, frozen=True):
    asked: _Asked
    promised: tuple[PluginClient, ...]


class Rests:
    """The applications that rest. It belongs to one event loop."""

    def __init__(self, client: Callable[[str], PluginClient], rounds: int = ROUNDS) -> None:
        self._client = client
        self._rounds = rounds
        #: By id, the one that has rested longest first.
        self._rests: dict[str, _Rest] = {}
        #: What is left of the rounds' shares, which are whole applications only over several rounds.
        self._left = 0

    def begin(self, known: KnownApplication, promised: Sequence[PluginClient]) -> None:
        """Let an application rest of which these plugins tell."""
        self.end(known.application.id)
        self._rests[known.application.id] = _Rest(_asked(known), tuple(promised))

    def end(self, application_id: str) -> None:
        """The application has to be asked about."""
        self._rests.pop(application_id, None)

    def keep(self, application_ids: Collection[str]) -> None:
        """Forget all but these."""
        self._rests = {each: rest for each, rest in self._rests.items() if each in application_ids}

    def end_some(self) -> None:
        """One round has gone by: some have rested long enough."""
        count, self._left = divmod(self._left + len(self._rests), self._rounds)
        for each in list(islice(self._rests, count)):
            del self._rests[each]

    def holds(self, known: KnownApplication) -> bool:
        """Whether an application rests, as it is known now."""
        rest = self._rests.get(known.application.id)
        return rest is not None and rest.asked == _asked(known) and all(map(self._lives, rest.promised))

    def _lives(self, promised: PluginClient) -> bool:
        try:
            return self._client(promised.name) is promised
        except FairwayError:
            return False


def _asked(known: KnownApplication) -> _Asked:
    application = known.application
    return _Asked(
        known.commit,
        known.file,
        application.name,
        application.git_path,
        application.platform_provider,
        application.deploy_targets_by_plugin,
    )
