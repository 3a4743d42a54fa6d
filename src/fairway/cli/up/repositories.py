"""Which repositories the agent watches: the demo, and the user's own.

What was watched before is watched again, as the agent's file says, by its branch of before unless it is named anew; the
demo is left out where a user began with a repository of their own.
"""

import re
from pathlib import Path

import msgspec

from fairway.cli.up.agent_file import AgentFile, WatchedRepository
from fairway.cli.up.demo import ID as DEMO
from fairway.cli.up.demo import Demo, GitFailed, git
from fairway.cli.up.places import Places

_NOT_IN_IDS = re.compile(r"[^A-Za-z0-9._-]+")


def choose_repositories(places: Places, demo: Demo, given: Path | None) -> list[WatchedRepository]:
    """The repositories, the demo made if it is wanted."""
    before = (each for each in AgentFile(places).repositories if each.id != DEMO)
    own = {each.path: each for each in before if each.path.exists()}
    if given is not None:
        new = own_repository(given, {DEMO, *(each.id for each in own.values())})
        # One that is watched already keeps its name; its branch is the one that it is on now.
        own[new.path] = msgspec.structs.replace(own.get(new.path, new), branch=new.branch)
    if own and not demo.place.exists():
        return list(own.values())
    demo.make()
    return [demo.repository, *own.values()]


def own_repository(path: Path, taken: set[str]) -> WatchedRepository:
    """The user's repository at a path, bare or not, by the branch that it is on."""
    try:
        git_dir = Path(git(path, "rev-parse", "--path-format=absolute", "--git-common-dir"))
        branch = git(path, "symbolic-ref", "--short", "HEAD")
    except (GitFailed, OSError) as error:
        raise GitFailed(f"--repo is {path}; expected a Git repository that is on a branch: {error}") from error
    # Where the working copy is a plain one, people know the repository by it.
    place = git_dir.parent if git_dir.name == ".git" else git_dir
    name = _NOT_IN_IDS.sub("-", place.name.removesuffix(".git")).strip("-.") or "repository"
    numbered = (name if number == 1 else f"{name}-{number}" for number in range(1, len(taken) + 2))
    return WatchedRepository(id=next(id for id in numbered if id not in taken), path=place, branch=branch)


def newest_commit(repository: WatchedRepository) -> str:
    """What the branch points to; empty where it has no commit."""
    try:
        return git(repository.path, "rev-parse", "--verify", "--quiet", f"refs/heads/{repository.branch}")
    except GitFailed:
        return ""
