"""What a new commit, a new application or somebody's wish leads to: deployments, and what the server should know.

One look at a repository at a time; a look reads the files of applications at the newest commit, deploys what the commit
touches, and tells the server of names that changed, files that nobody has registered and files that cannot be used.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import suppress
from typing import Any
from uuid import UUID, uuid5

import msgspec
import structlog

from fairway.agent import reports
from fairway.agent.applications import (
    ApplicationReader,
    KnownApplication,
    Registered,
    RepositoryView,
    Whose,
    reference_to,
    renamed,
    report_renamed,
    report_unregistered,
    view,
)
from fairway.agent.control_plane import ServerAway, ServerRefused
from fairway.agent.deployments import Deployments
from fairway.agent.healing import Before
from fairway.agent.outbox import Outbox
from fairway.agent.reports import Answer, Report
from fairway.agent.repositories import PATIENCE, Repositories, WatchedRepository
from fairway.agent.triggering import Asked, NewDeployment, Triggered, asked_for, drifted, examine, new_deployment
from fairway.clock import Clock
from fairway.config.agent import AgentConfig
from fairway.config.application import Chain
from fairway.delivery.preview import gone_in_words
from fairway.delivery.trigger import Drift, TriggerOutcome
from fairway.errors import FairwayError
from fairway.git.retry import Retry
from fairway.model.application import DiscoveredApplication, Repository, SyncState, SyncStatus, UnusableFile
from fairway.model.chain import ApplicationMatcher
from fairway.model.command import ChainSyncApplication, Command, CommandStatus, SyncApplication
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.trigger import TriggerKind

_log = structlog.get_logger()

#: The stream of the outbox for what is about the agent as a whole.
AGENT = "agent"
#: The key under which the answer to a sync names the deployment; PipeCD's tools look for it.
TRIGGERED = "TriggeredDeploymentID"
#: Under which the ids of deployments are made that commands ask for.
_OF_COMMANDS = UUID("b9a2a2b8-6a0d-4d0c-9f5e-6d3f0d1c7a54")
#: How many deployments are begun at the same time: the server makes their beginnings durable together.
_SIDE_BY_SIDE = 16


class WatcherDesk(msgspec.Struct, frozen=True, kw_only=True):
    """What a look is made with."""

    config: AgentConfig
    registered: Registered
    repositories: Repositories
    deployments: Deployments
    outbox: Outbox
    clock: Clock
    new_id: Callable[[], str]
    #: A deployment as the server has it.
    find: Callable[[str], Coroutine[Any, Any, Deployment]]
    #: Reports the application files that cannot be deployed.
    report_unusable: Callable[[Sequence[UnusableFile]], Coroutine[Any, Any, None]]
    #: Called after each look at a repository.
    looked: Callable[[], None]
    #: How patiently a remote is asked again that is away when somebody wants to deploy.
    patience: Retry = PATIENCE


class Watcher:
    """Looks at repositories. It belongs to one event loop."""

    def __init__(self, desk: WatcherDesk) -> None:
        self._desk = desk
        self._reader = ApplicationReader(desk.config.terms)
        self._looking = asyncio.Lock()
        #: Application id → the commit up to which nothing of it has changed.
        self._examined: dict[str, str] = {}
        self._views: dict[str, RepositoryView] = {}
        #: Repository id → the commit, and the version of what is registered, that the last whole look has seen.
        self._seen: dict[str, tuple[str, int]] = {}
        self._unregistered: tuple[DiscoveredApplication, ...] = ()
        #: What the server knows; None before the first report.
        self._unusable: tuple[UnusableFile, ...] | None = None
        #: Application id → the problem of its file in the last report; absent before the first report.
        self._problems: dict[str, str] = {}

    def known(self) -> Iterator[KnownApplication]:
        """The registered applications as they were last seen in Git."""
        for seen in self._views.values():
            yield from seen.known

    @property
    def unusable(self) -> tuple[UnusableFile, ...]:
        """The application files that cannot be deployed, as they were last seen in Git."""
        return tuple(each for seen in self._views.values() for each in seen.unusable)

    async def look_everywhere(self) -> None:
        """Look at every repository that has been read."""
        for repository in self._desk.repositories.by_id.values():
            await self.look(repository)

    async def look(self, repository: WatchedRepository) -> None:
        """Do what the repository's newest commit asks for."""
        if repository.head is None:
            return
        async with self._looking:
            # Whoever looks again to be sure finds the same, as long as neither Git nor the server says something new.
            state = (repository.head, self._desk.registered.version)
            if self._seen.get(repository.id) == state:
                return
            try:
                await self._look(repository, repository.head)
                self._seen[repository.id] = state
            except FairwayError as error:
                # The commit stays unexamined, so the next look finds the same.
                _log.warning("a repository could not be looked at", repository=repository.id, reason=str(error))
            except Exception:
                # What is in other repositories goes on, and this agent with it.
                _log.exception("a repository is not looked at by a defect of this agent", repository=repository.id)

    async def sync(self, command: Command, payload: SyncApplication | ChainSyncApplication) -> Answer:
        """Deploy an application because somebody asks for it; the answer names the deployment, or says why not."""
        asked = _asked(command, payload)
        if await self._was_begun(asked.deployment_id):
            return Answer(status=CommandStatus.SUCCEEDED, metadata={TRIGGERED: asked.deployment_id})
        try:
            deployment = await self._deploy_on_demand(payload.application_id, asked)
        except FairwayError as error:
            return Answer(status=CommandStatus.FAILED, metadata={"reason": str(error)})
        if isinstance(deployment, str):
            return Answer(status=CommandStatus.FAILED, metadata={"reason": deployment})
        return Answer(status=CommandStatus.SUCCEEDED, metadata={TRIGGERED: deployment.id})

    async def found(self, deployment: Deployment) -> None:
        """See to it that a deployment that the server lists is not made again. PipeCD's is told of it first and then
        that it is its application's newest, and an agent may be killed in between."""
        if self._desk.registered.note_listed(deployment):
            application_id, newest = deployment.application_id, reference_to(deployment)
            await self._say(reports.newest_deployment(application_id, DeploymentStatus.PENDING, newest))

    async def _was_begun(self, deployment_id: str) -> bool:
        """Whether an agent has begun the deployment that was killed before it could answer."""
        if self._desk.deployments.knows(deployment_id):
            return True
        try:
            self._desk.deployments.take(await self._desk.find(deployment_id))
        except (ServerAway, ServerRefused):
            # As a rule there is none.
            return False
        return True

    async def heal(self, application_id: str, drift: Drift, before: Before) -> None:
        """Deploy an application again of which something else ran than Git says after its last deployment, if its file
        asks for that."""
        async with self._looking:
            known = next((each for each in self.known() if each.application.id == application_id), None)
            if known is None or self._desk.deployments.under_way(application_id):
                return
            # One that was made since, while others were looked at, may have brought it to what Git says.
            if self._last_id(application_id) != before.deployment_id:
                return
            repository = self._desk.repositories.by_id[known.application.git_path.repository.id]
            triggered = drifted(known, drift, before.last, self._desk.clock.now())
            if _is_triggered(triggered):
                await self._deploy(repository, triggered, Asked(kind=TriggerKind.OUT_OF_SYNC, drift=drift.digest))

    def _last_id(self, application_id: str) -> str:
        application = self._desk.registered.get(application_id)
        last = application.last_triggered if application else None
        return last.deployment_id if last else ""

    async def _look(self, repository: WatchedRepository, commit: str) -> None:
        mirror = await repository.mirror()
        readings = await self._reader.at_commit(mirror, commit)
        whose = self._whose(repository)
        seen = view(commit, readings, self._desk.registered.of_repository(repository.id), whose)
        _log_unusable(self._views.get(repository.id), seen)
        self._views[repository.id] = seen
        examined = await examine(mirror, seen.known, self._examined, self._desk.clock.now())
        refused = await self._deploy_all(repository, [each for each in examined if _is_triggered(each)])
        await self._tell(seen, whose)
        refused = refused or await self._report_unusable()
        repository.looked_at = commit
        self._desk.looked()
        if refused is not None:
            raise refused

    async def _deploy_on_demand(self, application_id: str, asked: Asked) -> Deployment | str:
        """The deployment that somebody asks for, or the reason why there is none."""
        application = self._desk.registered.get(application_id)
        if application is None:
            return f"application {application_id} is not enabled, or not this agent's"
        repository = self._desk.repositories.by_id.get(application.git_path.repository.id)
        if repository is None:
            return f"this agent has no repository {application.git_path.repository.id!r}"
        # Not in the turn of those who look: a remote that does not answer keeps them from nothing.
        await self._desk.patience.run(lambda: _refreshed_or_said_why(repository, application.name))
        async with self._looking:
            head = repository.head
            if head is None:
                return f"repository {repository.id} has no branch {repository.branch}"
            readings = await self._reader.at_commit(await repository.mirror(), head)
            (known,) = view(head, readings, (application,), self._whose(repository)).known
            triggered = asked_for(known, asked, self._desk.clock.now())
            if triggered.decision.outcome is not TriggerOutcome.TRIGGER:
                return triggered.decision.reason
            return await self._deploy(repository, triggered, asked)

    async def _deploy_all(self, repository: WatchedRepository, triggered: list[Triggered]) -> FairwayError | None:
        """Begin a deployment of each, some at the same time; one that cannot be begun keeps none from it. Why, of one
        that could not; none where all could."""
        turns = asyncio.Semaphore(_SIDE_BY_SIDE)

        async def one(each: Triggered) -> None:
            async with turns:
                await self._deploy(repository, each, Asked(kind=TriggerKind.COMMIT))

        refused = None
        for outcome in await asyncio.gather(*map(one, triggered), return_exceptions=True):
            if isinstance(outcome, FairwayError):
                refused = refused or outcome
            elif outcome is not None:
                raise outcome
        return refused

    async def _deploy(self, repository: WatchedRepository, triggered: Triggered, asked: Asked) -> Deployment:
        mirror = await repository.mirror()
        new = NewDeployment(
            triggered=triggered,
            commit=await mirror.commit(triggered.known.commit),
            repository=Repository(id=repository.id, remote=mirror.remote.url, branch=repository.branch),
            mirror=mirror,
            asked=asked,
            behind=bool(self._desk.deployments.under_way(triggered.known.application.id)),
        )
        made_at = self._desk.registered.next_moment(triggered.known.application.id, self._desk.clock.now())
        deployment = new_deployment(new, self._desk.new_id, made_at)
        config = triggered.known.config
        # One that is deployed by a chain begins none of its own: it would be lost to the one that waits for it.
        if config is not None and config.post_sync.chain is not None and asked.kind is not TriggerKind.CHAIN:
            await self._begin_chain(deployment, config.post_sync.chain)
        else:
            # What it needs is got ready while the server is told of it.
            telling = asyncio.ensure_future(self._begin(deployment, at_once=not new.behind))
            self._desk.deployments.take(deployment, telling)
            await telling
        self._desk.registered.note_triggered(deployment)
        self._examined[deployment.application_id] = triggered.known.commit
        if config is not None and config.trigger.waiting == "newest":
            self._desk.deployments.supersede(deployment)
        return deployment

    async def _begin(self, deployment: Deployment, at_once: bool) -> None:
        begun = (reports.deploying(deployment.application_id, True),) if at_once else ()
        await self._tell_new(deployment, reports.created(deployment), *begun)

    async def _begin_chain(self, first: Deployment, chain: Chain) -> None:
        """Begin a deployment that others follow. The server gives the chain its id, and what is said of the deployment
        carries it: so it is taken up as the server has it, or later from its list, if it is away now, or was and has
        not been told yet."""
        blocks = [ApplicationMatcher(name=each.name, kind=each.kind, labels=each.labels) for each in chain.applications]
        await self._tell_new(first, reports.chain_created(first, blocks))
        with suppress(ServerAway, ServerRefused):
            self._desk.deployments.take(await self._desk.find(first.id))

    async def _tell_new(self, deployment: Deployment, created: Report, *more: Report) -> None:
        reference = reference_to(deployment)
        newest = reports.newest_deployment(deployment.application_id, DeploymentStatus.PENDING, reference)
        try:
            await self._desk.outbox.deliver(deployment.id, created, newest, *more)
        except ServerRefused as error:
            if not error.taken:
                raise
            # It is made, whatever the server thinks of its application.
            _log.warning("the server refused what it was told", deployment=deployment.id, reason=str(error))

    async def _tell(self, seen: RepositoryView, whose: Whose) -> None:
        if changed := renamed(seen.known, whose):
            await self._say(report_renamed(changed))
        found = tuple(each for other in self._views.values() for each in other.unregistered)
        if found != self._unregistered:
            await self._say(report_unregistered(found))
            self._unregistered = found
        for known in seen.known:
            await self._tell_problem(known)

    async def _report_unusable(self) -> FairwayError | None:
        """Report the files that cannot be deployed; why that failed, so that the next look reports them again."""
        unusable = self.unusable
        if self._unusable == unusable:
            return None
        try:
            await self._desk.report_unusable(unusable)
        except (ServerAway, ServerRefused) as error:
            return error
        self._unusable = unusable
        return None

    async def _tell_problem(self, known: KnownApplication) -> None:
        application_id = known.application.id
        reported = self._problems.get(application_id)
        if reported == known.problem or (reported is None and not _is_news(known)):
            return
        self._problems[application_id] = known.problem
        status = SyncStatus.INVALID_CONFIG if known.problem else SyncStatus.UNKNOWN
        short = f"The application's file {'is gone' if known.is_gone else 'cannot be used'}" if known.problem else ""
        then = f": {gone_in_words(known.application.name)}" if known.is_gone else ""
        reason = f"{known.problem}{then}"
        state = SyncState(status=status, at=self._desk.clock.now(), short_reason=short, reason=reason)
        await self._say(reports.sync_state(application_id, state))

    async def _say(self, report: Report) -> None:
        try:
            await self._desk.outbox.deliver(AGENT, report)
        except ServerRefused as error:
            _log.warning("the server refused what it was told", method=report.method, reason=str(error))

    def _whose(self, repository: WatchedRepository) -> Whose:
        config = self._desk.config
        return Whose(
            repository_id=repository.id,
            agent_id=config.agent_id,
            selector=config.app_selector,
            targets=self._desk.registered.targets,
        )


