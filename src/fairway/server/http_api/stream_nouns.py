"""Nouns as the stream shows them: as GET does, read and written out once for all who watch.

A change says which thing changed; what it is now is read here, many at once, by whoever asks first. The others wait for
the same reading. What each of them may see is not decided here.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Connection

from fairway.clock import Clock
from fairway.model.command import Command
from fairway.model.notes import brief
from fairway.model.role import Resource
from fairway.server.feed import Feed
from fairway.server.http_api.agents import show_agent
from fairway.server.http_api.applications import shown_application
from fairway.server.http_api.commands import shown_command
from fairway.server.http_api.deployments import show_deployment
from fairway.server.http_api.onlookers import onlooker, onlooker_of
from fairway.server.http_api.stream_topics import WORDS
from fairway.server.store import agents, applications, chains, commands, deployments, events
from fairway.server.store.changes import Change, ChangeKind
from fairway.server.store.errors import NotFound
from fairway.server.store.store import Store

#: How many are kept for those who come a little later, and how many bytes may have been read together with one.
_REMEMBERED = 256
_MOST_REMEMBERED_BYTES = 256 * 1024


class ShownNoun(msgspec.Struct, frozen=True, kw_only=True):
    """A noun as it was read, and who may see it."""

    noun: Any
    resource: Resource
    project_id: str
    labels: Mapping[str, str]
    #: The lines of an event, but for its id.
    text: bytes


Shown = Mapping[Change, ShownNoun]


class ShownNouns:
    """Reads and writes out nouns, each once for each change."""

    def __init__(self, store: Store, clock: Clock, feed: Feed) -> None:
        self._store = store
        self._feed = feed
        self._clock = clock
        #: Each with the number of the newest change when it was read.
        self._read: OrderedDict[Change, tuple[int, asyncio.Task[Shown]]] = OrderedDict()

    async def after(self, changes: Mapping[Change, int]) -> dict[Change, ShownNoun]:
        """What changed, each at least as new as its number; what is not there any more is left out."""
        unread = [change for change, number in changes.items() if not self._is_read(change, number)]
        if unread:
            # A task of its own, because others wait for it when whoever asked first has gone.
            reading = asyncio.create_task(self._show(unread))
            for change in unread:
                self._read[change] = self._feed.number, reading
                self._read.move_to_end(change)
        readings = {change: self._read[change][1] for change in changes}
        while len(self._read) > _REMEMBERED:
            self._read.popitem(last=False)
        found: dict[Change, ShownNoun] = {}
        for change, each in readings.items():
            shown = await asyncio.shield(each)
            if sum(len(noun.text) for noun in shown.values()) > _MOST_REMEMBERED_BYTES:
                self._forget(change, each)
            if change in shown:
                found[change] = shown[change]
        return found

    def _forget(self, change: Change, reading: asyncio.Task[Shown]) -> None:
        """Read again for who comes later: it is too large to be kept."""
        if change in self._read and self._read[change][1] is reading:
            del self._read[change]

    def _is_read(self, change: Change, number: int) -> bool:
        known = self._read.get(change)
        if known is None or known[0] < number:
            return False
        reading = known[1]
        return not reading.done() or (not reading.cancelled() and reading.exception() is None)

    async def _show(self, changes: Iterable[Change]) -> Shown:
        now = self._clock.now()

        def load(connection: Connection) -> dict[Change, ShownNoun]:
            found = {}
            for change in changes:
                try:
                    found[change] = _LOADERS[change.kind](connection, change.id, now)
                except NotFound:
                    continue
            return found

        return await self._store.read(load)


def _shown(kind: ChangeKind, resource: Resource, noun: Any, labels: Mapping[str, str], seen: object) -> ShownNoun:
    text = b"event: %b\ndata: %b\n" % (WORDS[kind].encode(), msgspec.json.encode(seen))
    return ShownNoun(noun=noun, resource=resource, project_id=noun.project_id, labels=labels, text=text)


def _application(connection: Connection, id: str, _: datetime) -> ShownNoun:
    found = applications.load_application(connection, id)
    return _shown(ChangeKind.APPLICATIONS, Resource.APPLICATION, found, found.labels, shown_application(found))


def _deployment(connection: Connection, id: str, now: datetime) -> ShownNoun:
    # The whole of it is not kept while a watcher takes its time.
    found = brief(deployments.load_deployment(connection, id))
    seen = show_deployment(found, onlooker_of(connection, (found,), now))
    return _shown(ChangeKind.DEPLOYMENTS, Resource.DEPLOYMENT, found, found.labels, seen)


def _agent(connection: Connection, id: str, now: datetime) -> ShownNoun:
    found = agents.load_agent(connection, id)
    seen = show_agent(found, agents.last_seen(connection, id), now)
    return _shown(ChangeKind.AGENTS, Resource.AGENT, found, {}, seen)


def _command(connection: Connection, id: str, now: datetime) -> ShownNoun:
    found = commands.load_command(connection, id)
    seen = shown_command(found, onlooker(connection, (found.agent_id,), now))
    resource, labels = _about(connection, found)
    return _shown(ChangeKind.COMMANDS, resource, found, labels, seen)


def _about(connection: Connection, command: Command) -> tuple[Resource, Mapping[str, str]]:
    """Who may see what a command is about may see the command."""
    if not command.application_id:
        return Resource.AGENT, {}
    return Resource.APPLICATION, applications.load_application(connection, command.application_id).labels


def _event(connection: Connection, id: str, _: datetime) -> ShownNoun:
    found = events.load_event(connection, id)
    return _shown(ChangeKind.EVENTS, Resource.EVENT, found, found.labels, found)


def _chain(connection: Connection, id: str, _: datetime) -> ShownNoun:
    found = chains.load_chain(connection, id)
    return _shown(ChangeKind.CHAINS, Resource.DEPLOYMENT, found, {}, found)


_LOADERS: Mapping[ChangeKind, Callable[[Connection, str, datetime], ShownNoun]] = {
    ChangeKind.APPLICATIONS: _application,
    ChangeKind.DEPLOYMENTS: _deployment,
    ChangeKind.AGENTS: _agent,
    ChangeKind.COMMANDS: _command,
    ChangeKind.EVENTS: _event,
    ChangeKind.CHAINS: _chain,
}
#: The resource of a list, for those whose things are all of one.
RESOURCES = {
    ChangeKind.APPLICATIONS: Resource.APPLICATION,
    ChangeKind.DEPLOYMENTS: Resource.DEPLOYMENT,
    ChangeKind.AGENTS: Resource.AGENT,
    ChangeKind.COMMANDS: Resource.APPLICATION,
    ChangeKind.EVENTS: Resource.EVENT,
    ChangeKind.CHAINS: Resource.DEPLOYMENT,
}
