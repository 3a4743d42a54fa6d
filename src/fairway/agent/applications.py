"""The applications of an agent: what the server has registered, and what Git says of each at the newest commit.

A file that cannot be used does not hide the others: its application is known with the problem instead. Files that
belong to no registered application are found too, so that people can register them with a click.
"""

import asyncio
import contextlib
import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import msgspec

from fairway.agent.reports import Report
from fairway.config.application import ApplicationConfig, Generation
from fairway.config.find import APPLICATION_FILE, OLDEST_APPLICATION_FILE, is_application_file
from fairway.config.read import Reading
from fairway.config.remembered import RememberedReadings
from fairway.config.terms import UNKNOWN_AGENT, Terms
from fairway.delivery.targets import with_targets
from fairway.git.errors import GitNotFound
from fairway.git.mirror import Mirror
from fairway.model.application import (
    Application,
    ApplicationKind,
    DeploymentReference,
    DiscoveredApplication,
    GitPath,
    UnusableFile,
)
from fairway.model.deployment import Deployment
from fairway.model.limits import cut
from fairway.rpc.agent_api import messages
from fairway.rpc.convert.application import MOST_REASON, to_wire_discovered_application

#: Times on the wire are whole seconds.
_WIRE_SECOND = timedelta(seconds=1)


class KnownApplication(msgspec.Struct, frozen=True, kw_only=True):
    """One registered application at one commit."""

    #: With the deploy targets that it does not name where that can be told.
    application: Application
    commit: str
    #: The file that describes it, from the root of the repository.
    file: str
    #: None where the file cannot be used; then `problem` says why.
    config: ApplicationConfig | None
    problem: str = ""
    #: Whether there is no such file.
    is_gone: bool = False


class RepositoryView(msgspec.Struct, frozen=True, kw_only=True):
    """What one commit says about applications."""

    commit: str
    known: tuple[KnownApplication, ...]
    #: Described by files, but registered by nobody.
    unregistered: tuple[DiscoveredApplication, ...]
    #: Files that cannot be deployed, of registered applications and of others.
    unusable: tuple[UnusableFile, ...] = ()


class Registered:
    """The applications that the server has registered with this agent, and what was deployed of each last."""

    def __init__(self, targets: Mapping[str, tuple[str, ...]] | None = None) -> None:
        #: The deploy targets of each plugin of this agent.
        self.targets = targets or {}
        self._by_id: dict[str, Application] = {}
        #: Another number whenever something is otherwise than before.
        self.version = 0

    def replace(self, applications: Iterable[Application]) -> None:
        """Take over what the server says, unless this agent knows of something newer."""
        before = self._by_id
        self._by_id = {each.id: _with_newest(each, before.get(each.id)) for each in applications}
        self.version += self._by_id != before

    def get(self, application_id: str) -> Application | None:
        """The application with this id, if it is this agent's."""
        return self._by_id.get(application_id)

    def of_repository(self, repository_id: str) -> tuple[Application, ...]:
        """The applications of one repository."""
        return tuple(each for each in self._by_id.values() if each.git_path.repository.id == repository_id)

    def note_triggered(self, deployment: Deployment) -> None:
        """Remember that a deployment was made."""
        self._note(deployment, last_triggered=reference_to(deployment))

    def note_listed(self, deployment: Deployment) -> bool:
        """Remember a deployment that the server lists; whether its application did not know of it."""
        application = self._by_id.get(deployment.application_id)
        made = reference_to(deployment)
        if application is None or _newer(made, application.last_triggered, _started_at) is not made:
            return False
        self.note_triggered(deployment)
        return True

    def note_succeeded(self, deployment: Deployment) -> None:
        """Remember what runs now."""
        self._note(deployment, last_succeeded=self.reference_to_succeeded(deployment))

    def next_moment(self, application_id: str, now: datetime) -> datetime:
        """When a deployment is made that is made now: after the last one in any case. The clock of another machine may
        have been ahead, or this one's before it was set; and the later one is known by its time."""
        application = self._by_id.get(application_id)
        last = application.last_triggered if application else None
        return now if last is None else max(now, last.started_at + _WIRE_SECOND)

    def reference_to_succeeded(self, deployment: Deployment) -> DeploymentReference:
        """What an application remembers of a deployment that has just succeeded: that it was the last to."""
        application, reference = self._by_id.get(deployment.application_id), reference_to(deployment)
        last = application.last_succeeded if application else None
        if last is None or last.deployment_id == deployment.id or _ended_at(reference) > _ended_at(last):
            return reference
        return msgspec.structs.replace(reference, completed_at=_ended_at(last) + _WIRE_SECOND)

    def _note(self, deployment: Deployment, **fields: DeploymentReference) -> None:
        application = self._by_id.get(deployment.application_id)
        if application is not None:
            self._by_id[application.id] = msgspec.structs.replace(application, **fields)
            self.version += 1


