"""Reactions to events from outside, such as a new image: which event, and what it writes into Git.

Two places hold the same thing: `eventWatcher` of an application (paths relative to its directory) and the older
kind `EventWatcher` in `.pipe/` (paths relative to the root of the repository).
"""

from typing import Literal

import msgspec

from fairway.config.regex import Regex
from fairway.config.settings import Problems, Settings


class Replacement(Settings, frozen=True):
    """One place in one file that receives the event's value."""

    file: str
    #: `$.a.b[0]`
    yaml_field: str = ""
    json_field: str = ""
    hcl_field: str = msgspec.field(name="HCLField", default="")
    #: The first group of every match is replaced.
    regex: Regex | None = None

    def problems(self) -> Problems:
        found: Problems = []
        if not self.file:
            found.append(("file", "is empty; name the file to change"))
        ways = [self.yaml_field, self.json_field, self.hcl_field, self.regex]
        if sum(1 for way in ways if way) != 1:
            found.append(("", "needs exactly one of yamlField, jsonField, HCLField and regex"))
        return found


class EventMatcher(Settings, frozen=True):
    """Which events are meant."""

    name: str
    labels: dict[str, str] = {}


class GitUpdate(Settings, frozen=True):
    """The commit that an event causes."""

    commit_message: str = ""
    #: Leave the commit on a branch of its own instead of pushing it to the tracked one.
    make_pull_request: bool = False
    replacements: tuple[Replacement, ...] = ()


class EventHandler(Settings, frozen=True):
    """What an event does."""

    type: Literal["GIT_UPDATE"] = "GIT_UPDATE"
    config: GitUpdate = GitUpdate()


class EventWatch(Settings, frozen=True):
    """One entry of an application's `eventWatcher`."""

    matcher: EventMatcher
    handler: EventHandler = EventHandler()


class SharedEventWatch(Settings, frozen=True):
    """One entry of the kind `EventWatcher`."""

    name: str
    replacements: tuple[Replacement, ...]
    labels: dict[str, str] = {}

    def problems(self) -> Problems:
        found: Problems = [] if self.name else [("name", "is empty; name the event")]
        if not self.replacements:
            found.append(("replacements", "is empty; an event needs at least one replacement"))
        return found


class EventWatcherSpec(Settings, frozen=True):
    """The kind `EventWatcher`."""

    events: tuple[SharedEventWatch, ...] = ()
