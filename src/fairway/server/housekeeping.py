"""What the server does by itself as things grow old: unanswered commands end, and what nobody needs is forgotten.

Every round looks at what is there and not at what happened before, in small batches, each a transaction of its own.
A batch done twice changes nothing the second time, so a killed round leaves nothing that the next one does not find,
and two replicas that both believe it to be their turn do no harm. Logs go before the deployment that names them, for
the same reason. What is in the way of a round (a busy database, a bucket out of reach) costs its step only.
"""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

import msgspec
import structlog
from sqlalchemy import Connection

from fairway.clock import Clock
from fairway.errors import FairwayError
from fairway.model.application import Application
from fairway.model.chain import ChainStatus, DeploymentChain
from fairway.model.command import ChainSyncApplication, Command
from fairway.model.deployment import Deployment
from fairway.server.commands import LIFETIME, expire
from fairway.server.logs import LogStore
from fairway.server.store import applications, chains, commands, deployments, events, projects
from fairway.server.store.changes import forget_old_changes
from fairway.server.store.errors import NotFound
from fairway.server.store.page import PageRequest
from fairway.server.store.sessions import delete_expired_sessions
from fairway.server.store.sign_in_links import delete_expired_links
from fairway.server.store.store import Store
from fairway.server.turn import Turn

_log = structlog.get_logger()


class HousekeepingSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How long what has ended is kept, and how it is gone through."""

    #: What agents sent with their answers, such as plan previews.
    outputs_kept_for: timedelta = timedelta(hours=48)
    commands_kept_for: timedelta = timedelta(days=30)
    #: The newest event of a key is kept for ever.
    events_kept_for: timedelta = timedelta(days=30)
    #: With their logs; `None`: for ever.
    deployments_kept_for: timedelta | None = None
    #: From the end of a round to the next one.
    pause: timedelta = timedelta(minutes=10)
    #: How many rows one transaction takes, so that no report waits long behind it.
    batch: int = 50


class _Round(msgspec.Struct, frozen=True, kw_only=True):
    """What every step of a round works with."""

    store: Store
    logs: LogStore
    settings: HousekeepingSettings
    now: datetime


def with_unanswered_block(chain: DeploymentChain, asked: ChainSyncApplication, at: datetime) -> DeploymentChain:
    """The chain once an agent has left a request of it unanswered, or said no: that block has failed, and so has it.

    Itself when the agent made the deployment without answering, or when the block has ended already.
    """
    if asked.block_index >= len(chain.blocks):
        return chain
    block = chain.blocks[asked.block_index]
    missing = any(node.application_id == asked.application_id and node.deployment is None for node in block.nodes)
    if not missing or block.status.is_terminal:
        return chain
    failed = msgspec.structs.replace(
        block, status=ChainStatus.FAILED, started_at=block.started_at or at, completed_at=at
    )
    blocks = (*chain.blocks[: asked.block_index], failed, *chain.blocks[asked.block_index + 1 :])
    status = chain.status if chain.status.is_terminal else ChainStatus.FAILED
    return msgspec.structs.replace(
        chain, blocks=blocks, status=status, completed_at=chain.completed_at or at, updated_at=at
    )


def is_needed(deployment: Deployment, application: Application | None, chain: DeploymentChain | None) -> bool:
    """Whether something else still asks for a deployment, however old it is."""
    if not deployment.status.is_terminal:
        return True
    if application is not None:
        remembered = (application.last_triggered, application.last_succeeded)
        if deployment.id in {reference.deployment_id for reference in remembered if reference is not None}:
            return True
    return chain is not None and not has_ended(chain)


def has_ended(chain: DeploymentChain) -> bool:
    """Whether nothing of a chain goes on: its blocks after a fallen one are given up one by one."""
    known = [node.deployment for block in chain.blocks for node in block.nodes if node.deployment]
    return chain.status.is_terminal and all(deployment.status.is_terminal for deployment in known)


async def run_housekeeping(
    store: Store,
    logs: LogStore,
    clock: Clock,
    settings: HousekeepingSettings,
    sleep: Callable[[float], Awaitable[None]],
) -> None:
    """Do one round after another, while it is our turn, until cancelled."""
    turn = Turn(store.shared_url)
    try:
        while True:
            if await turn.is_ours():
                await tidy(store, logs, clock.now(), settings)
            await sleep(settings.pause.total_seconds())
    finally:
        await turn.pass_on()


async def tidy(store: Store, logs: LogStore, now: datetime, settings: HousekeepingSettings) -> dict[str, int]:
    """One round; how many there were of each, without what there was none of."""
    round = _Round(store=store, logs=logs, settings=settings, now=now)
    done: dict[str, int] = {}
    for name, step in _STEPS.items():
        try:
            done[name] = await step(round)
        except FairwayError as error:
            _log.warning("a step of the housekeeping was left for the next round", step=name, error=str(error))
    found = {name: count for name, count in done.items() if count}
    if found:
        _log.info("old things were tidied up", **found)
    return found


async def _time_out_commands(round: _Round) -> int:
    def batch(connection: Connection) -> int:
        overdue = commands.list_overdue_commands(connection, round.now - LIFETIME, round.settings.batch)
        for command in overdue:
            _time_out(connection, command, round.now)
        return len(overdue)

    return await _in_batches(round, batch)


def _time_out(connection: Connection, command: Command, now: datetime) -> None:
    commands.update_command(connection, command.id, lambda waiting: expire(waiting, now))
    asked = command.payload
    if isinstance(asked, ChainSyncApplication) and _chain(connection, asked.chain_id) is not None:
        chains.update_chain(connection, asked.chain_id, lambda chain: with_unanswered_block(chain, asked, now))


async def _forget_outputs(round: _Round) -> int:
    before = round.now - round.settings.outputs_kept_for
    return await _in_batches(round, lambda c: commands.delete_command_outputs(c, before, round.settings.batch))


async def _forget_commands(round: _Round) -> int:
    before = round.now - round.settings.commands_kept_for
    return await _in_batches(round, lambda c: commands.delete_finished_commands(c, before, round.settings.batch))


async def _forget_events(round: _Round) -> int:
    before = round.now - round.settings.events_kept_for

    async def of_project(id: str) -> int:
        return await _in_batches(
            round, lambda connection: events.delete_handled_events(connection, id, before, round.settings.batch)
        )

    return sum([await of_project(project.id) for project in await round.store.read(projects.list_projects)])


async def _forget_changes(round: _Round) -> int:
    return await round.store.write(forget_old_changes) if round.store.shared_url else 0


async def _forget_sessions(round: _Round) -> int:
    return await _in_batches(round, lambda c: delete_expired_sessions(c, round.now, round.settings.batch))


async def _forget_links(round: _Round) -> int:
    return await _in_batches(round, lambda c: delete_expired_links(c, round.now, round.settings.batch))


async def _forget_deployments(round: _Round) -> int:
    if round.settings.deployments_kept_for is None:
        return 0
    before = round.now - round.settings.deployments_kept_for
    found = await round.store.read(projects.list_projects)
    return sum([await _forget_deployments_of(round, project.id, before) for project in found])


async def _forget_deployments_of(round: _Round, project_id: str, before: datetime) -> int:
    """Page by page, because what is needed stays where it is and must not be met again and again."""

    def page_of(cursor: str) -> Callable[[Connection], tuple[tuple[str, ...], str]]:
        def look(connection: Connection) -> tuple[tuple[str, ...], str]:
            request = PageRequest(cursor, round.settings.batch)
            page = deployments.list_finished_deployments(connection, project_id, before, request)
            return tuple(each.id for each in page.items if not _is_needed(connection, each)), page.cursor

        return look

    forgotten, cursor, more = 0, "", True
    while more:
        old, cursor = await round.store.read(page_of(cursor))
        for id in old:
            await round.logs.delete_deployment(id)
        if old:
            await round.store.write(_forgetting(old))
        forgotten += len(old)
        more = bool(cursor)
    return forgotten


def _forgetting(old: tuple[str, ...]) -> Callable[[Connection], None]:
    def forget(connection: Connection) -> None:
        # In one order, so that replicas which forget the same ones wait for each other and not in a circle.
        for id in sorted(old):
            try:
                deployment = deployments.load_deployment(connection, id)
            except NotFound:
                continue
            if _is_needed(connection, deployment):
                continue
            deployments.delete_deployment(connection, id)
            _forget_empty_chain(connection, deployment.chain_id)

    return forget


def _forget_empty_chain(connection: Connection, id: str) -> None:
    """A chain goes with the last of its deployments."""
    chain = _chain(connection, id)
    if chain is None:
        return
    known = [node.deployment.deployment_id for block in chain.blocks for node in block.nodes if node.deployment]
    if not deployments.any_deployment(connection, known):
        chains.delete_chain(connection, id)


def _is_needed(connection: Connection, deployment: Deployment) -> bool:
    try:
        application = applications.load_application(connection, deployment.application_id)
    except NotFound:
        application = None
    return is_needed(deployment, application, _chain(connection, deployment.chain_id))


def _chain(connection: Connection, id: str) -> DeploymentChain | None:
    """The chain; `None` where there is none, or none any more."""
    try:
        return chains.load_chain(connection, id) if id else None
    except NotFound:
        return None


async def _in_batches(round: _Round, batch: Callable[[Connection], int]) -> int:
    """Write batch after batch until one is not full; how many rows there were."""
    total = 0
    while count := await round.store.write(batch):
        total += count
        if count < round.settings.batch:
            break
    return total


#: A round, in its order. Commands end before old ones are looked for.
_STEPS: dict[str, Callable[[_Round], Awaitable[int]]] = {
    "commands_timed_out": _time_out_commands,
    "outputs": _forget_outputs,
    "commands": _forget_commands,
    "events": _forget_events,
    "deployments": _forget_deployments,
    "changes": _forget_changes,
    "sessions": _forget_sessions,
    "sign_in_links": _forget_links,
}
