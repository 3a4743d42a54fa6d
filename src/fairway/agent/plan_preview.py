"""What merging a branch would deploy: the branch merged in the mirror, each application that it touches planned, and
its plugins asked what they would change. Nothing is deployed, and no branch moves.

One application that cannot be planned hides no other: its reason is its preview. What was decrypted for an application
is masked in all that is told of it, because a preview ends as a comment that many may read.
"""

import asyncio
import posixpath
from datetime import timedelta
from pathlib import PurePosixPath
from uuid import uuid4

import msgspec
import structlog
from grpc import aio

from fairway.agent.applications import ApplicationReader, KnownApplication, Whose, view
from fairway.agent.deploying import DeployingDesk, gathered
from fairway.agent.masking import Opened, opened_in
from fairway.agent.planning import Planning, plan_deployment, plugins_used
from fairway.agent.plugins.client import PluginRefused, Sources
from fairway.agent.reports import Answer
from fairway.agent.repositories import WatchedRepository
from fairway.agent.triggering import Asked, NewDeployment, Triggered, new_deployment, touch_rule
from fairway.delivery.commit import TouchIndex
from fairway.delivery.preview import PreviewDecision, PreviewFacts, PreviewOutcome, decide_preview, found_in_words
from fairway.delivery.trigger import TriggerDecision, TriggerOutcome
from fairway.errors import FairwayError, UserError
from fairway.git.merge import merge_commits
from fairway.git.mirror import Mirror
from fairway.model.application import Application, DiscoveredApplication, Repository
from fairway.model.command import BuildPlanPreview, Command, CommandStatus
from fairway.model.deployment import Deployment
from fairway.model.limits import DETAILS, REASON, cut
from fairway.model.plan import Plan
from fairway.model.plan_preview import ApplicationPlanPreview, PlanPreview, PluginPlanPreview
from fairway.model.trigger import TriggerKind
from fairway.rpc.convert.plan_preview import to_command_output

_log = structlog.get_logger()

#: How long a preview may take when nobody says; as PipeCD's agents have it.
PATIENCE = timedelta(minutes=5)
#: How many applications are looked at side by side, and for how many commands.
_SIDE_BY_SIDE = 4
_COMMANDS_AT_ONCE = 2


class NoPreview(UserError):
    """A question that this agent cannot answer."""


class Merge(msgspec.Struct, frozen=True, kw_only=True):
    """The merge that is asked about."""

    repository: WatchedRepository
    mirror: Mirror
    base: str
    #: The commit that the base branch would be at.
    merged: str
    asked: BuildPlanPreview


