"""The files that deployments work on: the tree of a commit with secrets opened and attachments rendered.

A commit is written to disk once, however many applications it touches; whoever only looks is given that, and each
deployment a tree of its own (`trees`), where scripts may write. Rendering replaces files and never writes into them, so
nobody sees another's secrets. A tree appears whole or not at all and outlives the agent:
whoever takes a deployment up again finds the tree it began with. Trees of deployments that have ended are removed or
given to the next, also those that a killed agent has left, and with them what plugins have kept under the deployment's
name: a script that has ended must be known as long as somebody may ask for it again, and no longer.
"""

import asyncio
import contextlib
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from weakref import WeakValueDictionary

import msgspec

from fairway.agent.trees import CommitTree, PrivateTree, change_owner, make_tree, private_tree, survey, written_since
from fairway.config.application import ApplicationConfig
from fairway.config.find import SHARED_DIRECTORY
from fairway.errors import TemporaryError
from fairway.git.errors import GitInputError
from fairway.git.materialise import materialise, write_again
from fairway.git.mirror import Mirror
from fairway.in_thread import in_thread
from fairway.secrets.render import RenderRequest, Unsealer, opened_values, render_targets
from fairway.secrets.template import TemplateValues

#: How many commits of a repository are kept written out, for the next application that wants them.
_KEPT_COMMITS = 4
#: How many trees are made at the same time. Who waits longer is given one of those that have ended meanwhile.
_MADE_AT_ONCE = 2
#: How many trees of deployments that have ended are kept for the next ones.
_SPARE_TREES = 16
_UNFINISHED = ".unfinished-"


class WorkspaceError(TemporaryError):
    """The disk does not take the files of a deployment."""


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """Which files are wanted."""

    #: Names the commit's repository among the agent's.
    repository_id: str
    commit: str
    #: The application's directory and file, from the root of the repository.
    directory: str
    file: str
    config: ApplicationConfig

    @property
    def own(self) -> Path:
        """The application's directory, from the root of the repository."""
        return Path(os.path.normpath(self.directory))

    @property
    def is_rendered(self) -> bool:
        """Whether something of the tree is not as it is in Git."""
        encryption, attachment = self.config.encryption, self.config.attachment
        targets = encryption.decryption_targets or attachment.targets
        return bool(encryption.encrypted_secrets or attachment.sources or targets)


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """The files of one commit for one deployment."""

    #: The root of the tree.
    root: Path
    commit: str
    application_directory: Path
    config_filename: str
    #: The application's file as it was written.
    config_text: bytes
    #: What was opened for it: for scripts, and for masking.
    values: TemplateValues

    @property
    def shared_directory(self) -> Path:
        """Where a repository keeps what its applications share."""
        return self.root / SHARED_DIRECTORY


