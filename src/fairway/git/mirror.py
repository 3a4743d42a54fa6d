"""A bare copy of one remote repository on disk, from which everything is read without a checkout.

The mirror holds the remote's branches and nothing else. It is made in a side directory and renamed, so it is there
whole or not at all; a mirror that turns out to be damaged is cloned again by the call that noticed. Commits are named
by whole hashes only. What callers do with files and changes is theirs; commits are made and pushed in `push.py`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from fairway.git.changes import Change, all_added
from fairway.git.credentials import Access, Credentials
from fairway.git.errors import GitInputError, GitLocalError, GitNotFound, MirrorCorrupt
from fairway.git.history import LOG_FORMAT, Commit, parse_log, parse_stored
from fairway.git.mirror_store import MirrorStore
from fairway.git.names import checked_branch, checked_hash, checked_hashes, checked_path, to_bytes
from fairway.git.object_reader import LARGEST_OBJECT, Absent, Found, ObjectReader, Reply
from fairway.git.process import Git
from fairway.git.remote import Remote, parse_remote
from fairway.git.retry import Retry
from fairway.git.single_flight import SingleFlight
from fairway.git.tree import Kind, Tree, parse_tree
from fairway.git.tree_walk import differences, tree_of
from fairway.in_thread import in_thread

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")
_BRANCHES = "+refs/heads/*:refs/heads/*"
#: Every so many fetches git looks whether the mirror wants tidying; the look costs as much as half a fetch.
_TIDY_EVERY = 50
#: How many commits are remembered: a commit is asked for once by each application that it touches.
_REMEMBERED_COMMITS = 64
#: How many comparisons are remembered, for the same reason.
_REMEMBERED_CHANGES = 4
#: How many files are remembered, and up to which size: a deployment asks for the file of its application several times.
_REMEMBERED_FILES, _REMEMBERED_BYTES = 16, 32 * 1024


@dataclass(frozen=True)
class MirrorOptions:
    """How a mirror logs in and how patient it is."""

    credentials: Credentials = field(default_factory=Credentials)
    #: Where secrets are kept in private files while the mirror is open; a temporary directory if not given.
    private_directory: Path | None = None
    retry: Retry = field(default_factory=Retry)
    #: How many seconds to wait for another process that still uses the directory.
    patience: float = 30.0


class Mirror:
    """One repository. Use `Mirror.open` and `close` (or `async with`)."""

    def __init__(self, store: MirrorStore, remote: Remote, git: Git, retry: Retry) -> None:
        self.remote = remote
        self.git = git
        self.git_dir = store.directory
        self.retry = retry
        #: Held by whoever writes into the mirror.
        self.writing = asyncio.Lock()
        self._store = store
        self._reader = ObjectReader(git, store.directory)
        self._fetches = SingleFlight(self._fetch)
        self._fetched = 0
        self._commits: dict[str, Commit] = {}
        self._changes: dict[tuple[str, str], list[Change]] = {}
        self._files: dict[tuple[str, str], bytes] = {}

    @classmethod
    async def open(cls, directory: Path, remote: str, options: MirrorOptions | None = None) -> "Mirror":
        """Open the mirror in `directory`, cloning the remote first if there is no usable one yet."""
        options = options or MirrorOptions()
        parsed, login = parse_remote(remote)
        credentials = options.credentials
        if login and credentials.login is None:
            credentials = Credentials(login=login, ca_file=credentials.ca_file, ssh=credentials.ssh)
        store = MirrorStore(directory)
        git = Git()
        mirror = cls(store, parsed, git, options.retry)
        try:
            git.keep_open = (await store.acquire(options.patience),)
            # Not before: whoever had the directory removes his private files when he gives it free.
            git.access = Access.grant(parsed, credentials, options.private_directory)
            await git.require_version()
            await mirror._on_disk(store.sweep)
            if not await mirror._is_usable():
                await mirror._clone()
        except OSError as error:
            await mirror.close()
            raise mirror._not_written(error) from error
        except BaseException:
            await mirror.close()
            raise
        return mirror

    async def __aenter__(self) -> "Mirror":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Stop everything, remove the secrets, give the directory free."""
        await self._fetches.close()
        await self._reader.close()
        self.git.access.close()
        self._store.release()

    async def fetch(self) -> None:
        """Bring all branches up to date; concurrent callers share a fetch that starts after they asked."""
        await self._fetches.run()

    async def fetch_commit(self, commit: str) -> None:
        """Make sure that a commit is here, even one that no branch reaches any more (if the remote still gives it)."""
        if commit in self._commits or isinstance(await self._object(checked_hash(commit)), Found):
            return

        async def ask() -> bytes:
            arguments = ("fetch", "--no-tags", "--no-write-fetch-head", "--", self.remote.url, commit)
            return await self.git.remote_output(
                f"fetch {commit} from", self.remote.url, *arguments, git_dir=self.git_dir
            )

        async with self.writing:
            await self.retry.run(ask)

    async def remote_head(self, branch: str) -> str | None:
        """Where the remote's branch is now, asked without fetching; None if it has no such branch."""
        ref = f"refs/heads/{checked_branch(branch)}"

        async def ask() -> bytes:
            url = self.remote.url
            return await self.git.remote_output("read the branches of", url, "ls-remote", "--", url, ref)

        lines = (await self.retry.run(ask)).decode("utf-8", "replace").splitlines()
        # ls-remote matches the end of a name, so a branch called "x/refs/heads/main" may be among the lines.
        return next((line.split("\t")[0] for line in lines if line.endswith(f"\t{ref}")), None)

    async def head(self, branch: str) -> str | None:
        """Where the branch was at the last fetch; None if there was no such branch."""
        name = f"refs/heads/{checked_branch(branch)}".encode()
        (reply,) = await self._reader.read([name])
        return reply.hash if isinstance(reply, Found) else None

    async def commit(self, commit: str) -> Commit:
        """Author, time, message and trailers of a commit."""
        known = self._commits.get(commit)
        if known is None:
            (stored,) = await self._stored(commit)
            known = parse_stored(commit, stored.content) or (await self.history(commit, limit=1))[0]
            _remember(self._commits, commit, known, _REMEMBERED_COMMITS)
        return known

    async def history(self, head: str, limit: int, after: str | None = None) -> list[Commit]:
        """The newest `limit` commits that `head` reaches and `after` does not, newest first."""
        await self.require_commits(head, *([after] if after else []))
        excluded = (f"^{after}",) if after else ()
        arguments = ("log", LOG_FORMAT, f"--max-count={limit:d}", head, *excluded, "--")
        return parse_log(await self.healing(lambda: self.git.output(*arguments, git_dir=self.git_dir)))

    async def is_ancestor(self, older: str, newer: str) -> bool:
        """Whether `newer` contains `older`; a commit is its own ancestor."""
        await self.require_commits(older, newer)
        done = await self.git.run("merge-base", "--is-ancestor", older, newer, git_dir=self.git_dir)
        if done.code not in (0, 1):
            raise GitLocalError(f"git merge-base failed in {self.git_dir}: {done.stderr.strip()}")
        return done.code == 0

    async def changes(self, old: str | None, new: str) -> list[Change]:
        """The files that differ between two commits; without an old one, all files of the new one."""
        if old is None:
            return all_added(await self.tree(new))
        known = self._changes.get((old, new))
        if known is None:
            before, after = map(_root, await self._stored(old, new))
            known = await self.healing(lambda: differences(self._reader, before, after))
            _remember(self._changes, (old, new), known, _REMEMBERED_CHANGES)
        return list(known)

    async def tree(self, commit: str, *paths: str) -> Tree:
        """Every file of a commit, or those at or below `paths`, with kind and blob hash."""
        checked = [checked_path(path.rstrip("/")) for path in paths]
        (stored,) = await self._stored(commit)
        if not checked and (small := await self.healing(lambda: tree_of(self._reader, _root(stored)))) is not None:
            return small
        arguments = ("ls-tree", "-r", "-z", "--full-tree", commit, "--", *checked)
        return parse_tree(await self.healing(lambda: self.git.output(*arguments, git_dir=self.git_dir)))

    async def read_blobs(self, hashes: Sequence[str]) -> dict[str, bytes]:
        """The contents of many blobs at once, by hash; cache them by hash and ask only for new ones."""
        found = await self.small_blobs(hashes)
        if large := next((blob for blob in hashes if blob not in found), None):
            raise GitInputError(
                f"the blob {large} has more than {LARGEST_OBJECT >> 20} MiB; files that large are not read"
            )
        return found

    async def small_blobs(self, hashes: Sequence[str]) -> dict[str, bytes]:
        """The same without those that are too large to be held in memory."""
        wanted = checked_hashes(hashes)
        return await self.healing(lambda: self._small_blobs(wanted))

    async def write_blob(self, blob: str, file: int) -> None:
        """Write the content of a blob to an open file, however large it is."""
        await self.git.write_output(file, "cat-file", "blob", *checked_hashes([blob]), git_dir=self.git_dir)

    async def read_file(self, commit: str, path: str) -> bytes:
        """One file of a commit; a symbolic link is followed as long as it stays inside the tree."""
        known = self._files.get((commit, path))
        if known is None:
            name = f"{checked_hash(commit)}:".encode() + to_bytes(checked_path(path))
            known = await self.healing(lambda: self._read_file(name, commit, path))
            if len(known) <= _REMEMBERED_BYTES:
                _remember(self._files, (commit, path), known, _REMEMBERED_FILES)
        return known

    async def require_commits(self, *commits: str) -> None:
        """Refuse hashes that are not commits of this mirror."""
        await self._stored(*commits)

    async def healing(self, operation: Callable[[], Awaitable[T]]) -> T:
        """Run a reading operation; if the mirror turns out to be damaged, clone it again and repeat once."""
        try:
            return await operation()
        except MirrorCorrupt:
            async with self.writing:
                await self._clone()
        return await operation()

    async def _stored(self, *commits: str) -> list[Found]:
        """Commits as git stores them; GitNotFound when one is no commit of this mirror."""
        names = [f"{checked_hash(commit)}^{{commit}}".encode() for commit in commits]
        found: list[Found] = []
        for commit, reply in zip(commits, await self._reader.read(names), strict=True):
            if not isinstance(reply, Found):
                raise GitNotFound(f"there is no commit {commit} in {self.remote}; was the branch rewritten?")
            found.append(reply)
        return found

    async def _fetch(self) -> None:
        async def ask() -> None:
            tidy = "--auto-maintenance" if self._fetched % _TIDY_EVERY == 0 else "--no-auto-maintenance"
            self._fetched += 1
            arguments = ("fetch", "--prune", "--no-tags", "--force", "--no-write-fetch-head", "--quiet", tidy)
            url = self.remote.url
            try:
                await self.git.remote_output("fetch from", url, *arguments, "--", url, _BRANCHES, git_dir=self.git_dir)
            except MirrorCorrupt:
                await self._clone()
            except GitLocalError:
                await self._on_disk(self._store.sweep)
                raise

        async with self.writing:
            await self.retry.run(ask)

    async def _clone(self) -> None:
        async def ask() -> None:
            await self._on_disk(self._store.sweep)
            url = self.remote.url
            arguments = ("clone", "--bare", "--no-tags", "--no-local", "--template=", "--quiet")
            await self.git.remote_output("clone", url, *arguments, "--", url, str(self._store.unfinished))

        await self.retry.run(ask)
        try:
            await self._on_disk(self._store.install)
        finally:
            # Also when somebody has given up meanwhile: what reads has the old one open.
            await self._reader.close()
            # What no branch reaches any more is not among what was cloned.
            self._commits.clear()

    async def _on_disk(self, work: Callable[[], None]) -> None:
        """Change files of the mirror; the change is over when this is, also when it was cancelled."""
        try:
            await in_thread(work)
        except OSError as error:
            raise self._not_written(error) from error

    def _not_written(self, error: OSError) -> GitLocalError:
        why = error.strerror or error
        return GitLocalError(
            f"the mirror {self.git_dir} cannot be written ({why}); make room, or see that it is writable"
        )

    async def _is_usable(self) -> bool:
        if not self._store.looks_whole():
            return False
        done = await self.git.run("for-each-ref", "--format=%(objecttype)", "refs/heads", git_dir=self.git_dir)
        return done.code == 0

    async def _object(self, name: str) -> Reply:
        return (await self._reader.read([name.encode()]))[0]

    async def _read_file(self, name: bytes, commit: str, path: str) -> bytes:
        (reply,) = await self._reader.read([name])
        if isinstance(reply, Found) and reply.kind == "blob":
            return reply.content
        entry = (await self.tree(commit, path)).get(path)
        if isinstance(reply, Absent) and entry and entry.kind in {Kind.FILE, Kind.EXECUTABLE}:
            raise MirrorCorrupt(f"the blob {entry.hash} is missing in {self.git_dir}")
        raise _unreadable(path, commit, reply)

    async def _small_blobs(self, hashes: list[str]) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        for blob, reply in zip(hashes, await self._reader.read([blob.encode() for blob in hashes]), strict=True):
            if isinstance(reply, Found):
                found[blob] = reply.content
            elif isinstance(reply, Absent):
                # Hashes come from this mirror's own trees, so an absent one means damage; a clone brings it back.
                raise MirrorCorrupt(f"the blob {blob} is missing in {self.git_dir}")
        return found


def _remember(known: dict[K, V], key: K, value: V, most: int) -> None:
    """Keep a value, and forget the oldest."""
    while len(known) >= most:
        del known[next(iter(known))]
    known[key] = value


def _root(commit: Found) -> str:
    """The tree of a commit as git stores it."""
    return commit.content.partition(b"\n")[0].removeprefix(b"tree ").decode()


def _unreadable(path: str, commit: str, reply: Reply) -> GitInputError | GitNotFound:
    where = f"{path!r} at commit {commit[:12]}"
    if isinstance(reply, Found):
        return GitInputError(f"{where} is a directory; expected a file")
    if not isinstance(reply, Absent):
        return GitInputError(f"{where} has {reply.size} bytes; files that large are not read")
    if reply.reason == "symlink":
        return GitInputError(f"{where} is a symbolic link that leaves the repository (to {reply.target!r})")
    if reply.reason == "loop":
        return GitInputError(f"{where} is a symbolic link that leads back to itself")
    if reply.reason == "dangling":
        return GitNotFound(f"{where} is a symbolic link to nothing")
    return GitNotFound(f"there is no file {where}")
