"""Comments on pull requests, at a server that behaves as the APIs of Git hosts do."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from fairway.cli.pull_requests import CommentFailed, Host, PullRequest, comment


class GitHost:
    """What is asked, and the comments that there are."""

    def __init__(self) -> None:
        self.comments: dict[int, str] = {}
        self.asked: list[tuple[str, str]] = []
        self.tokens: set[str] = set()
        self.address = ""
        #: Whether it gives comments out in pages; Gitea does not.
        self.has_pages = True

    def answer(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        where, _, query = path.partition("?")
        self.asked.append((method, where))
        if "denied" in where:
            return 403, {}
        if method == "GET":
            page = int(dict(each.split("=") for each in query.split("&"))["page"])
            found = [{"id": number, "body": text} for number, text in self.comments.items()]
            return 200, found[(page - 1) * 100 : page * 100] if self.has_pages else found
        number = len(self.comments) + 1 if method == "POST" else int(where.rpartition("/")[2])
        self.comments[number] = body["body"]
        return 201, {"id": number}


@contextmanager
def a_host() -> Iterator[GitHost]:
    host = GitHost()

    class Handler(BaseHTTPRequestHandler):
        def _handle(self) -> None:
            length = int(self.headers.get("content-length", 0))
            body = json.loads(self.rfile.read(length)) if length else None
            host.tokens.add(self.headers.get("authorization") or self.headers.get("private-token") or "")
            status, said = host.answer(self.command, self.path, body)
            content = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_PATCH = _handle

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        host.address = f"http://127.0.0.1:{server.server_address[1]}"
        serving = threading.Thread(target=server.serve_forever, args=(0.01,))
        serving.start()
        yield host
        server.shutdown()
        serving.join()


@pytest.mark.parametrize(
    ("kind", "project", "listed", "one", "change", "token"),
    [
        pytest.param(
            Host.GITHUB,
            "a/b",
            "/repos/a/b/issues/7/comments",
            "/repos/a/b/issues/comments/151",
            "PATCH",
            "Bearer t",
            id="GitHub",
        ),
        pytest.param(
            Host.GITEA,
            "a/b",
            "/repos/a/b/issues/7/comments",
            "/repos/a/b/issues/comments/151",
            "PATCH",
            "token t",
            id="Gitea",
        ),
        pytest.param(
            Host.GITLAB,
            "12",
            "/projects/12/merge_requests/7/notes",
            "/projects/12/merge_requests/7/notes/151",
            "PUT",
            "t",
            id="GitLab",
        ),
    ],
)
def test_a_comment_takes_the_place_of_the_one_before(
    kind: Host, project: str, listed: str, one: str, change: str, token: str
) -> None:
    with a_host() as host:
        host.comments = dict.fromkeys(range(1, 151), "of somebody else")
        request = PullRequest(host=kind, api=host.address, project=project, number="7")

        done = [comment(request, "t", "<!-- x -->", f"<!-- x -->{number}") for number in (1, 2)]

    assert done == ["commented", "comment brought up to date"]
    assert {text for text in host.comments.values() if "<!--" in text} == {"<!-- x -->2"}
    assert host.asked == [("GET", listed), ("GET", listed), ("POST", listed)] + [("GET", listed)] * 2 + [(change, one)]
    assert host.tokens == {token}


def test_a_host_that_gives_out_all_comments_at_once_is_not_asked_for_ever() -> None:
    with a_host() as host:
        host.comments, host.has_pages = dict.fromkeys(range(1, 151), "of somebody else"), False
        request = PullRequest(host=Host.GITEA, api=host.address, project="a/b", number="7")

        done = comment(request, "t", "<!-- x -->", "<!-- x -->")

    assert (done, [method for method, _ in host.asked]) == ("commented", ["GET", "GET", "POST"])


def test_a_host_that_refuses_is_named_without_the_token() -> None:
    with a_host() as host:
        request = PullRequest(host=Host.GITHUB, api=host.address, project="denied/b", number="7")
        with pytest.raises(CommentFailed, match=r"answered 403 to GET /repos/denied/b/.* may the token") as refused:
            comment(request, "hunter2", "m", "text")

    assert "hunter2" not in str(refused.value)


def test_without_a_number_nobody_is_asked() -> None:
    request = PullRequest(host=Host.GITHUB, api="http://127.0.0.1:9", project="a/b")
    with pytest.raises(CommentFailed, match="--pull-request NUMBER"):
        comment(request, "t", "m", "text")


@pytest.mark.parametrize("api", ["http://256.1.1.1", "http://host:port"])
def test_what_is_no_address_of_a_host_is_said(api: str) -> None:
    request = PullRequest(host=Host.GITHUB, api=api, project="a/b", number="7")

    with pytest.raises(CommentFailed, match="is no address of a Git host"):
        comment(request, "t", "m", "text")