class Workspace:
    """All trees of one agent, below one directory."""

    def __init__(self, directory: Path, unsealer: Unsealer | None, plugins: Path) -> None:
        #: Plugins keep files below this, each in a directory of its own; one with a deployment's name there is its.
        self._plugins = plugins
        self._commits = directory / "commits"
        self._deployments = directory / "deployments"
        self._spare = directory / "spare"
        self._unsealer = unsealer
        #: Whoever uses one holds it; one that nobody uses is gone.
        self._turns: WeakValueDictionary[Path, asyncio.Lock] = WeakValueDictionary()
        #: How many trees are being made now; whoever wants one waits for that to change, or for one that is spare.
        self._making = 0
        self._changed = asyncio.Condition()
        #: Slow templates hold up one thread, and not all threads of this process.
        self._rendering = asyncio.Lock()
        self._surveys: dict[Path, CommitTree] = {}
        #: How many are using the tree of a commit now.
        self._uses: Counter[Path] = Counter()
        #: Deployment → its trees that may be used again.
        self._trees: dict[str, list[PrivateTree]] = {}
        #: Those that wait for somebody, the newest last.
        self._waiting: list[PrivateTree] = []
        self._numbers = count()

    async def source(self, deployment_id: str, role: str, mirror: Mirror, wanted: Wanted) -> Source:
        """The files for one deployment in one role (`target` or `running`), made if they are not there yet."""
        root = self._deployments / deployment_id / role
        try:
            async with self._turn(root):
                if not root.exists():
                    made = await self._made(root, mirror, wanted)
                    if made is not None:
                        self._trees.setdefault(deployment_id, []).append(made)
            return await self._source(root, mirror, wanted)
        except OSError as error:
            raise _not_written(wanted, error) from error

    @asynccontextmanager
    async def shared(self, mirror: Mirror, wanted: Wanted) -> AsyncIterator[Source | None]:
        """The files for somebody who only reads them, there as long as the block lasts; None where they have to be
        rendered, which takes a tree."""
        if wanted.is_rendered:
            yield None
            return
        try:
            async with self._commit(mirror, wanted) as commit:
                yield await self._source(commit.directory, mirror, wanted)
        except OSError as error:
            raise _not_written(wanted, error) from error

    async def remove(self, deployment_id: str) -> None:
        """Forget the trees of a deployment that has ended."""
        trees = self._trees.pop(deployment_id, ())
        self._waiting += await asyncio.to_thread(self._remove, deployment_id, trees)
        await self._tell_those_who_wait()
        while len(self._waiting) > _SPARE_TREES:
            await asyncio.to_thread(shutil.rmtree, self._waiting.pop(0).root, ignore_errors=True)

    async def sweep(self, open_deployments: Collection[str]) -> None:
        """Remove what a killed agent has left of deployments that have ended since, and what it had not finished; to be
        done before anything else is, because nobody's turn is waited for."""
        await asyncio.to_thread(self._sweep, open_deployments)

    def _turn(self, path: Path) -> asyncio.Lock:
        return self._turns.setdefault(path, asyncio.Lock())

    async def _source(self, root: Path, mirror: Mirror, wanted: Wanted) -> Source:
        values = TemplateValues()
        if wanted.is_rendered:
            values = await asyncio.to_thread(opened_values, _request(root, wanted), self._unsealer)
        return Source(
            root=root,
            commit=wanted.commit,
            application_directory=root / wanted.directory,
            config_filename=os.path.basename(wanted.file),
            config_text=await mirror.read_file(wanted.commit, wanted.file),
            values=values,
        )

    @asynccontextmanager
    async def _commit(self, mirror: Mirror, wanted: Wanted) -> AsyncIterator[CommitTree]:
        """The commit's own tree, written once for all who want it, and there as long as the block lasts."""
        directory = self._commits / wanted.repository_id / wanted.commit
        self._uses[directory] += 1
        try:
            async with self._turn(directory):
                if directory not in self._surveys or not directory.exists():
                    # Whoever was given up in between has left it without a survey.
                    await in_thread(shutil.rmtree, directory, ignore_errors=True)
                    written = await materialise(mirror, wanted.commit, directory)
                    self._surveys[directory] = await in_thread(survey, written)
                tree = self._surveys[directory]
                if tree.is_large and (changed := await in_thread(written_since, tree, directory)):
                    await write_again(mirror, wanted.commit, directory, changed, tree.newest)
                # The one that was used last is forgotten last.
                os.utime(directory)
            _refuse_leaving_links(tree, wanted)
            yield tree
        finally:
            self._uses[directory] -= 1
            await self._keep_newest(directory.parent)

    async def _keep_newest(self, commits: Path) -> None:
        """Forget all but the newest commits of a repository; deployments that began with them have links of their
        own."""
        with contextlib.suppress(FileNotFoundError):
            for each in self._out_of_the_way(commits):
                await asyncio.to_thread(shutil.rmtree, each, ignore_errors=True)

    def _out_of_the_way(self, commits: Path) -> list[Path]:
        """The old ones under other names, so that whoever comes for one now finds none; those in use stay."""
        # Those with a dot are being written.
        written = [each for each in commits.iterdir() if not each.name.startswith(".")]
        written.sort(key=lambda each: each.stat().st_mtime_ns)
        old = [each for each in written[:-_KEPT_COMMITS] if not self._uses[each]]
        for each in old:
            self._surveys.pop(each, None)
            del self._uses[each]
        self._spare.mkdir(exist_ok=True)
        return [each.rename(self._spare / f"gone-{next(self._numbers)}") for each in old]

    async def _made(self, root: Path, mirror: Mirror, wanted: Wanted) -> PrivateTree | None:
        async with self._commit(mirror, wanted) as commit:
            async with self._changed:
                await self._changed.wait_for(lambda: self._making < _MADE_AT_ONCE or self._fitting(commit, wanted))
                spare = self._take(commit, wanted)
                self._making += spare is None
            try:
                async with self._rendering if wanted.is_rendered else contextlib.nullcontext():
                    return await in_thread(self._make, commit, root, wanted, spare)
            finally:
                self._making -= spare is None
                # In any case: whoever waits would wait for ever.
                await asyncio.shield(self._tell_those_who_wait())

    async def _tell_those_who_wait(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    def _fitting(self, commit: CommitTree, wanted: Wanted) -> list[PrivateTree]:
        """The trees that wait for a deployment such as this."""
        usable = str(wanted.own) in commit.directories
        return [each for each in self._waiting if each.commit is commit] if usable else []

    def _take(self, commit: CommitTree, wanted: Wanted) -> PrivateTree | None:
        """One of them, if there is any: one that had the same owner before all others."""
        fitting = self._fitting(commit, wanted)
        found = next((each for each in fitting if each.own == wanted.own), fitting[-1] if fitting else None)
        if found is not None:
            self._waiting.remove(found)
        return found

    def _make(self, commit: CommitTree, root: Path, wanted: Wanted, spare: PrivateTree | None) -> PrivateTree | None:
        root.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=root.parent))
        try:
            tree = unfinished / root.name
            if spare is None:
                make_tree(commit, tree, wanted.own)
            else:
                change_owner(spare, wanted.own)
                spare.root.rename(tree)
            if wanted.is_rendered:
                render_targets(_request(tree, wanted), self._unsealer)
            tree.rename(root)
            return None if wanted.is_rendered else private_tree(root, commit, wanted.own)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
            if spare is not None:
                shutil.rmtree(spare.root, ignore_errors=True)

    def _sweep(self, open_deployments: Collection[str]) -> None:
        # Links keep what they need, so the trees of commits can all be made again.
        for remade in (self._commits, self._spare):
            shutil.rmtree(remade, ignore_errors=True)
        for left in self._deployments.glob("*"):
            if left.name not in open_deployments:
                self._remove(left.name)
            for unfinished in left.glob(f"{_UNFINISHED}*"):
                shutil.rmtree(unfinished, ignore_errors=True)

    def _remove(self, deployment_id: str, trees: Sequence[PrivateTree] = ()) -> list[PrivateTree]:
        """Remove everything of a deployment but the trees that can be used again."""
        # The tree last: as long as it is there, a sweep finds what was not removed yet.
        for level in ("*", "*/*"):
            for stored in self._plugins.glob(f"{level}/{deployment_id}"):
                shutil.rmtree(stored, ignore_errors=True)
        spared = []
        for each in trees:
            # One that the disk does not keep is removed with the rest.
            with contextlib.suppress(OSError):
                spared += [self._spared(each)] if each.is_untouched() else []
        shutil.rmtree(self._deployments / deployment_id, ignore_errors=True)
        return spared

    def _spared(self, tree: PrivateTree) -> PrivateTree:
        self._spare.mkdir(exist_ok=True)
        place = self._spare / str(next(self._numbers))
        tree.root.rename(place)
        return msgspec.structs.replace(tree, root=place)


def _refuse_leaving_links(tree: CommitTree, wanted: Wanted) -> None:
    """Elsewhere in the repository they are somebody else's; in its own directory an application may need them."""
    for path, target in tree.written.left_out.items():
        if Path(path).is_relative_to(wanted.own):
            raise GitInputError(
                f"the symbolic link {path!r} points out of the repository (to {target!r}); replace it by a file or by "
                "a link that stays inside"
            )


def _not_written(wanted: Wanted, error: OSError) -> WorkspaceError:
    # Copying a tree goes on after an error and tells all of them, each with its two paths; one reason is enough.
    reason = error.args[0][0][2] if isinstance(error, shutil.Error) else error.strerror or error
    return WorkspaceError(f"the files of {wanted.commit[:7]} cannot be written ({reason})")


def _request(root: Path, wanted: Wanted) -> RenderRequest:
    encryption, attachment = wanted.config.encryption, wanted.config.attachment
    return RenderRequest(
        root=root,
        app_dir=root / wanted.directory,
        encrypted_secrets=encryption.encrypted_secrets,
        decryption_targets=encryption.decryption_targets,
        attachment_sources=attachment.sources,
        attachment_targets=attachment.targets,
    )
