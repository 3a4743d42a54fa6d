"""A small OpenID Connect provider on a real port, which checks what a real one checks and can be told to misbehave."""

import base64
import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey
from litestar import Litestar, Request, Response, get, post
from litestar.datastructures import State
from litestar.types import ASGIApp

from fairway.server.http_api.listener import listening
from tests.unit.model.builders import NOW

CLIENT, SECRET = "fairway", "s3cret"
AnyRequest = Request[Any, Any, State]


class OidcDouble:
    """Signs one person in. `claims` and the rest may be changed between two steps."""

    def __init__(self) -> None:
        self.url = ""
        self.key = RSAKey.generate_key(2048, {"kid": "key-1"})
        self.published = [self.key]
        self.algorithm = "RS256"
        self.claims: dict[str, Any] = {"sub": "7f3", "preferred_username": "jo", "groups": ["cart/dev"]}
        self.user_info: dict[str, Any] = {"sub": "7f3", "name": "Jo Doe"}
        #: Changes a token's claims just before it is signed.
        self.twist: Callable[[dict[str, Any]], dict[str, Any]] = lambda claims: claims
        self.asked: dict[str, str] = {}
        self.fetches: list[str] = []

    def departed(self, address: str) -> tuple[str, str]:
        """What a browser that was sent to this address comes back with: a code and the state."""
        parts = urlsplit(address)
        assert f"{parts.scheme}://{parts.netloc}{parts.path}" == f"{self.url}/auth"
        self.asked = {name: values[0] for name, values in parse_qs(parts.query, strict_parsing=True).items()}
        assert (self.asked["client_id"], self.asked["response_type"]) == (CLIENT, "code")
        assert (self.asked["code_challenge_method"], "openid" in self.asked["scope"].split()) == ("S256", True)
        return "the-code", self.asked["state"]

    def app(self) -> ASGIApp:
        @get("/.well-known/openid-configuration")
        async def configuration() -> dict[str, Any]:
            self.fetches.append("configuration")
            paths = {"authorization_endpoint": "auth", "token_endpoint": "token", "jwks_uri": "keys"}
            paths["userinfo_endpoint"] = "me"
            return {"issuer": self.url, **{name: f"{self.url}/{path}" for name, path in paths.items()}}

        @get("/keys")
        async def keys() -> dict[str, Any]:
            self.fetches.append("keys")
            return {"keys": [key.as_dict(private=False) for key in self.published]}

        @post("/token", status_code=200)
        async def token(request: AnyRequest) -> Response[Any]:
            fields = dict(parse_qsl((await request.body()).decode()))
            basic = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
            challenge = base64.urlsafe_b64encode(hashlib.sha256(fields["code_verifier"].encode()).digest())
            right = (
                request.headers.get("authorization") == f"Basic {basic}"
                and fields["code"] == "the-code"
                and fields["redirect_uri"] == self.asked["redirect_uri"]
                and challenge.decode().rstrip("=") == self.asked["code_challenge"]
            )
            if not right:
                return Response({"error": "invalid_grant"}, status_code=400)
            return Response({"access_token": "opaque", "token_type": "Bearer", "id_token": self.id_token()})

        @get("/me")
        async def me(request: AnyRequest) -> dict[str, Any]:
            assert request.headers["authorization"] == "Bearer opaque"
            return self.user_info

        return Litestar([configuration, keys, token, me], openapi_config=None, logging_config=None)

    def id_token(self) -> str:
        now = int(NOW.timestamp())
        claims = {"iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": self.asked["nonce"]}
        header = {"alg": self.algorithm, "kid": self.key.kid}
        return jwt.encode(header, self.twist({**claims, **self.claims}), self.key, algorithms=[self.algorithm])


@asynccontextmanager
async def an_oidc_double() -> AsyncIterator[OidcDouble]:
    double = OidcDouble()
    async with listening(double.app(), "127.0.0.1:0", 1) as port:
        double.url = f"http://127.0.0.1:{port}"
        yield double
