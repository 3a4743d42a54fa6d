"""Which version the server wants, and what that means for this agent.

The server has one text for it. Fairway's says `VERSION@sha256:HEX`; PipeCD's says a version, often with a "v" before
it, and then the checksum stands in the agent's own file. A version without a checksum is not fetched: whoever can
change what lies at an address must not be able to change what an agent runs.
"""

import re
from typing import NamedTuple

from packaging.version import InvalidVersion, Version

from fairway.agent.launcher.record import INSTALLED, Failure
from fairway.config.upgrade import Upgrade
from fairway.errors import UserError

#: Also what may stand in an address and in the name of a directory.
_TEXT = re.compile(r"v?(?P<version>[0-9][0-9A-Za-z.+]{0,63})(?:@sha256:(?P<sha256>[0-9a-fA-F]{64}))?")


class BadWish(UserError):
    """A text that names no version."""


class Wanted(NamedTuple):
    """A version, and what its wheel must be."""

    version: str
    #: Empty when it was not said.
    sha256: str = ""

    @property
    def key(self) -> str:
        """How the launcher knows it."""
        return f"{self.version}-{self.sha256}"


class Circumstances(NamedTuple):
    """What a wish is judged by."""

    #: The key of the version that runs, and the version that is installed on the machine.
    running: str
    installed: str
    #: Versions that were tried and left.
    failures: tuple[Failure, ...] = ()
    #: What the agent's file says; None when it says nothing.
    upgrade: Upgrade | None = None
    #: Whether a launcher keeps this agent.
    launched: bool = True


class Stay(NamedTuple):
    """Nothing changes; the reason is empty when nothing was to change."""

    reason: str = ""


class Return(NamedTuple):
    """The version that is installed on the machine is to run."""


class Bring(NamedTuple):
    """A version is to be fetched, and to run."""

    wanted: Wanted
    source: str


def parse_wanted(text: str) -> Wanted:
    """The version that a text names; BadWish when it names none."""
    found = _TEXT.fullmatch(text.strip())
    try:
        if found is None:
            raise InvalidVersion(text)
        return Wanted(str(Version(found["version"])), (found["sha256"] or "").lower())
    except InvalidVersion as error:
        raise BadWish(f"{text[:200]!r} is no version; expected VERSION@sha256:HEX, such as 1.2.3@sha256:…") from error


def decide_upgrade(text: str, now: Circumstances) -> Stay | Return | Bring:
    """What the server's wish means for this agent, with the reason when it is not followed."""
    if not text.strip():
        return Stay()
    try:
        wanted = parse_wanted(text)
    except BadWish as error:
        return Stay(str(error))
    listed = _listed(wanted.version, now.upgrade)
    if wanted.sha256 and listed and wanted.sha256 != listed:
        return Stay(f"the server says that {wanted.version} has another checksum than the agent's file says")
    wanted = wanted._replace(sha256=wanted.sha256 or listed)
    running = Wanted(*now.running.rsplit("-", 1)) if now.running != INSTALLED else Wanted(_plain(now.installed))
    if wanted.version == running.version and wanted.sha256 in {running.sha256, ""}:
        return Stay()
    if wanted.version == _plain(now.installed):
        # Its checksum is not known; the machine's owner has vouched for it.
        return Stay() if now.running == INSTALLED else _unless_refused(INSTALLED, wanted.version, now) or Return()
    return _unless_refused(wanted.key, wanted.version, now) or _fetchable(wanted, now)


def _fetchable(wanted: Wanted, now: Circumstances) -> Stay | Bring:
    if now.upgrade is None:
        return Stay(f"{wanted.version} is wanted, but the agent's file has no spec.upgrade that says where it is")
    if not wanted.sha256:
        return Stay(
            f"{wanted.version} is wanted, but its checksum is not known; "
            "say VERSION@sha256:HEX, or write it to spec.upgrade.checksums of the agent's file"
        )
    return Bring(wanted, now.upgrade.source)


def _unless_refused(key: str, version: str, now: Circumstances) -> Stay | None:
    if not now.launched:
        return Stay(f"{version} is wanted, but this agent has no launcher; whoever started it must change its version")
    for failure in now.failures:
        if failure.key == key and not failure.excused:
            return Stay(f"{version} was tried and left: {failure.reason}; `fairway agent restart` lets it try again")
    return None


def _listed(version: str, upgrade: Upgrade | None) -> str:
    listed = upgrade.checksums if upgrade else {}
    return next((hex.lower() for each, hex in listed.items() if _plain(each) == version), "")


def _plain(version: str) -> str:
    """A version as we write it; one that is none stays as it is, and is never wanted."""
    try:
        return str(Version(version))
    except InvalidVersion:
        return version
