"""A Git repository to play with: real, on this machine, with applications that show what Fairway does.

It appears whole or not at all, and once it is there it belongs to the user: nothing is written to it again.
"""

import os
import shutil
import subprocess
from collections.abc import Sequence
from importlib.resources import as_file, files
from pathlib import Path

from fairway.cli.up.registration import WatchedRepository
from fairway.errors import UserError
from fairway.model.application import DiscoveredApplication
from fairway.model.deployment import DeploymentStatus

ID = "demo"
BRANCH = "main"
#: By the directory of each application: how its first deployment ends.
ENDS = {"hello": DeploymentStatus.SUCCEEDED, "broken": DeploymentStatus.FAILED}
_FILE = "app.pipecd.yaml"
_AUTHOR = ("-c", "user.name=Fairway", "-c", "user.email=fairway@localhost", "-c", "commit.gpgsign=false")
#: Neither templates nor hooks of the user have a part in what we commit.
_ALONE = ("-c", f"core.hooksPath={os.devnull}")


class GitFailed(UserError):
    """A git command that did not do what it should."""


def make_demo(place: Path) -> WatchedRepository:
    """The repository, made if it is not there."""
    repository = WatchedRepository(id=ID, path=place.absolute(), branch=BRANCH)
    if place.exists():
        return repository
    new = place.with_name(f".{place.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    with as_file(files("fairway.cli.up") / "demo_repository") as content:
        shutil.copytree(content, new, ignore=shutil.ignore_patterns("__pycache__"))
    git(new, "init", "--quiet", f"--initial-branch={BRANCH}", "--template=")
    if not _has_author(new):
        # So that the user's first commit works on a machine where nobody has told git who they are.
        git(new, "config", "user.name", os.environ.get("USER", "") or "You")
        git(new, "config", "user.email", "you@localhost")
    commit(new, "Two applications to play with")
    new.rename(place)
    return repository


def demo_applications(agent_id: str) -> Sequence[DiscoveredApplication]:
    """What is in it."""
    return [
        DiscoveredApplication(name=path, agent_id=agent_id, repository_id=ID, path=path, config_filename=_FILE)
        for path in ENDS
    ]


def commit(repository: Path, message: str) -> None:
    """Commit everything that is there."""
    git(repository, "add", "--all")
    git(repository, *_AUTHOR, "commit", "--quiet", "--message", message)


def git(directory: Path, *arguments: str) -> str:
    """The output of a git command; GitFailed with what it complains about."""
    try:
        done = subprocess.run(
            ["git", *_ALONE, *arguments], cwd=directory, capture_output=True, text=True, check=False, timeout=60
        )
    except FileNotFoundError as error:
        raise GitFailed("git is not there; install it, for example with `apt-get install git`") from error
    if done.returncode != 0:
        raise GitFailed(f"`git {' '.join(arguments)}` failed in {directory}: {done.stderr.strip()}")
    return done.stdout.strip()


def _has_author(repository: Path) -> bool:
    try:
        return bool(git(repository, "config", "user.name") and git(repository, "config", "user.email"))
    except GitFailed:
        return False
