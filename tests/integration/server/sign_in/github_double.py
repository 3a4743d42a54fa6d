"""A small GitHub on a real port: OAuth, one account, and its teams in pages.

Its shapes were written from GitHub's documentation and never compared with the real one, which no test may reach. It
knows OAuth apps and none of GitHub Apps, one scope, PKCE as GitHub takes it, and pages by the `Link` header. It has no
rate limits, no secondary e-mail addresses, no organisation that forbids the app, and never asks the person anything.
"""

import base64
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

from litestar import Litestar, Request, Response, get, post
from litestar.datastructures import State
from litestar.types import ASGIApp

from fairway.server.http_api.listener import listening

CLIENT, SECRET = "Iv1.abc", "s3cret"
AnyRequest = Request[Any, Any, State]


class GitHubDouble:
    """Signs one person in, with whatever teams a test gives them."""

    def __init__(self) -> None:
        self.url = ""
        self.account: dict[str, Any] = {"id": 583231, "login": "octocat", "name": "The Octocat"}
        self.teams: list[dict[str, Any]] = [{"slug": "dev", "name": "Dev!", "organization": {"login": "cart"}}]
        #: Where the next page is said to be, instead of where it is.
        self.next_page = ""
        self.asked: dict[str, str] = {}

    def departed(self, address: str) -> tuple[str, str]:
        """What a browser that was sent to this address comes back with: a code and the state."""
        parts = urlsplit(address)
        assert f"{parts.scheme}://{parts.netloc}{parts.path}" == f"{self.url}/login/oauth/authorize"
        self.asked = {name: values[0] for name, values in parse_qs(parts.query, strict_parsing=True).items()}
        assert (self.asked["client_id"], self.asked["scope"]) == (CLIENT, "read:org")
        return "the-code", self.asked["state"]

    def app(self) -> ASGIApp:
        @post("/login/oauth/access_token", status_code=200)
        async def token(request: AnyRequest) -> dict[str, str]:
            assert request.headers["accept"] == "application/json"
            fields = dict(parse_qsl((await request.body()).decode()))
            challenge = base64.urlsafe_b64encode(hashlib.sha256(fields["code_verifier"].encode()).digest())
            right = {
                "client_id": CLIENT,
                "client_secret": SECRET,
                "code": "the-code",
                "redirect_uri": self.asked["redirect_uri"],
            }
            fits = challenge.decode().rstrip("=") == self.asked["code_challenge"]
            if not fits or {name: fields.get(name) for name in right} != right:
                # GitHub says what is wrong with status 200.
                return {"error": "bad_verification_code", "error_description": "The code is incorrect or expired."}
            return {"access_token": "gho_1", "token_type": "bearer", "scope": "read:org"}

        @get("/api/v3/user")
        async def user(request: AnyRequest) -> dict[str, Any]:
            assert request.headers["authorization"] == "Bearer gho_1"
            return self.account

        @get("/api/v3/user/teams")
        async def teams(request: AnyRequest) -> Response[Any]:
            assert request.headers["authorization"] == "Bearer gho_1"
            size, number = int(request.query_params["per_page"]), int(request.query_params.get("page", "1"))
            shown = self.teams[size * (number - 1) : size * number]
            following = f"{self.url}/api/v3/user/teams?per_page={size}&page={number + 1}"
            more = size * number < len(self.teams)
            links = {"link": f'<{self.next_page or following}>; rel="next"'} if more else {}
            return Response(shown, headers=links)

        return Litestar([token, user, teams], openapi_config=None, logging_config=None)


@asynccontextmanager
async def a_github_double() -> AsyncIterator[GitHubDouble]:
    double = GitHubDouble()
    async with listening(double.app(), "127.0.0.1:0", 1) as port:
        double.url = f"http://127.0.0.1:{port}"
        yield double