class Previewer:
    """Answers the commands that ask what a merge would deploy."""

    def __init__(self, desk: DeployingDesk, agent_id: str) -> None:
        self._desk = desk
        self._agent_id = agent_id
        #: One of its own: what the watcher has read last is not what branches look like.
        self._reader = ApplicationReader(desk.terms)
        self._commands = asyncio.Semaphore(_COMMANDS_AT_ONCE)

    async def answer(self, command: Command, asked: BuildPlanPreview) -> Answer:
        """The preview, or why there is none; either is an answer."""
        seconds = (asked.timeout or PATIENCE).total_seconds()
        found: tuple[ApplicationPlanPreview, ...] = ()
        error = ""
        try:
            async with asyncio.timeout(seconds), self._commands:
                found = await self._applications(asked)
        except TimeoutError:
            error = f"the preview was not ready within {seconds:g} seconds"
        except FairwayError as problem:
            error = str(problem)
        except Exception as defect:
            # The command is answered whatever happens; whoever waits for it is told.
            _log.exception("a plan preview failed by a defect of this agent", command=command.id)
            error = f"a defect of the agent: {type(defect).__name__}; its log says where"
        preview = PlanPreview(command_id=command.id, agent_id=self._agent_id, applications=found, error=error)
        return Answer(status=CommandStatus.SUCCEEDED, output=to_command_output(preview))

    async def _applications(self, asked: BuildPlanPreview) -> tuple[ApplicationPlanPreview, ...]:
        merge = await self._merge(asked)
        turns = asyncio.Semaphore(_SIDE_BY_SIDE)

        async def one(known: KnownApplication, decision: PreviewDecision) -> ApplicationPlanPreview:
            async with turns:
                return await self._application(merge, known, decision)

        seen = await self._seen(merge)
        decided = await asyncio.gather(*(one(known, decision) for known, decision in _decided(seen)))
        return (*decided, *(self._found(merge, each) for each in seen.found))

    async def _merge(self, asked: BuildPlanPreview) -> Merge:
        repository = self._desk.repositories.by_id.get(asked.repository_id)
        if repository is None or repository.branch != asked.base_branch:
            raise NoPreview(f"this agent does not follow {asked.base_branch} of repository {asked.repository_id!r}")
        mirror = await repository.mirror()
        await mirror.fetch()
        base = await mirror.head(repository.branch)
        if base is None:
            raise NoPreview(f"repository {repository.id} has no branch {repository.branch}")
        await mirror.fetch_commit(asked.head_commit)
        merged = await merge_commits(mirror, base, asked.head_commit)
        return Merge(repository=repository, mirror=mirror, base=base, merged=merged, asked=asked)

    async def _seen(self, merge: Merge) -> "_Seen":
        """What the merge has of applications, and what the branch changes there."""
        readings = await self._reader.at_commit(merge.mirror, merge.merged)
        registered = self._desk.registered
        whose = Whose(repository_id=merge.repository.id, agent_id=self._agent_id, targets=registered.targets)
        seen = view(merge.merged, readings, registered.of_repository(merge.repository.id), whose)
        changes = await merge.mirror.changes(merge.base, merge.merged)
        # What was there before may belong to an application that is disabled, of which this agent is not told.
        brought = {each.path for each in changes if each.old is None}
        found = tuple(each for each in seen.unregistered if _file(each) in brought)
        return _Seen(seen.known, found, tuple(each.path for each in changes))

    async def _application(
        self, merge: Merge, known: KnownApplication, decision: PreviewDecision
    ) -> ApplicationPlanPreview:
        nothing_yet = self._blank(merge, known)
        if decision.outcome is PreviewOutcome.FAILED:
            return msgspec.structs.replace(nothing_yet, error=decision.reason)
        if decision.outcome is PreviewOutcome.GONE:
            return msgspec.structs.replace(nothing_yet, summary=decision.reason.encode())
        deployment = await self._imagined(merge, known, decision)
        try:
            async with gathered(self._desk, deployment) as planning:
                sources = await planning.sources
                found = await self._planned(nothing_yet, planning, opened_in(sources.target, sources.running))
                return msgspec.structs.replace(found, error=_from_repository(found.error, sources, known.application))
        except FairwayError as error:
            return msgspec.structs.replace(nothing_yet, error=str(error))
        finally:
            await self._desk.workspace.remove(deployment.id)

    async def _planned(
        self, preview: ApplicationPlanPreview, planning: Planning, opened: Opened
    ) -> ApplicationPlanPreview:
        decision = await plan_deployment(planning, self._desk.clock.now())
        if decision.plan is None:
            return msgspec.structs.replace(preview, error=opened.masked(decision.reason))
        names = plugins_used(planning)
        answers = await asyncio.gather(*(self._plugin(name, planning, opened) for name in names))
        able = [answer for answer in answers if answer is not None]
        return msgspec.structs.replace(
            preview,
            sync_strategy=decision.plan.sync_strategy,
            summary=opened.masked(_in_words(decision.plan)).encode(),
            plugin_names=names,
            plugins=tuple(each for answer in able for each in answer.changes),
            no_change=bool(able) and not any(answer.changes or answer.error for answer in able),
            error="; ".join(opened.masked(answer.error) for answer in able if answer.error),
        )

    async def _plugin(self, name: str, planning: Planning, opened: Opened) -> "_PluginAnswer | None":
        """What one plugin would change; None where it cannot tell."""
        try:
            sources = await planning.sources
            found = await self._desk.plugins.client(name).plan_preview(planning.deployment, sources)
        except FairwayError as error:
            return _PluginAnswer((), _said(error))
        if found is None:
            return None
        changes = (
            PluginPlanPreview(
                plugin_name=name,
                deploy_target=each.deploy_target,
                summary=cut(opened.masked(each.summary), REASON).encode(),
                details=cut(opened.masked(each.details), DETAILS).encode(),
                diff_language=each.language or "diff",
            )
            for each in found
            if each.changes
        )
        return _PluginAnswer(tuple(changes), "")

    async def _imagined(self, merge: Merge, known: KnownApplication, decision: PreviewDecision) -> Deployment:
        """The deployment that the merge would make; nobody is told of it."""
        yes = TriggerDecision(outcome=TriggerOutcome.TRIGGER, reason=decision.reason)
        new = NewDeployment(
            triggered=Triggered(known, yes),
            commit=await merge.mirror.commit(merge.merged),
            repository=Repository(
                id=merge.repository.id, remote=merge.mirror.remote.url, branch=merge.repository.branch
            ),
            mirror=merge.mirror,
            asked=Asked(kind=TriggerKind.COMMIT),
        )
        return new_deployment(new, lambda: f"preview-{uuid4()}", self._desk.clock.now())

    def _found(self, merge: Merge, found: DiscoveredApplication) -> ApplicationPlanPreview:
        """That the branch brings an application; it has no id yet."""
        return ApplicationPlanPreview(
            application_id="",
            application_name=found.name,
            application_directory=posixpath.normpath(found.path),
            agent_id=self._agent_id,
            project_id="",
            head_branch=merge.asked.head_branch,
            head_commit=merge.asked.head_commit,
            created_at=self._desk.clock.now(),
            labels=found.labels,
            summary=found_in_words(found).encode(),
        )

    def _blank(self, merge: Merge, known: KnownApplication) -> ApplicationPlanPreview:
        application, config = known.application, known.config
        return ApplicationPlanPreview(
            application_id=application.id,
            application_name=application.name,
            application_directory=application.git_path.path,
            agent_id=self._agent_id,
            project_id=application.project_id,
            head_branch=merge.asked.head_branch,
            head_commit=merge.asked.head_commit,
            created_at=self._desk.clock.now(),
            labels=config.labels if config else application.labels,
            plugin_names=tuple(config.plugins) if config else tuple(application.deploy_targets_by_plugin),
        )


