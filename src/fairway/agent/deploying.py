"""One deployment from its files to its end: trees, plan, stages, and what is remembered of it afterwards.

Whatever keeps a deployment from being planned (a commit that is gone, a file that is missing or wrong, a secret that
cannot be opened) ends it with that reason; nothing stays pending for ever. What is only away for a while (the remote, a
plugin) is tried again for some ten minutes, and a cancel is heard in every state. One that has begun waits without a
limit of time for its files and its plugins: a stage may have started work that must be followed to its end, or undone.
"""

import asyncio
import contextlib
import math
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from functools import lru_cache, partial
from typing import Any

import msgspec
import structlog

from fairway.agent import reports
from fairway.agent.applications import Registered, files_of
from fairway.agent.chain_waiting import AskTurn, given_up_by_its_chain
from fairway.agent.control_plane import ServerRefused
from fairway.agent.deployments import GivingUp, Underway
from fairway.agent.ending import Wishes, end_stage
from fairway.agent.masking import opened_in
from fairway.agent.other_agent import Find
from fairway.agent.outbox import Outbox
from fairway.agent.planning import Planning, Plugins, plan_deployment, serving_for
from fairway.agent.plugins.client import Sources
from fairway.agent.plugins.stopping import GivenUp
from fairway.agent.repositories import PATIENCE, Repositories
from fairway.agent.run_context import Cancelling, Running
from fairway.agent.running import DeploymentRun, PlanRefused
from fairway.agent.stage_logs import end_log
from fairway.agent.unready import await_plugins, or_said_why
from fairway.agent.workspace import Source, Wanted, Workspace
from fairway.clock import Clock
from fairway.config.application import ApplicationConfig
from fairway.config.built_in import ALWAYS
from fairway.config.problems import ConfigError
from fairway.config.read import read_application
from fairway.config.terms import ACCEPTED, Terms
from fairway.delivery.owner import used_plugins
from fairway.errors import FairwayError, UserError
from fairway.git.errors import GitNotFound
from fairway.git.mirror import Mirror
from fairway.git.retry import Retry
from fairway.model.application import GitPath
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.stage import StageStatus

_log = structlog.get_logger()


class DeployingDesk(msgspec.Struct, frozen=True, kw_only=True):
    """What a deployment is brought to its end with."""

    registered: Registered
    outbox: Outbox
    repositories: Repositories
    workspace: Workspace
    plugins: Plugins
    clock: Clock
    #: Whether a deployment of a chain may be planned, as the server has it.
    chain_turn: AskTurn
    #: Told when a stage has ended: deployment, stage.
    stage_ended: Callable[[str, str], Coroutine[Any, Any, None]]
    #: A deployment as the server has it.
    find: Find
    #: Returns when that moment has come.
    sleep_until: Callable[[datetime], Coroutine[Any, Any, None]]
    #: How application files are read.
    terms: Terms
    #: How patiently what is away is asked again.
    patience: Retry = PATIENCE


class RepositoryMissing(UserError):
    """A deployment of a repository that this agent does not have."""


async def deploy(desk: DeployingDesk, underway: Underway) -> None:
    """Bring one deployment to its end."""
    deployment = underway.deployment
    # Told while it is prepared; it stands before all else that there is to tell.
    telling = asyncio.ensure_future(_tell_deploying(desk, underway))
    try:
        ended = await _to_the_end(desk, underway)
        await telling
    finally:
        telling.cancel()
        await asyncio.gather(telling, return_exceptions=True)
    if ended.status is DeploymentStatus.SUCCEEDED:
        desk.registered.note_succeeded(ended)
    await desk.workspace.remove(deployment.id)


async def _tell_deploying(desk: DeployingDesk, underway: Underway) -> None:
    await underway.known()
    deployment = underway.deployment
    if not underway.began_with_its_telling:
        await desk.outbox.deliver(deployment.id, reports.deploying(deployment.application_id, True))


