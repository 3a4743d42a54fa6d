"""What can be asked of the stream: words of a query, turned into topics of the feed. Pure."""

from collections.abc import Iterable

import msgspec

from fairway.config.problems import did_you_mean
from fairway.server.feed import LogTopic, Topic
from fairway.server.status_codes import InvalidRequest
from fairway.server.store.changes import Change, ChangeKind

#: For one stream.
MOST_TOPICS = 32
#: The word for one of each sort; it is the name of its events too.
WORDS = {
    ChangeKind.APPLICATIONS: "application",
    ChangeKind.DEPLOYMENTS: "deployment",
    ChangeKind.AGENTS: "agent",
    ChangeKind.COMMANDS: "command",
    ChangeKind.EVENTS: "event",
    ChangeKind.CHAINS: "chain",
}
_LISTS = {kind.value: Topic(kind) for kind in WORDS}
_ONES = {word: kind for kind, word in WORDS.items()}
#: Who may see them depends on an application's labels, and these may change.
_BY_LABELS = frozenset({ChangeKind.APPLICATIONS, ChangeKind.COMMANDS})
_LOG = "log"
_EXPECTED = f"expected one of {', '.join(_LISTS)}, or {', '.join(f'{word}:ID' for word in _ONES)}, log:DEPLOYMENT/STAGE"


class Wanted(msgspec.Struct, frozen=True):
    """What one stream tells of."""

    #: Lists, and single things.
    nouns: frozenset[Topic]
    logs: frozenset[LogTopic]

    @property
    def ones(self) -> frozenset[Topic]:
        """The single things; a log needs to know when its stage is run again."""
        of_logs = {Topic(ChangeKind.DEPLOYMENTS, log.deployment_id) for log in self.logs}
        return frozenset(topic for topic in self.nouns if topic.id) | of_logs

    @property
    def by_labels(self) -> frozenset[ChangeKind]:
        """Of which things it may change who sees them."""
        return frozenset(topic.kind for topic in self.nouns) & _BY_LABELS

    @property
    def subscribed(self) -> frozenset[Topic | LogTopic]:
        """What to hear of."""
        labels = {Topic(ChangeKind.LABELS)} if self.by_labels else set()
        return self.nouns | self.logs | self.ones | labels

    def tells(self, change: Change) -> bool:
        """Whether a noun is one of those that were asked for."""
        return Topic(change.kind) in self.nouns or Topic(change.kind, change.id) in self.nouns


def wanted_topics(texts: Iterable[str] | None) -> Wanted:
    """What the topics of a query ask for; InvalidRequest for what is none."""
    asked = tuple(dict.fromkeys(texts or ()))
    if not 1 <= len(asked) <= MOST_TOPICS:
        raise InvalidRequest(f"topic is given {len(asked)} times; expected 1 to {MOST_TOPICS}: {_EXPECTED}")
    found = [_topic(text) for text in asked]
    nouns = frozenset(topic for topic in found if isinstance(topic, Topic))
    return Wanted(nouns, frozenset(topic for topic in found if isinstance(topic, LogTopic)))


def _topic(text: str) -> Topic | LogTopic:
    if text in _LISTS:
        return _LISTS[text]
    word, _, id = text.partition(":")
    if word in _ONES and id:
        return Topic(_ONES[word], id)
    deployment_id, _, stage_id = id.partition("/")
    if word == _LOG and deployment_id and stage_id:
        return LogTopic(deployment_id, stage_id)
    raise InvalidRequest(f"topic is {text[:80]!r}; {_EXPECTED}{did_you_mean(word, [*_LISTS, *_ONES, _LOG])}")
