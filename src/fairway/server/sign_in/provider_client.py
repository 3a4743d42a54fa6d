"""How we talk to sign-in providers over HTTP: with a timeout, a second try to ask, and errors in our own words.

Loaded only by servers that have a provider, because the libraries take memory.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import msgspec
import structlog
from authlib.integrations.base_client.errors import OAuthError  # type: ignore[import-untyped]  # authlib has no types
from authlib.integrations.httpx_client import AsyncOAuth2Client  # type: ignore[import-untyped]  # authlib has no types

from fairway.server.sign_in.journeys import Journey, ProviderUnavailable
from fairway.server.sign_in.providers import SignInProvider
from fairway.server.status_codes import Forbidden

_SECONDS = 10.0
_TRIES = 2

_log = structlog.get_logger()


@asynccontextmanager
async def talking_to(provider: SignInProvider, **settings: Any) -> AsyncIterator[Any]:
    """An OAuth client for the provider; what goes wrong inside becomes ProviderUnavailable or Forbidden."""
    client = AsyncOAuth2Client(
        client_id=provider.client_id,
        client_secret=provider.client_secret,
        code_challenge_method="S256",
        timeout=_SECONDS,
        proxy=provider.proxy_url or None,
        **settings,
    )
    try:
        async with client:
            yield client
    except OAuthError as error:
        _log.warning("a sign-in provider refused", provider=provider.name, error=error.error)
        raise Forbidden(
            f"{provider.name} did not accept the sign-in ({error.error}); begin again, and if it stays so, check the "
            "client id, secret and redirect address that the server was given for it"
        ) from error
    except (httpx2.HTTPError, httpx2.InvalidURL, msgspec.DecodeError, ValueError) as error:
        _log.warning("a sign-in provider cannot be used", provider=provider.name, error=type(error).__name__)
        raise ProviderUnavailable(
            f"{provider.name} does not answer as a sign-in provider should; try again in a moment"
        ) from error


async def departure_address(client: Any, endpoint: str, journey: Journey, **extra: str) -> str:
    """Where the browser is sent to, with the challenge that only whoever sent it can meet."""
    address, _ = client.create_authorization_url(
        endpoint, state=journey.state, code_verifier=journey.verifier, redirect_uri=journey.callback, **extra
    )
    return str(address)


async def redeemed(client: Any, endpoint: str, journey: Journey, code: str) -> dict[str, Any]:
    """What the provider gives for a code: tokens. A code is redeemed once, so this is not tried again."""
    token: dict[str, Any] = await client.fetch_token(
        endpoint,
        grant_type="authorization_code",
        code=code,
        code_verifier=journey.verifier,
        redirect_uri=journey.callback,
        headers={"Accept": "application/json"},
    )
    return token


async def fetched(client: Any, address: str, *, public: bool = False) -> httpx2.Response:
    """An answer of the provider that says that all is well; a connection that breaks is tried once more."""
    for attempt in range(_TRIES):
        try:
            response: httpx2.Response = await client.request(
                "GET", address, withhold_token=public, headers={"Accept": "application/json"}
            )
            break
        except httpx2.TransportError:
            if attempt == _TRIES - 1:
                raise
    response.raise_for_status()
    return response
