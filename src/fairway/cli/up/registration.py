"""The agent and the applications, made known to the server; doing it again changes nothing.

Everything goes through the same API that everybody has. A key is written down before the file that names it, so that
whoever is killed in between starts over: the agent is found by its name and gets another key.
"""

import posixpath
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime

import msgspec

from fairway.cli.agent import NewAgent, NewKey, ShownAgent
from fairway.cli.call import Call, decode
from fairway.cli.find import list_of
from fairway.cli.remote import Refused, segments
from fairway.cli.up.places import Places, write_private
from fairway.config.find import APPLICATION_FILE
from fairway.model.application import Application, DiscoveredApplication, UnusableFile

#: What our agent is called.
NAME = "up"
#: More applications than `up` is meant for.
MOST_APPLICATIONS = 1000


class Suggestions(msgspec.Struct, frozen=True):
    """What the agent found in Git and nobody has registered."""

    items: tuple[DiscoveredApplication, ...]


def register_agent(call: Call, places: Places, known: str) -> str:
    """Our agent's id, which may be known from before; its key is in its file then."""
    if known and places.agent_key.exists() and _is_there(call, known):
        return known
    found = [each for each in list_of(call, "agents", ShownAgent, {}, MOST_APPLICATIONS)[1] if each.name == NAME]
    if found:
        id, key = found[0].id, _another_key(call, found[0].id)
    else:
        said = {"name": NAME, "desc": "The agent of fairway up"}
        made = decode(call.remote.send("POST", segments("agents"), said), NewAgent)
        id, key = made.agent.id, made.key
    write_private(places.agent_key, f"{key}\n")
    return id


def agent_started_at(call: Call, id: str) -> datetime | None:
    """When the agent last introduced itself."""
    return call.get(ShownAgent, segments("agents", id)).started_at


def register_applications(call: Call, wanted: Sequence[DiscoveredApplication]) -> bool:
    """Register those that nobody has registered; whether there were any."""
    new = _unregistered(call, wanted)
    for each in new:
        said = {
            "name": each.name,
            "agent_id": each.agent_id,
            "repository_id": each.repository_id,
            "path": each.path,
            "config_filename": each.config_filename,
        }
        try:
            call.remote.send("POST", segments("applications"), said)
        except Refused:
            # Somebody may have been quicker, by hand.
            if _unregistered(call, [each]):
                raise
    return bool(new)


def _unregistered(call: Call, wanted: Sequence[DiscoveredApplication]) -> list[DiscoveredApplication]:
    there = registered_files(applications(call))
    return [each for each in wanted if (each.repository_id, _file(each.path, each.config_filename)) not in there]


def registered_files(registered: Iterable[Application]) -> set[tuple[str, str]]:
    """The files of applications, each by its repository and its path there: a directory may hold several."""
    places = [each.git_path for each in registered]
    return {(each.repository.id, _file(each.path, each.config_filename)) for each in places}


def _file(directory: str, name: str) -> str:
    return posixpath.normpath(posixpath.join(directory, name or APPLICATION_FILE))


def applications(call: Call) -> list[Application]:
    """All that are registered."""
    return list_of(call, "applications", Application, {"sort": "name"}, MOST_APPLICATIONS)[1]


def suggestions(call: Call) -> tuple[DiscoveredApplication, ...]:
    """What could be registered."""
    return call.get(Suggestions, segments("applications", "suggestions")).items


def unusable_files(call: Call) -> tuple[UnusableFile, ...]:
    """The application files that cannot be deployed, as the agents reported them."""
    found = list_of(call, "agents", ShownAgent, {}, MOST_APPLICATIONS)[1]
    return tuple(file for each in found for file in each.unusable_files)


def _is_there(call: Call, agent_id: str) -> bool:
    try:
        call.get(ShownAgent, segments("agents", agent_id))
    except Refused as error:
        if error.status != 404:
            raise
        return False
    return True


def _another_key(call: Call, agent_id: str) -> str:
    path = segments("agents", agent_id, "keys")
    # Of the keys that it has, nobody knows any: should there be two already, the older makes room.
    with suppress(Refused):
        call.remote.send("DELETE", segments("agents", agent_id, "keys", "oldest"))
    return decode(call.remote.send("POST", path), NewKey).key
