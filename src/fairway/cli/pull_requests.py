"""Pull requests of GitHub, Gitea and GitLab, as the jobs of their CI know them, and a comment on one.

What a job is about stands in its environment; `from_environment` reads it. A comment that an earlier run has left is
written over, so that there is one at a time. The token comes from the environment and goes to the host's API only.
"""

import enum
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from fairway.errors import TemporaryError, UserError

if TYPE_CHECKING:
    import httpx2

#: Read in this order; the first that is set counts.
TOKENS = ("FAIRWAY_GIT_TOKEN", "GITHUB_TOKEN", "GITEA_TOKEN", "GITLAB_TOKEN")
TIMEOUT_SECONDS = 30.0
_PAGE = 100


class Host(enum.Enum):
    """Whose API it is."""

    GITHUB = "github"
    GITEA = "gitea"
    GITLAB = "gitlab"


class PullRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a job of a CI is about; what it does not say is empty."""

    host: Host
    #: Of the API, without a slash at the end.
    api: str
    #: As the API names it.
    project: str
    number: str = ""
    remote: str = ""
    head_branch: str = ""
    head_commit: str = ""
    base_branch: str = ""


class CommentFailed(UserError):
    """A comment that the host does not take."""


def from_environment(environment: Mapping[str, str], read: Callable[[str], bytes]) -> PullRequest | None:
    """The pull request of this job; None outside of a CI that we know. `read` reads a file."""
    if environment.get("GITLAB_CI"):
        return _gitlab(environment)
    if environment.get("GITHUB_ACTIONS") or environment.get("GITEA_ACTIONS"):
        return _github(environment, read)
    return None


def _gitlab(said: Mapping[str, str]) -> PullRequest:
    head = "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA"
    return PullRequest(
        host=Host.GITLAB,
        api=said.get("CI_API_V4_URL", "https://gitlab.com/api/v4").rstrip("/"),
        project=said.get("CI_PROJECT_ID", ""),
        number=said.get("CI_MERGE_REQUEST_IID", ""),
        remote=said.get("CI_PROJECT_URL", ""),
        head_branch=said.get("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME") or said.get("CI_COMMIT_BRANCH", ""),
        # In a pipeline of the merged result, the commit of the job is one that is on no branch.
        head_commit=said.get(head) or said.get("CI_COMMIT_SHA", ""),
        base_branch=said.get("CI_MERGE_REQUEST_TARGET_BRANCH_NAME") or said.get("CI_DEFAULT_BRANCH", ""),
    )


def _github(said: Mapping[str, str], read: Callable[[str], bytes]) -> PullRequest:
    host = Host.GITEA if said.get("GITEA_ACTIONS") else Host.GITHUB
    server, project = said.get("GITHUB_SERVER_URL", "https://github.com").rstrip("/"), said.get("GITHUB_REPOSITORY", "")
    event = _event(said.get("GITHUB_EVENT_PATH", ""), read)
    default = f"{server}/api/v1" if host is Host.GITEA else "https://api.github.com"
    return PullRequest(
        host=host,
        api=(said.get("GITHUB_API_URL") or default).rstrip("/"),
        project=project,
        number=str(event.number or ""),
        remote=f"{server}/{project}",
        head_branch=said.get("GITHUB_HEAD_REF") or said.get("GITHUB_REF_NAME", ""),
        # The commit of the job is the merge that the host has made.
        head_commit=event.head or said.get("GITHUB_SHA", ""),
        base_branch=said.get("GITHUB_BASE_REF", ""),
    )


class _Event(msgspec.Struct, frozen=True):
    number: int = 0
    head: str = ""


def _event(path: str, read: Callable[[str], bytes]) -> _Event:
    """What led to the job, as GitHub and Gitea write it to a file."""
    try:
        said = msgspec.json.decode(read(path)) if path else {}
        request = said.get("pull_request") or {}
        return _Event(int(request.get("number") or said.get("number") or 0), str(request["head"]["sha"]))
    except (OSError, KeyError, TypeError, AttributeError, ValueError, msgspec.DecodeError):
        return _Event()


def token_of(environment: Mapping[str, str]) -> str:
    """What lets us comment."""
    found = next((environment[name] for name in TOKENS if environment.get(name)), "")
    if not found:
        raise CommentFailed(f"there is no token to comment with; set one of {', '.join(TOKENS)}")
    return found


def comment(request: PullRequest, token: str, marker: str, text: str) -> str:
    """Leave the text as a comment, in the place of the one with the marker if there is one; what was done."""
    import httpx2

    if not (request.project and request.number):
        raise CommentFailed("which pull request to comment is not known; say --pull-request NUMBER, in a job of its CI")
    header = {
        Host.GITHUB: ("authorization", f"Bearer {token}"),
        Host.GITEA: ("authorization", f"token {token}"),
        Host.GITLAB: ("private-token", token),
    }[request.host]
    try:
        with httpx2.Client(headers=[header, ("accept", "application/json")], timeout=TIMEOUT_SECONDS) as client:
            return _written(client, request, marker, text)
    except httpx2.InvalidURL as error:
        raise CommentFailed(f"{request.api} is no address of a Git host ({error})") from error
    except httpx2.HTTPError as error:
        raise TemporaryError(
            f"{request.api} cannot be reached to comment ({type(error).__name__}); try again"
        ) from error


def _written(client: "httpx2.Client", request: PullRequest, marker: str, text: str) -> str:
    if request.host is Host.GITLAB:
        listed = f"{request.api}/projects/{request.project}/merge_requests/{request.number}/notes"
        one, change = listed, "PUT"
    else:
        listed = f"{request.api}/repos/{request.project}/issues/{request.number}/comments"
        one, change = f"{request.api}/repos/{request.project}/issues/comments", "PATCH"
    earlier = _earlier(client, listed, marker)
    if earlier is None:
        _asked(client, "POST", listed, text)
        return "commented"
    _asked(client, change, f"{one}/{earlier}", text)
    return "comment brought up to date"


def _earlier(client: "httpx2.Client", listed: str, marker: str) -> int | None:
    """The comment that an earlier run has left."""
    last: list[dict[str, Any]] = []
    for page in range(1, 101):
        answer = client.get(listed, params={"per_page": _PAGE, "limit": _PAGE, "page": page})
        found = _comments(answer)
        for each in found:
            if str(each.get("body", "")).startswith(marker):
                return int(each["id"])
        # Gitea has no pages: it answers the second like the first.
        if len(found) < _PAGE or found == last:
            return None
        last = found
    return None


def _comments(answer: "httpx2.Response") -> list[dict[str, Any]]:
    _refuse_failure(answer)
    try:
        return msgspec.json.decode(answer.content, type=list[dict[str, Any]])
    except msgspec.DecodeError as error:
        raise CommentFailed(f"{answer.request.url} answered no list of comments; is it the API's address?") from error


def _asked(client: "httpx2.Client", method: str, url: str, text: str) -> None:
    _refuse_failure(client.request(method, url, json={"body": text}))


def _refuse_failure(answer: "httpx2.Response") -> None:
    if not answer.is_success:
        raise CommentFailed(
            f"{answer.request.url.host} answered {answer.status_code} to {answer.request.method} "
            f"{answer.request.url.path}; may the token comment there?"
        )