async def give_up(desk: DeployingDesk, underway: Underway, giving_up: GivingUp) -> None:
    """End a deployment as it is."""
    if giving_up.had_its_turn:
        ended = await _ended(desk, underway.current, giving_up.status, giving_up.reason)
    else:
        ended = underway.current.complete(giving_up.status, giving_up.reason, desk.clock.now(), {})
        await desk.outbox.deliver(ended.id, reports.completed(ended))
    await desk.workspace.remove(ended.id)


async def _to_the_end(desk: DeployingDesk, underway: Underway) -> Deployment:
    try:
        prepared = await _prepared_or_cancelled(desk, underway)
    except FairwayError as error:
        await underway.known()
        reason = _in_a_line(error) if _is_new(underway) else f"{_in_a_line(error)}; it was not rolled back"
        return await _ended(desk, underway.deployment, DeploymentStatus.FAILED, reason)
    await _known_or_removed(desk, underway)
    if isinstance(prepared, _GivenUp):
        return await _ended(desk, underway.deployment, DeploymentStatus.CANCELLED, prepared.reason)
    run = DeploymentRun(prepared.deployment, prepared.running, prepared.planned)
    underway.opened = prepared.running.opened
    underway.run = run
    underway.on_cancel(run.cancel)
    try:
        return await run.run()
    except PlanRefused as error:
        underway.run = None
        return await _ended(desk, underway.deployment, DeploymentStatus.FAILED, str(error))


def _in_a_line(error: FairwayError) -> str:
    """Why a deployment has ended; files that are wrong in several places have a line for each."""
    return "; ".join(map(str, error.problems)) if isinstance(error, ConfigError) else str(error)


async def _known_or_removed(desk: DeployingDesk, underway: Underway) -> None:
    """Wait until the server knows of a deployment; of one that it refuses nothing is left."""
    try:
        await underway.known()
    except ServerRefused:
        await desk.workspace.remove(underway.deployment.id)
        raise


async def _prepared_or_cancelled(desk: DeployingDesk, underway: Underway) -> "_Prepared | _GivenUp":
    """The deployment with its files and its plan; or why it is given up, if that came first."""
    wishes = Wishes()
    underway.on_cancel(wishes.hear)
    preparing = asyncio.create_task(_prepared_in_its_turn(desk, underway))
    try:
        await _first_of(preparing, wishes.first)
        if not preparing.done() and not _is_new(underway):
            # What has begun may have to be undone, and for that its files are needed; but not for ever.
            await _first_of(preparing, wishes.to_leave_it, seconds=desk.patience.seconds)
        return preparing.result() if preparing.done() else _cancelled(underway, wishes.first.result())
    finally:
        preparing.cancel()
        await asyncio.wait({preparing})


async def _first_of(*either: asyncio.Future[Any], seconds: float | None = None) -> None:
    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED, timeout=seconds)


def _is_new(underway: Underway) -> bool:
    """Whether nothing was done for a deployment yet."""
    return underway.deployment.status in {DeploymentStatus.PENDING, DeploymentStatus.PLANNED}


async def _prepared_in_its_turn(desk: DeployingDesk, underway: Underway) -> "_Prepared | _GivenUp":
    """The same, when the block before its own has succeeded, if it is of a chain."""
    prepare = partial(or_said_why, desk.outbox, underway, partial(_prepare, desk))
    if not _is_new(underway):
        without_end = replace(desk.patience, attempts=10**9, seconds=math.inf)
        return await without_end.run(prepare)
    if underway.deployment.chain_block_index and underway.deployment.status is DeploymentStatus.PENDING:
        await underway.known()
        if fallen := await given_up_by_its_chain(desk.chain_turn, underway):
            return _GivenUp(fallen)
    return await desk.patience.run(prepare)


def _cancelled(underway: Underway, wish: Cancelling) -> "_GivenUp":
    if underway.deployment.status is DeploymentStatus.PENDING:
        return _GivenUp(f"Cancelled by {wish.commander} before it was planned")
    if _is_new(underway):
        return _GivenUp(f"Cancelled by {wish.commander} before any stage had started")
    why = underway.trouble or "its files are not there yet"
    return _GivenUp(f"Cancelled by {wish.commander}; it was not rolled back: {why}")