def _file(found: DiscoveredApplication) -> str:
    return posixpath.normpath(posixpath.join(found.path, found.config_filename))


class _Seen(msgspec.Struct, frozen=True):
    """What a merge has of applications."""

    known: tuple[KnownApplication, ...]
    #: Those that the branch brings and nobody has registered.
    found: tuple[DiscoveredApplication, ...]
    #: The files that the branch changes.
    files: tuple[str, ...]


def _decided(seen: _Seen) -> list[tuple[KnownApplication, PreviewDecision]]:
    """The applications that there is something to tell of."""
    touched = {each.application_id: each for each in TouchIndex(map(touch_rule, seen.known)).touched_by(seen.files)}
    by_name = {each.name: each for each in seen.found}
    decided = [
        (
            each,
            decide_preview(
                PreviewFacts(
                    application=each.application,
                    config=each.config,
                    config_problem=each.problem,
                    gone=each.file if each.is_gone else "",
                    moved_to=by_name.get(each.application.name),
                    touched=touched.get(each.application.id),
                )
            ),
        )
        for each in seen.known
    ]
    return [(each, decision) for each, decision in decided if decision.outcome is not PreviewOutcome.NO]


class _PluginAnswer(msgspec.Struct, frozen=True):
    changes: tuple[PluginPlanPreview, ...]
    error: str


def _said(error: FairwayError) -> str:
    """Why a plugin cannot tell: in its own words where it has any, without those for the call that failed."""
    cause = error.__cause__
    own = cause.details() if isinstance(error, PluginRefused) and isinstance(cause, aio.AioRpcError) else ""
    return own or str(error)


def _from_repository(text: str, sources: Sources, application: Application) -> str:
    """The text with paths as the repository has them: where an agent has its copies nobody needs to know."""
    below = PurePosixPath(posixpath.normpath(application.git_path.path)).parts
    for source in filter(None, (sources.target, sources.running)):
        root = source.application_directory
        for _ in below:
            root = root.parent
        text = text.replace(f"{root}/", "").replace(str(root), ".")
    return text


def _in_words(plan: Plan) -> str:
    """The plan's summary, and its stages in their order; those of a rollback run only when something fails."""
    stages = " → ".join(stage.name for stage in plan.stages if not stage.is_rollback)
    return f"{plan.summary}\nStages: {stages}"