def reference_to(deployment: Deployment) -> DeploymentReference:
    """What an application remembers of a deployment."""
    return DeploymentReference(
        deployment_id=deployment.id,
        trigger=deployment.trigger,
        started_at=deployment.created_at,
        summary=deployment.summary,
        versions=deployment.versions,
        config_filename=deployment.git_path.config_filename,
        completed_at=deployment.completed_at,
    )


def _with_newest(said: Application, known: Application | None) -> Application:
    if known is None:
        return said
    triggered = _newer(said.last_triggered, known.last_triggered, _started_at)
    # One that was made earlier may have had its turn later.
    succeeded = _newer(said.last_succeeded, known.last_succeeded, _ended_at)
    if triggered is said.last_triggered and succeeded is said.last_succeeded:
        return said  # mostly; thousands of copies would be as many megabytes
    return msgspec.structs.replace(said, last_triggered=triggered, last_succeeded=succeeded)


def _newer(
    one: DeploymentReference | None,
    other: DeploymentReference | None,
    moment: Callable[[DeploymentReference], datetime],
) -> DeploymentReference | None:
    if one is None or other is None:
        return one or other
    # The wire cuts times to seconds, so of two in the same second the one we know is taken.
    return one if int(moment(one).timestamp()) > int(moment(other).timestamp()) else other


def _started_at(reference: DeploymentReference) -> datetime:
    return reference.started_at


def _ended_at(reference: DeploymentReference) -> datetime:
    return reference.completed_at or reference.started_at


_NAMELESS = "error: spec.name: is missing; give it one, or register it under one with `fairway app add`"
#: How many files are read before others get their turn.
_AT_ONCE = 50


class ApplicationReader:
    """Reads the files of applications at a commit; what it has read before it does not read again."""

    def __init__(self, terms: Terms = UNKNOWN_AGENT) -> None:
        self._readings = RememberedReadings(terms)
        #: Mirror → the commit that was read last, and its application files.
        self._last: dict[Path, _Files] = {}

    async def at_commit(self, mirror: Mirror, commit: str) -> dict[str, Reading]:
        """Every application file of a commit, by its path."""
        blobs = await self._blobs(mirror, commit)
        self._last[mirror.git_dir] = _Files(commit, blobs)
        readings: dict[str, Reading] = {}
        paths = list(blobs)
        for start in range(0, len(paths), _AT_ONCE):
            # In turns with everybody else: thousands of files that are new take seconds.
            some = {path: blobs[path] for path in paths[start : start + _AT_ONCE]}
            if unknown := self._readings.unknown(some):
                contents = await mirror.read_blobs(list(dict.fromkeys(unknown.values())))
                readings |= self._readings.read(some, contents)
                await asyncio.sleep(0)
            else:
                readings |= self._readings.read(some, {})
        return readings

    async def _blobs(self, mirror: Mirror, commit: str) -> dict[str, str]:
        """Path → hash of the application files: those of the last commit with what has changed since."""
        last = self._last.get(mirror.git_dir)
        if last is not None:
            with contextlib.suppress(GitNotFound):  # a forced push may have taken it away
                changed = {each.path: each.new for each in await mirror.changes(last.commit, commit)}
                files = {path: changed.get(path, blob) for path, blob in last.blobs.items()}
                files |= {path: blob for path, blob in changed.items() if is_application_file(path)}
                return {path: blob for path, blob in files.items() if blob is not None}
        tree = await mirror.tree(commit)
        return {path: entry.hash for path, entry in tree.items() if is_application_file(path)}


class _Files(NamedTuple):
    commit: str
    blobs: dict[str, str]


class Whose(msgspec.Struct, frozen=True, kw_only=True):
    """The repository and the agent that a view is made for."""

    repository_id: str
    agent_id: str
    #: Labels that a file must have to be suggested.
    selector: Mapping[str, str] = {}
    #: The deploy targets of each plugin of the agent.
    targets: Mapping[str, tuple[str, ...]] = {}


def view(
    commit: str, readings: Mapping[str, Reading], registered: Iterable[Application], whose: Whose
) -> RepositoryView:
    """What the files of one repository say about its applications."""
    known = tuple(_known(application, commit, readings, whose) for application in registered)
    taken = {each.file for each in known}
    others = {path: file for path, file in readings.items() if path not in taken and _is_text(path)}
    configs = {path: file.config for path, file in others.items()}
    found = tuple(_discovered(path, each, whose) for path, each in configs.items() if each and _fits(each, whose))
    unusable = (*_unusable_of(known, whose), *_unusable(others, whose))
    return RepositoryView(commit=commit, known=known, unregistered=found, unusable=unusable)


