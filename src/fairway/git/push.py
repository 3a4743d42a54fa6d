"""An edit pushed to a branch, however often the branch moves meanwhile.

The edit is a function, not a patch: on every try it is made anew on the branch as it is then, so nothing that others
pushed is ever undone. The push names the head it was made on, and the remote refuses it if the branch is elsewhere. A
repetition after a crash finds its own work already there, changes nothing and counts as done.
"""

from collections.abc import Awaitable, Callable

from msgspec import Struct

from fairway.git.commit import Changes, CommitText, create_commit
from fairway.git.errors import GitNotFound, GitRemoteError
from fairway.git.mirror import Mirror
from fairway.git.names import checked_branch

#: Reads a file of the head the edit is made on; None if there is no such file.
Read = Callable[[str], Awaitable[bytes | None]]
Edit = Callable[[Read], Awaitable[Changes]]


class PushTarget(Struct, frozen=True):
    """The branch to push to, and the one it begins at if it does not exist yet (for pull requests)."""

    branch: str
    base: str | None = None


class Pushed(Struct, frozen=True):
    """Where the branch is now. Without a commit, it already had everything the edit asked for."""

    head: str
    commit: str | None


async def push_edit(mirror: Mirror, target: PushTarget, edit: Edit, text: CommitText) -> Pushed:
    """Commit what `edit` wants on top of the branch and push it, again and again while others are faster."""
    checked_branch(target.branch)
    for failures in range(1, mirror.retry.attempts + 1):
        await mirror.fetch()
        expected, start = await _starting_point(mirror, target)
        commit = await create_commit(mirror, start, await edit(_reader_at(mirror, start)), text)
        if commit is None:
            return Pushed(head=start, commit=None)
        try:
            await push_commit(mirror, commit, target.branch, expected)
        except GitRemoteError as error:
            lost = error
        else:
            return Pushed(head=commit, commit=commit)
        if failures < mirror.retry.attempts:
            await mirror.retry.sleep(mirror.retry.delay(failures))
    raise type(lost)(f"gave up after {mirror.retry.attempts} tries: {lost}") from lost


async def push_commit(mirror: Mirror, commit: str, branch: str, expected: str | None) -> None:
    """Move the remote's branch from `expected` (None: it must not exist) to `commit`, or raise `RemoteMoved`."""
    ref = f"refs/heads/{checked_branch(branch)}"
    lease = f"--force-with-lease={ref}:{expected or ''}"
    url = mirror.remote.url
    arguments = ("push", "--porcelain", "--no-follow-tags", lease, "--", url, f"{commit}:{ref}")
    await mirror.git.remote_output("push to", url, *arguments, git_dir=mirror.git_dir)
    async with mirror.writing:
        # So that `head` knows at once; if it fails, the next fetch tells the same.
        await mirror.git.run("update-ref", ref, commit, git_dir=mirror.git_dir)


async def _starting_point(mirror: Mirror, target: PushTarget) -> tuple[str | None, str]:
    """What the remote's branch is, and the commit to build on."""
    head = await mirror.head(target.branch)
    if target.base is None or target.base == target.branch:
        if head is None:
            raise GitNotFound(f"{mirror.remote} has no branch {target.branch!r}; create it first or name a base branch")
        return head, head
    base = await mirror.head(target.base)
    if base is None:
        raise GitNotFound(f"{mirror.remote} has no branch {target.base!r} to begin {target.branch!r} at")
    # A branch that was merged and left behind starts afresh instead of dragging old files along.
    if head is None or await mirror.is_ancestor(head, base):
        return head, base
    return head, head


def _reader_at(mirror: Mirror, commit: str) -> Read:
    async def read(path: str) -> bytes | None:
        try:
            return await mirror.read_file(commit, path)
        except GitNotFound:
            return None

    return read