def _is_news(known: KnownApplication) -> bool:
    """Whether the server's state of a file is wrong, before this process has reported on the file."""
    state = known.application.sync_state
    return bool(known.problem) or (state is not None and state.status is SyncStatus.INVALID_CONFIG)


def _log_unusable(before: RepositoryView | None, seen: RepositoryView) -> None:
    """Log the files that have become unusable, and those that have been mended."""
    known = before.unusable if before else ()
    for each in seen.unusable:
        if each not in known:
            level = _log.info if each.nameless else _log.warning
            level(
                "application file cannot be deployed", repository=each.repository_id, file=each.file, reason=each.reason
            )
    still = {each.file for each in seen.unusable}
    for each in known:
        if each.file not in still:
            _log.info("application file is no longer unusable", repository=each.repository_id, file=each.file)


async def _refreshed_or_said_why(repository: WatchedRepository, application: str) -> None:
    """Bring a repository up to date; what keeps it from that for a while is told to people, once."""
    try:
        await repository.refresh()
    except FairwayError as error:
        if error.retry and repository.trouble != str(error):
            _log.warning("a sync waits for its repository", application=application, reason=str(error))
            repository.trouble = str(error)
        raise
    repository.trouble = ""


def _is_triggered(examined: Triggered) -> bool:
    return examined.decision.outcome is TriggerOutcome.TRIGGER


def _asked(command: Command, payload: SyncApplication | ChainSyncApplication) -> Asked:
    # Always the same: whoever finds the command again finds its deployment, too.
    deployment_id = str(uuid5(_OF_COMMANDS, command.id))
    if isinstance(payload, ChainSyncApplication):
        return Asked(
            kind=TriggerKind.CHAIN,
            strategy=payload.sync_strategy,
            # The chain is the commander of what it starts.
            commander=payload.chain_id,
            chain_id=payload.chain_id,
            chain_block_index=payload.block_index,
            deployment_id=deployment_id,
        )
    return Asked(
        kind=TriggerKind.COMMAND,
        strategy=payload.sync_strategy,
        commander=command.commander,
        deployment_id=deployment_id,
    )
