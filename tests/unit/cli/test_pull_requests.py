"""What a job of a CI says about its pull request."""

import msgspec
import pytest

from fairway.cli.pull_requests import CommentFailed, Host, PullRequest, from_environment, token_of

EVENT = msgspec.json.encode({"number": 7, "pull_request": {"number": 7, "head": {"sha": "c0ffee"}}})
GITHUB = {
    "GITHUB_ACTIONS": "true",
    "GITHUB_REPOSITORY": "acme/shop",
    "GITHUB_SERVER_URL": "https://github.example",
    "GITHUB_API_URL": "https://github.example/api/v3",
    "GITHUB_EVENT_PATH": "/event.json",
    "GITHUB_HEAD_REF": "topic",
    "GITHUB_BASE_REF": "main",
    "GITHUB_SHA": "of the merge that the host has made",
}
GITLAB = {
    "GITLAB_CI": "true",
    "CI_API_V4_URL": "https://gitlab.example/api/v4",
    "CI_PROJECT_ID": "12",
    "CI_PROJECT_URL": "https://gitlab.example/acme/shop",
    "CI_MERGE_REQUEST_IID": "7",
    "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": "topic",
    "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
    "CI_COMMIT_SHA": "c0ffee",
}


def a_pull_request(host: Host, api: str, project: str, remote: str) -> PullRequest:
    return PullRequest(
        host=host,
        api=api,
        project=project,
        number="7",
        remote=remote,
        head_branch="topic",
        head_commit="c0ffee",
        base_branch="main",
    )


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        pytest.param(
            GITHUB,
            a_pull_request(
                Host.GITHUB, "https://github.example/api/v3", "acme/shop", "https://github.example/acme/shop"
            ),
            id="GitHub",
        ),
        pytest.param(
            {**GITHUB, "GITEA_ACTIONS": "true", "GITHUB_API_URL": ""},
            a_pull_request(
                Host.GITEA, "https://github.example/api/v1", "acme/shop", "https://github.example/acme/shop"
            ),
            id="Gitea",
        ),
        pytest.param(
            GITLAB,
            a_pull_request(Host.GITLAB, "https://gitlab.example/api/v4", "12", "https://gitlab.example/acme/shop"),
            id="GitLab",
        ),
        pytest.param({}, None, id="nowhere"),
    ],
)
def test_a_job_knows_its_pull_request(environment: dict[str, str], expected: PullRequest | None) -> None:
    assert from_environment(environment, lambda _: EVENT) == expected


@pytest.mark.parametrize("event", [b"", b"{}", b"[]", b'{"pull_request": 1}', b'{"pull_request": {"head": null}}'])
def test_an_event_of_another_sort_names_no_pull_request(event: bytes) -> None:
    found = from_environment(GITHUB, lambda _: event)

    assert found is not None
    assert (found.number, found.head_commit) == ("", GITHUB["GITHUB_SHA"])


def test_the_token_is_the_first_that_is_set() -> None:
    assert token_of({"GITHUB_TOKEN": "", "GITLAB_TOKEN": "x", "GITEA_TOKEN": "y"}) == "y"
    with pytest.raises(CommentFailed, match="set one of FAIRWAY_GIT_TOKEN"):
        token_of({})
