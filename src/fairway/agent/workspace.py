"""The files that deployments work on: the tree of a commit with secrets opened and attachments rendered.

A commit is written to disk once, however many applications it touches; each deployment gets a tree of its own, whose
files are links to that one, except the application's own directory, which is copied so that scripts may write there.
Rendering replaces files and never writes into them, so nobody sees another's secrets. A tree appears whole or not at
all and outlives the agent: whoever takes a deployment up again finds the tree it began with. Trees of deployments that
have ended are removed, also those that a killed agent has left, and with them what plugins have kept under the
deployment's name: a script that has ended must be known as long as somebody may ask for it again, and no longer.
"""

import asyncio
import errno
import os
import shutil
import subprocess
import tempfile
from collections.abc import Collection
from pathlib import Path
from weakref import WeakValueDictionary

import msgspec

from fairway.config.application import ApplicationConfig
from fairway.config.find import SHARED_DIRECTORY
from fairway.errors import TemporaryError
from fairway.git.materialise import materialise
from fairway.git.mirror import Mirror
from fairway.secrets.render import RenderRequest, Unsealer, opened_values, render_targets
from fairway.secrets.template import TemplateValues

#: How many commits of a repository are kept written out, for the next application that wants them.
_KEPT_COMMITS = 4
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
        self._unsealer = unsealer
        #: Whoever uses one holds it; one that nobody uses is gone.
        self._turns: WeakValueDictionary[Path, asyncio.Lock] = WeakValueDictionary()

    async def source(self, deployment_id: str, role: str, mirror: Mirror, wanted: Wanted) -> Source:
        """The files for one deployment in one role (`target` or `running`), made if they are not there yet."""
        root = self._deployments / deployment_id / role
        config_text = await mirror.read_file(wanted.commit, wanted.file)
        try:
            async with self._turn(root):
                if not root.exists():
                    commit = await self._commit(mirror, wanted)
                    await asyncio.to_thread(self._make, commit, root, wanted)
            values = await asyncio.to_thread(opened_values, _request(root, wanted), self._unsealer)
        except OSError as error:
            raise WorkspaceError(f"the files of {wanted.commit[:7]} cannot be written ({error.strerror})") from error
        return Source(
            root=root,
            commit=wanted.commit,
            application_directory=root / wanted.directory,
            config_filename=os.path.basename(wanted.file),
            config_text=config_text,
            values=values,
        )

    async def remove(self, deployment_id: str) -> None:
        """Forget the trees of a deployment that has ended."""
        await asyncio.to_thread(self._remove, deployment_id)

    async def sweep(self, open_deployments: Collection[str]) -> None:
        """Remove what a killed agent has left of deployments that have ended since, and what it had not finished."""
        await asyncio.to_thread(self._sweep, open_deployments)

    def _turn(self, path: Path) -> asyncio.Lock:
        return self._turns.setdefault(path, asyncio.Lock())

    async def _commit(self, mirror: Mirror, wanted: Wanted) -> Path:
        """The commit's own tree, written once for all deployments that want it."""
        directory = self._commits / wanted.repository_id / wanted.commit
        async with self._turn(directory):
            if not directory.exists():
                await asyncio.to_thread(directory.parent.mkdir, parents=True, exist_ok=True)
                await materialise(mirror, wanted.commit, directory)
                await asyncio.to_thread(_keep_newest, directory)
        return directory

    def _make(self, commit: Path, root: Path, wanted: Wanted) -> None:
        root.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=root.parent))
        try:
            tree = unfinished / root.name
            _link_tree(commit, tree, Path(os.path.normpath(wanted.directory)))
            render_targets(_request(tree, wanted), self._unsealer)
            tree.rename(root)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)

    def _sweep(self, open_deployments: Collection[str]) -> None:
        # Links keep what they need, so the trees of commits can all be made again.
        shutil.rmtree(self._commits, ignore_errors=True)
        for left in self._deployments.glob("*"):
            if left.name not in open_deployments:
                self._remove(left.name)
            for unfinished in left.glob(f"{_UNFINISHED}*"):
                shutil.rmtree(unfinished, ignore_errors=True)

    def _remove(self, deployment_id: str) -> None:
        # The tree last: as long as it is there, a sweep finds what was not removed yet.
        for kept in self._plugins.glob(f"*/{deployment_id}"):
            shutil.rmtree(kept, ignore_errors=True)
        shutil.rmtree(self._deployments / deployment_id, ignore_errors=True)


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


def _link_tree(commit: Path, tree: Path, own: Path) -> None:
    """The commit's files under other names; the application's own directory is a copy."""
    if own == Path():
        _cp("-a", commit, tree)
        return
    _cp("-al", commit, tree)
    if not (tree / own).is_symlink():
        shutil.rmtree(tree / own)
        _cp("-a", commit / own, tree / own)


def _cp(options: str, source: Path, target: Path) -> None:
    # By a program of its own: while Python makes thousands of links, everybody else in this process waits.
    done = subprocess.run(["cp", options, "--", source, target], capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(errno.EIO, done.stderr.strip().rpartition("\n")[2])


def _keep_newest(directory: Path) -> None:
    """Forget all but the newest trees beside this one; deployments that began with them have links of their own."""
    others = sorted(directory.parent.iterdir(), key=lambda each: each.stat().st_mtime_ns)
    for old in others[:-_KEPT_COMMITS]:
        shutil.rmtree(old, ignore_errors=True)
