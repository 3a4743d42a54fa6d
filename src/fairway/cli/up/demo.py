"""A Git repository to play with: real, on this machine, with applications that show what Fairway does.

It appears whole or not at all. When its first version runs, a second one is committed, so that there is something to
see; from then on it belongs to the user, and nothing is written to it again.
"""

import os
import random
import shutil
import socket
import subprocess
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from importlib.resources import as_file, files
from pathlib import Path

from fairway.cli.up.agent_file import WatchedRepository
from fairway.cli.up.rest import Expected
from fairway.errors import UserError
from fairway.model.application import Application, DiscoveredApplication
from fairway.model.deployment import DeploymentStatus

ID = "demo"
BRANCH = "main"
#: By the directory of each application: how its second version ends.
ENDS = {"hello": DeploymentStatus.SUCCEEDED, "risky": DeploymentStatus.FAILED}
#: What the files have as ports; each demo gets free ones instead, and keeps them.
_PORTS = {"hello": "8090", "risky": "8091"}
#: Below those that the system gives to whoever asks for any, and above those of the server.
_FREE_PORTS = range(12_000, 16_000)
_GREETING, _FILE = "greeting.txt", "app.pipecd.yaml"
#: What the second version says; what says "Oops" is no good answer.
_SECOND = {"hello": "Hello from version 2\n", "risky": "Oops from version 2\n"}
_COMPILED = shutil.ignore_patterns("__pycache__")
_AUTHOR = ("-c", "user.name=Fairway", "-c", "user.email=fairway@localhost", "-c", "commit.gpgsign=false")
#: Hooks of the user have no part in what we commit.
_ALONE = ("-c", f"core.hooksPath={os.devnull}")


class GitFailed(UserError):
    """A git command that did not do what it should."""


class Demo:
    """The demo repository."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self._played = False
        self.repository = WatchedRepository(id=ID, path=place.absolute(), branch=BRANCH)

    def make(self) -> None:
        """Make it, unless it is there."""
        if self.place.exists():
            return
        new = self.place.with_name(f".{self.place.name}.new")
        shutil.rmtree(new, ignore_errors=True)
        with as_file(files("fairway.cli.up")) as here:
            shutil.copytree(here / "demo_repository", new)
            for path in _PORTS:
                shutil.copytree(here / "demo_program", new / path, dirs_exist_ok=True, ignore=_COMPILED)
        with ExitStack() as doors:
            for path, port in _PORTS.items():
                file = new / path / _FILE
                file.write_text(file.read_text().replace(port, str(_free_port(doors))))
        git(new, "init", "--quiet", f"--initial-branch={BRANCH}", "--template=")
        if not _has_author(new):
            # So that the user's first commit works on a machine where nobody has told git who they are.
            git(new, "config", "user.name", os.environ.get("USER", "") or "You")
            git(new, "config", "user.email", "you@localhost")
        git(new, "add", "--all")
        git(new, *_AUTHOR, "commit", "--quiet", "--message", "Two applications, version 1")
        new.rename(self.place)

    def applications(self, agent_id: str) -> Sequence[DiscoveredApplication]:
        """What is in it."""
        return [
            DiscoveredApplication(name=path, agent_id=agent_id, repository_id=ID, path=path, config_filename=_FILE)
            for path in ENDS
        ]

    def address(self, path: str) -> str:
        """Where an application of it answers, by its directory; empty when its file does not say any more."""
        from fairway.config.platforms import ProcessSpec
        from fairway.config.read import read_application

        with suppress(OSError, UserError):
            text = (self.place / path / _FILE).read_bytes()
            settings = read_application(text, _FILE).plugins.get("process")
            return f"http://{settings.host}:{settings.port}/" if isinstance(settings, ProcessSpec) else ""
        return ""

    def play(self, applications: Sequence[Application]) -> None:
        """Commit the second version once the first one runs, unless the user was quicker."""
        ours = [each for each in applications if each.git_path.repository.id == ID]
        ready = len(ours) == len(ENDS) and all(each.last_succeeded and not each.deploying for each in ours)
        if self._played or not ready:
            return
        self._played = True
        if self._commits() != 1 or not self._is_untouched():
            return
        for path, greeting in _SECOND.items():
            (self.place / path / _GREETING).write_text(greeting)
        git(self.place, *_AUTHOR, "commit", "--quiet", "--all", "--message", "Two applications, version 2")

    def expected(self, applications: Sequence[Application], approved: bool) -> Expected:
        """What every application should come to; how the demo ends is known as long as only we have committed."""
        ours = {each.id: each.git_path.path for each in applications if each.git_path.repository.id == ID}
        if not ours:
            return Expected(approved=approved)
        number = self._commits()
        commits = {id: git(self.place, "log", "-1", "--format=%H", "--", path) for id, path in ours.items()}
        ends = {id: ENDS[path] for id, path in ours.items() if path in ENDS} if number == 2 else {}
        coming = "version 2 of the demo is about to be committed" if number == 1 and self._is_untouched() else ""
        return Expected(ends=ends, commits=commits, approved=approved, coming=coming)

    def _commits(self) -> int:
        return int(git(self.place, "rev-list", "--count", "HEAD"))

    def _is_untouched(self) -> bool:
        """Whether nobody but us has changed anything; we may have been killed before we could commit."""
        changed = set(git(self.place, "diff", "--name-only", "HEAD").splitlines())
        return changed <= {
            f"{path}/{_GREETING}"
            for path, greeting in _SECOND.items()
            if (self.place / path / _GREETING).read_text() == greeting
        }


def git(directory: Path, *arguments: str) -> str:
    """The output of a git command; GitFailed with what it complains about."""
    try:
        done = subprocess.run(
            ["git", *_ALONE, *arguments], cwd=directory, capture_output=True, text=True, check=False, timeout=60
        )
    except FileNotFoundError as error:
        missing = "git is not there; install it" if directory.is_dir() else f"there is no directory {directory}"
        raise GitFailed(missing) from error
    if done.returncode != 0:
        raise GitFailed(f"`git {' '.join(arguments)}` failed in {directory}: {done.stderr.strip()}")
    return done.stdout.strip()


def _has_author(repository: Path) -> bool:
    try:
        return bool(git(repository, "config", "user.name") and git(repository, "config", "user.email"))
    except GitFailed:
        return False


def _free_port(doors: ExitStack) -> int:
    """One that nobody else has, nor gets until the doors are closed."""
    while True:
        port = random.choice(_FREE_PORTS)  # noqa: S311 - spreads demos of one machine, protects nothing
        door = doors.enter_context(socket.socket())
        with suppress(OSError):
            door.bind(("127.0.0.1", port))
            return port