class _GivenUp(msgspec.Struct, frozen=True):
    """A deployment that is not to be planned, or gone on with."""

    reason: str


class _Prepared(msgspec.Struct, frozen=True):
    deployment: Deployment
    running: Running
    #: Its plan, if the server does not know it yet.
    planned: reports.Report | None


@asynccontextmanager
async def gathered(desk: DeployingDesk, deployment: Deployment) -> AsyncIterator[Planning]:
    """What a deployment is planned from: its files, and those of what runs, which are written while it is planned. Its
    trees are to be removed at its end."""
    mirror = await _mirror(desk, deployment)
    commit = deployment.trigger.commit.hash
    await mirror.fetch_commit(commit)
    before = _running_place(desk, deployment)
    if before is not None:
        await mirror.fetch_commit(before.commit)
    # What was planned is not judged again: it may have to be undone.
    terms = desk.terms if deployment.status is DeploymentStatus.PENDING else ACCEPTED
    wanted = await _wanted(deployment, mirror, _Place(commit, deployment.git_path), terms)
    runs = None if before is None else await _wanted(deployment, mirror, before, ACCEPTED)
    writing = asyncio.ensure_future(
        _sources(
            desk.workspace.source(deployment.id, "target", mirror, wanted),
            None if runs is None else _running_source(desk, deployment, mirror, runs, wanted.config),
        )
    )
    try:
        yield Planning(
            deployment=deployment,
            config=wanted.config,
            sources=writing,
            plugins=desk.plugins,
            running_config=runs.config if runs else None,
            running_commit=before.commit if before else "",
            running_config_filename=before.git_path.config_filename if before else "",
        )
    except asyncio.CancelledError:
        writing.cancel()
        raise
    finally:
        # Whoever removes the trees must find them whole.
        await asyncio.gather(writing, return_exceptions=True)


async def _prepare(desk: DeployingDesk, deployment: Deployment) -> _Prepared:
    planned = None
    if deployment.status is not DeploymentStatus.PENDING:
        await_plugins(deployment, desk.plugins)
    async with gathered(desk, deployment) as planning:
        if deployment.status is DeploymentStatus.PENDING:
            deployment, planned = await _planned(desk, planning)
        return _Prepared(
            deployment,
            Running(
                config=planning.config,
                sources=(sources := await planning.sources),
                opened=opened_in(sources.target, sources.running),
                plugins=desk.plugins,
                outbox=desk.outbox,
                clock=desk.clock,
                changed_files=await _changed_files(desk, planning),
                stage_ended=desk.stage_ended,
                told_with_end=partial(_told_with_end, desk.registered),
                find=desk.find,
                sleep_until=desk.sleep_until,
            ),
            planned,
        )


async def _changed_files(desk: DeployingDesk, planning: Planning) -> tuple[str, ...] | None:
    """The files that differ from what runs; None where nothing does."""
    if not planning.running_commit:
        return None
    mirror = await _mirror(desk, planning.deployment)
    changes = await mirror.changes(planning.running_commit, planning.deployment.trigger.commit.hash)
    return tuple(change.path for change in changes)


async def _sources(target: Coroutine[Any, Any, Source], running: Coroutine[Any, Any, Source] | None) -> Sources:
    """Both at the same time; what is wrong with the first is told first."""
    if running is None:
        return Sources(await target, None)
    other = asyncio.ensure_future(running)
    try:
        return Sources(await target, await other)
    finally:
        other.cancel()
        await asyncio.gather(other, return_exceptions=True)


class PlanningFailed(UserError):
    """A deployment for which there is no plan; the message says why."""


async def _planned(desk: DeployingDesk, planning: Planning) -> tuple[Deployment, reports.Report]:
    """The deployment with its plan, and the plan for the server, which is told of it when the deployment begins."""
    now = desk.clock.now()
    decision = await plan_deployment(planning, now)
    if decision.plan is None:
        raise PlanningFailed(decision.reason)
    return planning.deployment.accept(decision.plan, now), reports.planned(planning.deployment, decision.plan)


