"""The Git repositories of an agent: one mirror each, and the newest commit of each branch as soon as there is one.

A push is noticed in one of three ways: the server hints at it, the refs of a repository on this machine change (the
kernel tells, and somebody looks now and then), or the remote is asked every few seconds, which costs one small request.
A repository that cannot be reached keeps its last commit and is asked again; the others go on.
"""

import asyncio
import base64
import contextlib
import os
import re
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Self
from urllib.parse import unquote, urlsplit

import structlog

from fairway.agent.file_watch import FileWatch
from fairway.config.agent import AgentConfig
from fairway.config.agent_file import AgentSpec, GitAccess, Repository
from fairway.errors import FairwayError
from fairway.git.credentials import Credentials, HostKeys, SshKey
from fairway.git.errors import GitNotFound
from fairway.git.mirror import Mirror, MirrorOptions
from fairway.git.names import checked_branch
from fairway.git.remote import Login
from fairway.git.retry import Retry
from fairway.home import from_home

_log = structlog.get_logger()

#: How often a remote is asked that tells nothing by itself; how often the refs of a local one are looked at, where the
#: kernel tells of changes and where it does not.
ASK_SECONDS = 15.0
#: The same for an agent that only stands by.
WARM_SECONDS = 60.0
TOLD_SECONDS, UNTOLD_SECONDS = 1.0, 0.1
#: How patiently whoever needs a remote that is away asks again.
PATIENCE = Retry(attempts=25, first_delay=0.5, longest_delay=30.0, seconds=600.0)
_HASH = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\n")


class WatchedRepository:
    """One repository. It is cloned on the first look, so that an agent starts whether its remote is there or not."""

    def __init__(self, settings: Repository, directory: Path, options: MirrorOptions) -> None:
        self.id = settings.repo_id
        self.remote = settings.remote
        self.branch = checked_branch(settings.branch)
        self._directory = directory
        self._options = options
        self._mirror: Mirror | None = None
        self._opening = asyncio.Lock()
        self.refs = _refs(settings.remote, self.branch)
        #: Where the branch was when it was last there; None before.
        self.head: str | None = None
        #: Of which of them all that it asks for has been begun; empty before the first look.
        self.looked_at = ""
        #: Which of them whoever watches was told of last; others may find a new one first.
        self.told: str | None = None
        #: Why it could not be looked at the last time; empty when it could.
        self.trouble = ""
        #: Somebody says that there was a push.
        self._nudged = False
        self._woken = asyncio.Event()
        self._told = FileWatch(self._woken.set)
        if self.refs:
            self._told.open()
        #: How the refs were when they were last read.
        self._seen = _stamp(())

    async def mirror(self) -> Mirror:
        """The mirror, cloned if there is none yet."""
        async with self._opening:
            if self._mirror is None:
                self._mirror = await Mirror.open(self._directory, self.remote, self._options)
            return self._mirror

    async def close(self) -> None:
        """Stop what watches, reads and fetches."""
        self._told.close()
        if self._mirror is not None:
            await self._mirror.close()

    def nudge(self) -> None:
        """Look again soon: somebody says that there was a push."""
        self._nudged = True
        self._woken.set()

    async def refresh(self) -> bool:
        """Bring the mirror up to date if the branch has moved; whether it has. GitNotFound where there is none."""
        self._seen, nudged, self._nudged = _stamp(self.refs), self._nudged, False
        mirror = await self.mirror()
        # Whoever was told of a push need not ask whether there was one.
        if not nudged:
            newest = _loose(self.refs) or await mirror.remote_head(self.branch)
            if newest is None:
                raise self._no_branch()
            if newest == self.head:
                return False
        if nudged or newest != await mirror.head(self.branch):
            await mirror.fetch()
        # The branch may have moved on between the two questions; what was fetched is what can be read.
        found = await mirror.head(self.branch)
        if found is None:
            raise self._no_branch()
        moved = found != self.head
        self.head = found
        if moved:
            self._woken.set()
        return moved

    def _no_branch(self) -> GitNotFound:
        return GitNotFound(
            f"repository {self.id} has no branch {self.branch!r}; push it, or name another in the agent's file"
        )

    async def next_look(self, seconds: float) -> None:
        """Wait for a reason to look again, at most this long."""
        step = seconds
        if self.refs:
            # A look at a local repository costs three system calls.
            is_told = self._told.follow({ref.parent for ref in self.refs})
            step = min(seconds, TOLD_SECONDS if is_told else UNTOLD_SECONDS)
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while not self._has_news() and (left := until - loop.time()) > 0:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(step, left)):
                    await self._woken.wait()
            self._woken.clear()

    def _has_news(self) -> bool:
        return self._nudged or self.head != self.told or _stamp(self.refs) != self._seen