def _unusable_of(known: Iterable[KnownApplication], whose: Whose) -> Iterator[UnusableFile]:
    """The files of registered applications that cannot be used."""
    for each in known:
        if each.problem:
            yield UnusableFile(
                repository_id=whose.repository_id,
                file=each.file,
                reason=cut(each.problem, MOST_REASON),
                application_id=each.application.id,
            )


def _unusable(others: Mapping[str, Reading], whose: Whose) -> Iterator[UnusableFile]:
    """The files of no application of this agent that cannot be used, or cannot be suggested for want of a name."""
    for path, reading in others.items():
        config: ApplicationConfig | None = reading.config
        if config is None:
            reason = cut("; ".join(map(str, reading.errors)), MOST_REASON)
            yield UnusableFile(repository_id=whose.repository_id, file=path, reason=reason)
        elif not config.name and _has_labels(config, whose):
            yield UnusableFile(
                repository_id=whose.repository_id, file=path, reason=f"{path}: {_NAMELESS}", nameless=True
            )


def renamed(known: Iterable[KnownApplication], whose: Whose) -> tuple[DiscoveredApplication, ...]:
    """The registered applications whose name, labels or description are otherwise in Git than at the server."""
    return tuple(
        msgspec.structs.replace(_discovered(each.file, each.config, whose), id=each.application.id)
        for each in known
        if each.config is not None and _differs(each.application, each.config)
    )


def report_renamed(found: Iterable[DiscoveredApplication]) -> Report:
    """Names, labels and descriptions as Git has them."""
    wire = map(to_wire_discovered_application, found)
    request = messages.UpdateApplicationConfigurationsRequest(applications=wire)
    return Report("UpdateApplicationConfigurations", request)


def report_unregistered(found: Iterable[DiscoveredApplication]) -> Report:
    """All files of the agent's repositories that nobody has registered."""
    wire = map(to_wire_discovered_application, found)
    request = messages.ReportUnregisteredApplicationConfigurationsRequest(applications=wire)
    return Report("ReportUnregisteredApplicationConfigurations", request)


def _known(application: Application, commit: str, readings: Mapping[str, Reading], whose: Whose) -> KnownApplication:
    candidates = files_of(application.git_path)
    file = next((path for path in candidates if path in readings), "")
    if not file:
        problem = f"commit {commit[:7]} has no file {' or '.join(candidates)}"
        return KnownApplication(
            application=application, commit=commit, file=candidates[0], config=None, problem=problem, is_gone=True
        )
    config = readings[file].config
    problem = "; ".join(map(str, readings[file].errors))
    placed = with_targets(application, config, whose.targets)
    return KnownApplication(application=placed, commit=commit, file=file, config=config, problem=problem)


def files_of(place: GitPath) -> tuple[str, ...]:
    """Where an application's file may be: under the name it was registered with, else under the usual ones."""
    names = (place.config_filename,) if place.config_filename else (APPLICATION_FILE, OLDEST_APPLICATION_FILE)
    return tuple(posixpath.normpath(posixpath.join(place.path, name)) for name in names)


def kind_of(config: ApplicationConfig) -> ApplicationKind | None:
    """The platform of a v0 file."""
    # The plugin that a v0 kind stands for has the kind's name.
    return ApplicationKind(next(iter(config.plugins))) if config.generation is Generation.V0 else None


def _discovered(path: str, config: ApplicationConfig, whose: Whose) -> DiscoveredApplication:
    directory, name = posixpath.split(path)
    return DiscoveredApplication(
        name=config.name,
        agent_id=whose.agent_id,
        repository_id=whose.repository_id,
        # PipeCD's server refuses a whole report for a path of one character, and the root of a repository would be one.
        path=directory if len(directory) > 1 else f"./{directory}",
        config_filename=name,
        kind=kind_of(config),
        labels=config.labels,
        description=config.description,
    )


def _fits(config: ApplicationConfig, whose: Whose) -> bool:
    return bool(config.name) and _has_labels(config, whose)


def _has_labels(config: ApplicationConfig, whose: Whose) -> bool:
    return all(config.labels.get(key) == value for key, value in whose.selector.items())


def _is_text(path: str) -> bool:
    """Whether a path can be told: Git knows names that are not UTF-8, and what is there nobody can register."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _differs(application: Application, config: ApplicationConfig) -> bool:
    there = (application.name, application.labels, application.description)
    return bool(config.name) and there != (config.name, config.labels, config.description)
