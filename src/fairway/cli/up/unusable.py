"""Application files of a user's repository that cannot be deployed, each with why.

An agent suggests what it can read, and what has a name to be registered under; of the rest nobody would hear.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from fairway.cli.up.agent_file import WatchedRepository
from fairway.cli.up.registration import registered_files
from fairway.config.find import is_application_file
from fairway.config.read import Reading, read_application_file
from fairway.git.errors import GitLocalError
from fairway.git.object_reader import Found, ObjectReader
from fairway.git.process import Git
from fairway.git.tree import parse_tree
from fairway.model.application import Application


def unusable_files(repository: WatchedRepository, registered: Sequence[Application] = ()) -> list[str]:
    """What is wrong with each file at the head of the branch; one without a name may be registered under any."""
    # A branch without a commit has no files.
    with suppress(GitLocalError):
        contents, named = asyncio.run(_contents(repository)), registered_files(registered)
        said = (
            _why_not(read_application_file(content, path), path, (repository.id, path) in named)
            for path, content in contents.items()
        )
        return [each for each in said if each]
    return []


def _why_not(reading: Reading, path: str, has_a_name: bool) -> str:
    if errors := reading.errors:
        more = f" (and {len(errors) - 1} more: fairway lint)" if len(errors) > 1 else ""
        return f"{errors[0]}{more}"
    if not reading.config.name and not has_a_name:
        return f"{path}: error: spec.name: is missing; give it one, or register it under one with `fairway app add`"
    return ""


async def _contents(repository: WatchedRepository) -> dict[str, bytes]:
    git, git_dir = Git(), _git_directory(repository.path)
    listed = await git.output("ls-tree", "-r", "-z", "--full-tree", f"refs/heads/{repository.branch}", git_dir=git_dir)
    hashes = {path: entry.hash for path, entry in parse_tree(listed).items() if is_application_file(path)}
    reader = ObjectReader(git, git_dir)
    try:
        replies = await reader.read([hash.encode() for hash in hashes.values()])
    finally:
        await reader.close()
    return {path: reply.content for path, reply in zip(hashes, replies, strict=True) if isinstance(reply, Found)}


def _git_directory(path: Path) -> Path:
    inside = path / ".git"
    return inside if inside.is_dir() else path