#: What is done about a repository whose branch has moved.
Moved = Callable[[WatchedRepository], Coroutine[Any, Any, None]]


class Repositories:
    """All repositories of one agent."""

    def __init__(self, watched: Iterable[WatchedRepository], ask_seconds: float = ASK_SECONDS) -> None:
        self.by_id = {repository.id: repository for repository in watched}
        self.ask_seconds = ask_seconds

    @classmethod
    @asynccontextmanager
    async def open(cls, directory: Path, config: AgentConfig) -> AsyncIterator[Self]:
        """The repositories of an agent's file, mirrored below the directory."""
        credentials = _credentials(config.git, directory / ".known_hosts")
        watched = [
            WatchedRepository(
                repository,
                directory / repository.repo_id,
                # The same after a crash: what a killed agent leaves of secrets, the next one writes over and removes.
                MirrorOptions(credentials, private_directory=directory / f"{repository.repo_id}.private"),
            )
            for repository in config.repositories
        ]
        try:
            yield cls(watched, decide_ask_seconds(config.sync_interval))
        finally:
            for repository in watched:
                await repository.close()

    async def watch(self, moved: Moved, ask_seconds: float = 0.0) -> None:
        """Notice pushes until cancelled; `moved` is told of each. A remote is not asked more often than that."""
        seconds = max(ask_seconds, self.ask_seconds)
        async with asyncio.TaskGroup() as group:
            for repository in self.by_id.values():
                group.create_task(_watch(repository, moved, seconds), name=f"watch {repository.id}")

    def nudge(self) -> None:
        """Look at every repository again soon."""
        for repository in self.by_id.values():
            repository.nudge()


def decide_ask_seconds(interval: timedelta) -> float:
    """How often a remote is asked, by the agent's `syncInterval`: the minute that PipeCD means where nothing is written
    is more than we need."""
    return ASK_SECONDS if interval == AgentSpec().sync_interval else interval.total_seconds()


async def _watch(repository: WatchedRepository, moved: Moved, ask_seconds: float) -> None:
    while True:
        try:
            await repository.refresh()
            repository.trouble = ""
        except FairwayError as error:
            if not repository.trouble:
                _log.warning("a repository cannot be read", repository=repository.id, reason=str(error))
            repository.trouble = str(error)
        if repository.head != repository.told:
            repository.told = repository.head
            await moved(repository)
        await repository.next_look(ask_seconds)


def _credentials(git: GitAccess, known_hosts: Path) -> Credentials:
    key_data = base64.b64decode(git.ssh_key_data).decode() if git.ssh_key_data else None
    key_file = from_home(git.ssh_key_file) if git.ssh_key_file else None
    config_file = from_home(git.ssh_config_file_path)
    password = base64.b64decode(git.password).decode() if git.password else ""
    return Credentials(
        login=Login(git.username, password) if password else None,
        ssh=SshKey(
            key_file=key_file,
            key_data=key_data,
            known_hosts_file=known_hosts.absolute(),
            host_keys=HostKeys.ACCEPT_NEW,
            # PipeCD's agent makes one where there is none.
            config_file=config_file.absolute() if config_file.is_file() else None,
            host_names={git.host: git.host_name} if git.host_name != git.host else {},
        ),
    )


def _refs(remote: str, branch: str) -> tuple[Path, ...]:
    """The files that change when somebody pushes to a repository on this machine; none for any other."""
    path = Path(unquote(urlsplit(remote).path)) if remote.startswith("file://") else Path(remote)
    if not path.is_absolute() or not path.is_dir():
        return ()
    git_dir = path / ".git" if (path / ".git").is_dir() else path
    return (git_dir / "refs" / "heads" / branch, git_dir / "packed-refs", git_dir / "reftable")


def _loose(refs: tuple[Path, ...]) -> str | None:
    """Where the branch of a local repository is, if a file of its own says so."""
    with contextlib.suppress(OSError):
        text = refs[0].read_text() if refs else ""
        return text.strip() if _HASH.fullmatch(text) else None
    return None


def _stamp(files: tuple[Path, ...]) -> tuple[tuple[int, int] | None, ...]:
    return tuple(map(_changed_at, files))


def _changed_at(file: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino
