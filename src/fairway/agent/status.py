"""How an agent stands, in a file beside its data: for `fairway agent status`, which also works when the server is away.

The file is written when something has changed. What changes all the time, such as memory, is looked up by whoever
reads; the file names the processes.
"""

import asyncio
import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import msgspec
import structlog

from fairway import __version__
from fairway.agent.deployments import Deployments, Underway
from fairway.agent.launcher.upgrading import Upgrader
from fairway.agent.lease import LeaseState
from fairway.agent.outbox import Outbox
from fairway.agent.plugins.identity import Identity, identity_of, write_file
from fairway.agent.plugins.supervisor import Supervisor
from fairway.agent.repositories import Repositories
from fairway.config.agent import AgentConfig
from fairway.errors import UserError
from fairway.model.application import UnusableFile
from fairway.model.stage import StageStatus

_log = structlog.get_logger()

#: How often the agent looks at itself.
_LOOK_SECONDS = 1.0


class NoStatus(UserError):
    """A directory in which no agent has told how it stands."""


class PluginState(msgspec.Struct, frozen=True, kw_only=True):
    """One process of plugins."""

    name: str
    plugins: tuple[str, ...]
    version: str
    process: Identity | None
    restarts: int
    #: Why it does not answer; empty while it does.
    trouble: str
    #: The last line that it wrote before its last end.
    last_words: str = ""


class UnderwayState(msgspec.Struct, frozen=True, kw_only=True):
    """One deployment that has not ended."""

    id: str
    application: str
    status: str
    #: The stage that runs; empty between stages.
    stage: str
    #: What it waits for before it can be planned; empty when for nothing.
    trouble: str = ""


class RepositoryState(msgspec.Struct, frozen=True, kw_only=True):
    """One watched repository."""

    id: str
    #: What its branch points to; empty before the first look.
    head: str
    trouble: str
    #: The commit of which all deployments that it asks for have been begun.
    looked_at: str = ""


class AgentState(msgspec.Struct, frozen=True, kw_only=True):
    """How an agent stands."""

    id: str
    version: str
    server: str
    started_at: datetime
    process: Identity | None
    plugins: tuple[PluginState, ...]
    deployments: tuple[UnderwayState, ...]
    repositories: tuple[RepositoryState, ...]
    #: Streams of reports that the server does not know yet.
    unsent: int
    #: Reports that were lost with a damaged outbox; empty when none were.
    lost: str = ""
    #: Which version the server wants, and why another one runs; empty when nothing is to be said.
    wanted: str = ""
    upgrade_trouble: str = ""
    #: Whether it is at work, or another one with its id.
    lease: LeaseState = LeaseState()
    #: Application files that cannot be deployed.
    unusable: tuple[UnusableFile, ...] = ()


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What there is to say of every agent, at work or not."""

    started_at: datetime
    lease: LeaseState


class StatusDesk(msgspec.Struct, frozen=True, kw_only=True):
    """What the status of an agent at work is taken from."""

    config: AgentConfig
    told: Told
    plugins: Supervisor
    deployments: Deployments
    repositories: Repositories
    outbox: Outbox
    upgrader: Upgrader
    unusable: tuple[UnusableFile, ...]


def status_path(data: Path) -> Path:
    """Where an agent with this data tells how it stands."""
    return data / "status.json"


def read_state(data: Path) -> AgentState:
    """How the agent with this data stands, or stood when it ended; NoStatus when there was none."""
    try:
        return msgspec.json.decode(status_path(data).read_bytes(), type=AgentState)
    except FileNotFoundError as error:
        raise NoStatus(f"no agent has run with the data in {data}; give the --data of the agent you mean") from error
    except (OSError, msgspec.DecodeError) as error:
        raise NoStatus(f"{status_path(data)} cannot be read ({error})") from error


async def keep_state(data: Path, look: Callable[[], AgentState]) -> None:
    """Tell how the agent stands, until cancelled."""
    told = None
    while True:
        state = look()
        if state != told:
            try:
                await asyncio.to_thread(write_file, status_path(data), msgspec.json.encode(state))
                told = state
            except OSError as error:
                # Of a full disk the reports speak; nothing depends on this file.
                _log.warning("the agent's status cannot be written", reason=str(error))
        await asyncio.sleep(_LOOK_SECONDS)


def agent_state(desk: StatusDesk) -> AgentState:
    """How the agent stands now."""
    return AgentState(
        id=desk.config.agent_id,
        version=__version__,
        server=desk.config.api_address,
        started_at=desk.told.started_at,
        process=identity_of(os.getpid()),
        plugins=_plugins(desk.plugins),
        deployments=_underway(desk.deployments),
        repositories=tuple(
            RepositoryState(id=each.id, head=each.head or "", trouble=each.trouble, looked_at=each.looked_at)
            for each in desk.repositories.by_id.values()
        ),
        unsent=desk.outbox.kept_streams,
        lost=desk.outbox.damage,
        wanted=desk.upgrader.wanted,
        upgrade_trouble=desk.upgrader.trouble,
        lease=desk.told.lease,
        unusable=desk.unusable,
    )


def idle_state(config: AgentConfig, told: Told) -> AgentState:
    """How an agent stands that does nothing but wait for its turn."""
    return AgentState(
        id=config.agent_id,
        version=__version__,
        server=config.api_address,
        started_at=told.started_at,
        process=identity_of(os.getpid()),
        plugins=(),
        deployments=(),
        repositories=(),
        unsent=0,
        lease=told.lease,
    )


def _plugins(plugins: Supervisor) -> tuple[PluginState, ...]:
    """The processes, and the plugins that have none because they cannot be started."""
    processes = (
        PluginState(
            name=each.program.name,
            plugins=each.program.plugins,
            version=each.program.version,
            process=each.identity,
            restarts=each.restarts,
            trouble=each.trouble,
            last_words=each.last_words,
        )
        for each in plugins.keepers
    )
    unusable = (
        PluginState(name=name, plugins=(name,), version="", process=None, restarts=0, trouble=reason)
        for name, reason in plugins.unusable.items()
    )
    return (*processes, *unusable)


def _underway(deployments: Deployments) -> tuple[UnderwayState, ...]:
    found = [deployments.find(id) for id in sorted(deployments.open_ids)]
    return tuple(_state_of(each) for each in found if each is not None)


def _state_of(underway: Underway) -> UnderwayState:
    now = underway.current
    return UnderwayState(
        id=now.id,
        application=now.application_name,
        status=now.status.value,
        stage=next((stage.name for stage in now.stages if stage.status is StageStatus.RUNNING), ""),
        trouble=underway.trouble,
    )
