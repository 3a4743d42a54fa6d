"""Real repositories in a temporary directory, built without regard to the user's own git configuration."""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fairway.git.mirror import Mirror, MirrorOptions
from fairway.git.retry import Retry

_ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.com",
    "GIT_AUTHOR_DATE": "1700000000 +0100",
    "GIT_COMMITTER_NAME": "Bob",
    "GIT_COMMITTER_EMAIL": "bob@example.com",
    "GIT_COMMITTER_DATE": "1700000060 +0000",
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "protocol.file.allow",
    "GIT_CONFIG_VALUE_0": "always",
}


def git(directory: Path, *arguments: str | bytes, stdin: bytes = b"") -> str:
    """Run git as a developer would; returns its output."""
    command = ["git", "-C", str(directory), *arguments]
    done = subprocess.run(command, env=_ENVIRONMENT, input=stdin, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode("utf-8", "surrogateescape").strip()


@dataclass(frozen=True)
class Origin:
    """A remote (bare) and the developer's working copy that feeds it."""

    bare: Path
    work: Path

    def commit(self, files: Mapping[str, str | bytes | None], message: str = "change", branch: str = "main") -> str:
        """Write (or delete) files, commit and push; returns the commit."""
        for path, content in files.items():
            target = self.work / path
            if content is None:
                target.unlink()
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.encode() if isinstance(content, str) else content)
        return self.commit_all(message, branch)

    def commit_all(self, message: str = "change", branch: str = "main") -> str:
        """Commit the working copy as it is and push it."""
        git(self.work, "add", "--all")
        git(self.work, "commit", "--quiet", "--allow-empty", "--message", message)
        git(self.work, "push", "--quiet", "--force", "origin", f"HEAD:refs/heads/{branch}")
        return git(self.work, "rev-parse", "HEAD")

    def head(self, branch: str = "main") -> str:
        """Where the remote's branch is."""
        return git(self.bare, "rev-parse", f"refs/heads/{branch}")

    def show(self, path: str, branch: str = "main") -> str:
        """A file at the remote's branch, without the last line break."""
        return git(self.bare, "show", f"refs/heads/{branch}:{path}")


def an_origin(directory: Path, files: Mapping[str, str | bytes] | None = None) -> Origin:
    """A remote with one commit on main."""
    origin = Origin(bare=directory / "origin.git", work=directory / "work")
    directory.mkdir(parents=True, exist_ok=True)
    git(directory, "init", "--quiet", "--bare", "--initial-branch=main", str(origin.bare))
    git(directory, "init", "--quiet", "--initial-branch=main", str(origin.work))
    git(origin.work, "remote", "add", "origin", str(origin.bare))
    origin.commit(files or {"app.yaml": "name: web\n"}, message="first")
    return origin


async def no_sleep(_: float) -> None:
    """A retry's wait that takes no time."""


def patient(attempts: int = 3) -> MirrorOptions:
    """Options whose retries do not wait."""
    return MirrorOptions(retry=Retry(attempts=attempts, sleep=no_sleep, chance=lambda: 0.0), patience=0.3)


async def a_mirror(origin: Origin, options: MirrorOptions | None = None) -> Mirror:
    """A mirror of the remote beside it."""
    return await Mirror.open(origin.bare.parent / "mirror.git", str(origin.bare), options or patient())
