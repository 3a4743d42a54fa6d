"""`fairway plan-preview`: what merging a branch would deploy, for people and for the comment on a pull request.

Which merge is meant is said by options, else by the environment of a CI job, else by the Git repository around.
"""

import os
import subprocess
import time
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from fairway.cli.call import FAILED, Call, UsageError, decode, with_server
from fairway.cli.merge_previews import Merge, as_markdown, as_text, failures, marker
from fairway.cli.options import Timeout, length_of_time
from fairway.cli.pull_requests import PullRequest, comment, from_environment, token_of
from fairway.cli.remote import segments
from fairway.model.merge_preview import MergePreview

commands = typer.Typer(help="See what merging a branch would deploy.", add_completion=False)

#: From one look at the server to the next: at first, and after a while.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 2.0
_PATIENCE = timedelta(minutes=10)


class _Items(msgspec.Struct, frozen=True):
    items: tuple[MergePreview, ...]


@commands.command()
@with_server
def plan_preview(
    call: Call,
    head: Annotated[str, typer.Option(help="The branch to merge.")] = "",
    commit: Annotated[str, typer.Option(help="Its commit.")] = "",
    base: Annotated[str, typer.Option(help="The branch to merge it into.")] = "",
    repo: Annotated[str, typer.Option(help="The repository as it is cloned, or its id in the agent's file.")] = "",
    markdown: Annotated[bool, typer.Option("--markdown", help="Print what --comment would post.")] = False,
    post: Annotated[bool, typer.Option("--comment", help="Comment on the pull request of this CI job.")] = False,
    pull_request: Annotated[str, typer.Option(help="The number of the pull request to comment.")] = "",
    title: Annotated[str, typer.Option(help="The heading of the comment; each has a comment of its own.")] = (
        "Plan preview"
    ),
    timeout: Timeout = "10m",
) -> None:
    """What would be deployed of each application, and what would change in each deploy target.

    Ends with 1 when something could not be previewed.
    """
    job = from_environment(os.environ, lambda path: Path(path).read_bytes())
    merge = meant(job, Merge(repository=repo, head_branch=head, head_commit=commit, base_branch=base))
    place = _place(job, pull_request) if post else None
    previews = _asked(call, merge, length_of_time("timeout", timeout) or _PATIENCE)
    text = as_markdown(previews, merge, title)
    if call.as_json:
        call.print_json(msgspec.json.encode({"merge": merge, "items": previews}))
    else:
        typer.echo(text if markdown else as_text(previews, merge))
    if place is not None:
        typer.echo(comment(place, token_of(os.environ), marker(title), text), err=True)
    if failures(previews):
        raise typer.Exit(FAILED)


def _place(job: PullRequest | None, number: str) -> PullRequest:
    """The pull request to comment. What is missing is told before anybody waits for an agent."""
    if job is None:
        raise UsageError("--comment works in a job of GitHub, Gitea or GitLab; elsewhere print it with --markdown")
    token_of(os.environ)
    return msgspec.structs.replace(job, number=number or job.number)


def _asked(call: Call, merge: Merge, patience: timedelta) -> list[MergePreview]:
    """The answers of all agents that follow the repository."""
    body = {**msgspec.structs.asdict(merge), "timeout_seconds": int(patience.total_seconds())}
    found = list(decode(call.remote.send("POST", segments("plan-previews"), body), _Items).items)
    if not found:
        raise UsageError(
            f"no agent follows branch {merge.base_branch} of {merge.repository}; see what they do: fairway agent list"
        )
    # Beyond what the server gives the agents, so that its own words are heard.
    until = time.monotonic() + patience.total_seconds() + 30
    pause = _FIRST_PAUSE
    while not all(each.ready for each in found) and time.monotonic() < until:
        time.sleep(pause)
        pause = min(1.5 * pause, _LONGEST_PAUSE)
        found = [each if each.ready else call.get(MergePreview, segments("plan-previews", each.id)) for each in found]
    late = f"not ready within {patience}"
    return [each if each.ready else msgspec.structs.replace(each, error=late) for each in found]


def meant(job: PullRequest | None, said: Merge) -> Merge:
    """Which merge is meant; UsageError names what nobody says."""
    merge = Merge(
        repository=_absolute(said.repository) or (job.remote if job else "") or _repository_around(),
        head_branch=said.head_branch or (job.head_branch if job else "") or _git("branch", "--show-current"),
        head_commit=said.head_commit or _known_commit(job, said.head_branch),
        base_branch=said.base_branch or (job.base_branch if job else "") or "main",
    )
    missing = [name for name, value in msgspec.structs.asdict(merge).items() if not value]
    if missing == ["head_commit"]:
        raise UsageError(_no_branch(merge.head_branch))
    if missing:
        options = {"repository": "--repo", "head_branch": "--head", "head_commit": "--commit"}
        named = ", ".join(options[name] for name in missing)
        raise UsageError(f"which merge is meant is not known; say {named}")
    return merge


def _absolute(repository: str) -> str:
    """A path is meant from here; agents have absolute ones."""
    is_path = repository.startswith((".", "~", "/"))
    return os.path.abspath(os.path.expanduser(repository)) if is_path else repository


def _repository_around() -> str:
    """Where it comes from; one that comes from nowhere may itself be what an agent follows."""
    return _git("remote", "get-url", "origin") or _git("rev-parse", "--show-toplevel")


def _known_commit(job: PullRequest | None, head: str) -> str:
    """The commit of the branch: the job's, if it is about that branch, else where Git has it."""
    if job is not None and job.head_commit and head in ("", job.head_branch):
        return job.head_commit
    if not head:
        return _git("rev-parse", "HEAD")
    return _git("rev-parse", "--verify", "--quiet", f"refs/remotes/origin/{head}") or _git(
        "rev-parse", "--verify", "--quiet", f"refs/heads/{head}"
    )


def _no_branch(head: str) -> str:
    from fairway.config.problems import did_you_mean

    if not _git("rev-parse", "--git-dir"):
        return (
            f"this is no Git repository, so where branch {head!r} is cannot be asked here; "
            "run this in a clone, or say --commit, the commit at its end"
        )
    known = _git("for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads").splitlines()
    return f"the Git repository here has no branch {head!r}; say another --head, or --commit{did_you_mean(head, known)}"


def _git(*arguments: str) -> str:
    """What git says here; empty where it says nothing."""
    try:
        done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
