"""What merging one commit into another would give, made in a mirror without a checkout; no branch moves.

The same two commits always give the same commit, so that whatever is kept by its hash is found again.
"""

from fairway.git.errors import GitInputError, GitLocalError
from fairway.git.mirror import Mirror
from fairway.git.names import checked_hash

#: Nobody's: the commit never leaves the mirror.
_PERSON = "fairway <fairway@localhost>"


class MergeConflict(GitInputError):
    """Two commits that a person has to merge."""


async def merge_commits(mirror: Mirror, base: str, head: str) -> str:
    """The commit that the branch at `base` would be at after `head` is merged; MergeConflict where git cannot."""
    if await mirror.is_ancestor(head, base):
        return base
    if await mirror.is_ancestor(base, head):
        return head
    at = int((await mirror.commit(head)).committed_at.timestamp())
    async with mirror.writing:
        tree = await _merged_tree(mirror, base, head)
        lines = (
            f"tree {tree}",
            *(f"parent {parent}" for parent in (base, head)),
            *(f"{role} {_PERSON} {at} +0000" for role in ("author", "committer")),
            "",
            f"Merge {head[:12]} into {base[:12]}, to see what that would deploy\n",
        )
        stored = await mirror.git.output(
            "hash-object", "-t", "commit", "-w", "--stdin", git_dir=mirror.git_dir, stdin="\n".join(lines).encode()
        )
    return checked_hash(stored.decode("ascii", "replace").strip())


async def _merged_tree(mirror: Mirror, base: str, head: str) -> str:
    arguments = ("merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", base, head)
    done = await mirror.git.run(*arguments, git_dir=mirror.git_dir)
    tree, *files = done.stdout.decode("utf-8", "replace").split("\0")
    if done.code == 0:
        return checked_hash(tree)
    if done.code == 1:
        named = ", ".join(sorted({file for file in files if file}))
        raise MergeConflict(f"{head[:12]} and {base[:12]} both change {named}; merge the base into the branch first")
    raise GitLocalError(f"git merge-tree failed in {mirror.git_dir}: {done.stderr.strip()}")