async def _ended(desk: DeployingDesk, deployment: Deployment, status: DeploymentStatus, reason: str) -> Deployment:
    """A deployment that is not brought to its own end; what runs of it is ended before."""
    ends_as = StageStatus.CANCELLED if status is DeploymentStatus.CANCELLED else StageStatus.FAILED
    told = []
    for number, stage in enumerate(deployment.stages):
        if stage.status is StageStatus.RUNNING:
            await end_stage(desk.plugins, GivenUp(deployment.id, stage, reason, with_log=False))
            place = reports.LogPlace(deployment.id, stage.id, stage.retried_count)
            await end_log(desk.outbox, place, reason, desk.clock.now())
            await desk.stage_ended(deployment.id, stage.id)
            deployment = deployment.advance_stage(stage.id, ends_as, reason, desk.clock.now())
            told.append(reports.stage_changed(deployment.id, deployment.stages[number]))
    ended = deployment.complete(status, reason, desk.clock.now(), {})
    await desk.outbox.deliver(deployment.id, *told, reports.completed(ended), *_told_with_end(desk.registered, ended))
    return ended


def _told_with_end(registered: Registered, ended: Deployment) -> tuple[reports.Report, ...]:
    """What the end of a deployment means to its application."""
    over = reports.deploying(ended.application_id, False)
    if ended.status is not DeploymentStatus.SUCCEEDED:
        return (over,)
    newest = registered.reference_to_succeeded(ended)
    return (reports.newest_deployment(ended.application_id, ended.status, newest), over)


#: A file is read for its own deployment and, as what runs, for the next one.
_read_application = lru_cache(maxsize=64)(read_application)


class _Place(msgspec.Struct, frozen=True):
    """Where an application's files are: at which commit, and where there."""

    commit: str
    git_path: GitPath


def _running_place(desk: DeployingDesk, deployment: Deployment) -> _Place | None:
    """What runs until this deployment changes it; what was planned stays, whatever else has been deployed since."""
    if deployment.status is not DeploymentStatus.PENDING:
        commit, filename = deployment.running_commit_hash, deployment.running_config_filename
    else:
        application = desk.registered.get(deployment.application_id)
        last = application.last_succeeded if application else None
        commit, filename = (last.trigger.commit.hash, last.config_filename) if last else ("", "")
    if not commit:
        return None
    # A file that was renamed since is looked for under the name it had.
    return _Place(commit, msgspec.structs.replace(deployment.git_path, config_filename=filename))


async def _mirror(desk: DeployingDesk, deployment: Deployment) -> Mirror:
    repository_id = deployment.git_path.repository.id
    repository = desk.repositories.by_id.get(repository_id)
    if repository is None:
        known = ", ".join(desk.repositories.by_id) or "none"
        raise RepositoryMissing(f"this agent has no repository {repository_id!r}; its file lists {known}")
    return await repository.mirror()


async def _wanted(deployment: Deployment, mirror: Mirror, place: _Place, terms: Terms) -> Wanted:
    file, text = await _file_at(mirror, place)
    return Wanted(
        repository_id=deployment.git_path.repository.id,
        commit=place.commit,
        directory=place.git_path.path,
        file=file,
        config=_read_application(text, file, terms),
    )


async def _running_source(
    desk: DeployingDesk, deployment: Deployment, mirror: Mirror, runs: Wanted, config: ApplicationConfig
) -> Source:
    """The files of what runs; a tree of its own where a plugin may work in it to bring that back."""
    # Plugins that fit into every application work with what is to be alone, and look at nothing of it.
    if set(used_plugins(config, serving_for(deployment, desk.plugins))) <= set(ALWAYS):
        async with desk.workspace.shared(mirror, runs) as shared:
            if shared is not None:
                return shared
    return await desk.workspace.source(deployment.id, "running", mirror, runs)


async def _file_at(mirror: Mirror, place: _Place) -> tuple[str, bytes]:
    candidates = files_of(place.git_path)
    for file in candidates:
        with contextlib.suppress(GitNotFound):
            return file, await mirror.read_file(place.commit, file)
    raise GitNotFound(f"commit {place.commit[:7]} has no file {' or '.join(candidates)}")
