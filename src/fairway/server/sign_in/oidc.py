"""Sign-in with OpenID Connect: the code flow with PKCE, and a token that is believed when everything about it fits.

Signature (by a key that the provider publishes, with an algorithm that no secret of ours could forge), issuer,
audience, nonce and time are checked by joserfc and here. What the provider says about itself is read once an hour; its
keys are read again when a token names one that is not known.
"""

import hmac
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec
import structlog
from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet

from fairway.clock import Clock
from fairway.server.sign_in.journeys import Journey, ProviderUnavailable, Vouched
from fairway.server.sign_in.provider_client import departure_address, fetched, redeemed, talking_to
from fairway.server.sign_in.providers import OidcProvider
from fairway.server.status_codes import Forbidden

#: Signatures by a key pair: with a shared secret, whoever checks could sign.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
_SCOPES = ("profile", "email", "groups")
_GROUP_CLAIMS = ("groups", "roles", "cognito:groups", "custom:roles", "custom:groups")
_NAME_CLAIMS = ("username", "preferred_username", "name", "cognito:username", "sub")
_BELIEVED_FOR = timedelta(hours=1)
_LEEWAY_SECONDS = 60

_log = structlog.get_logger()


class _About(msgspec.Struct, frozen=True, kw_only=True):
    """What a provider says about itself."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str = ""
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)


class OidcAuthority:
    """Talks to one provider."""

    def __init__(self, provider: OidcProvider, clock: Clock) -> None:
        self._provider = provider
        self._clock = clock
        self._about: tuple[datetime, _About] | None = None
        self._keys: KeySet | None = None

    @property
    def provider(self) -> OidcProvider:
        """What it was told about the provider."""
        return self._provider

    async def departure(self, journey: Journey) -> str:
        """The address at the provider that the browser is sent to."""
        about = await self._introduced()
        scope = " ".join(dict.fromkeys(("openid", *(self._provider.scopes or _SCOPES))))
        async with talking_to(self._provider, scope=scope) as client:
            return await departure_address(client, about.authorization_endpoint, journey, nonce=journey.nonce)

    async def arrival(self, journey: Journey, code: str) -> Vouched:
        """Whom the provider vouches for, by a token that is all in order and what it says about them besides."""
        about = await self._introduced()
        async with talking_to(self._provider, token_endpoint_auth_method=_method(about)) as client:
            tokens = await redeemed(client, about.token_endpoint, journey, code)
            claims = await self._believed(client, about, str(tokens.get("id_token") or ""), journey)
            if about.userinfo_endpoint:
                more = (await fetched(client, about.userinfo_endpoint)).json()
                claims = self._joined(claims, more)
        return vouched_by(self._provider, claims)

    async def _introduced(self) -> _About:
        now = self._clock.now()
        if self._about is not None and now < self._about[0] + _BELIEVED_FOR:
            return self._about[1]
        issuer = self._provider.issuer
        async with talking_to(self._provider) as client:
            address = f"{issuer.rstrip('/')}/.well-known/openid-configuration"
            content = (await fetched(client, address, public=True)).content
            said = msgspec.json.decode(content, type=_About)
        if said.issuer != issuer:
            raise ProviderUnavailable(f"{self._provider.name} says that it is {said.issuer!r}; expected {issuer!r}")
        about = msgspec.structs.replace(
            said,
            authorization_endpoint=self._provider.authorization_endpoint or said.authorization_endpoint,
            token_endpoint=self._provider.token_endpoint or said.token_endpoint,
            userinfo_endpoint=self._provider.user_info_endpoint or said.userinfo_endpoint,
        )
        self._about = (now, about)
        return about

    async def _believed(self, client: Any, about: _About, token: str, journey: Journey) -> dict[str, Any]:
        """What the token claims; Forbidden when anything about it does not fit."""
        try:
            claims = await self._verified(client, about, token)
            self._refuse_wrong_claims(claims, journey)
        except (JoseError, ValueError, TypeError) as error:
            _log.warning("an ID token was not believed", provider=self._provider.name, error=str(error))
            raise Forbidden(
                f"the token of {self._provider.name} is not one that can be believed ({type(error).__name__}); "
                "begin again, and if it stays so, ask an administrator to look into the server's log"
            ) from error
        return claims

    async def _verified(self, client: Any, about: _About, token: str) -> dict[str, Any]:
        fresh = self._keys is None
        keys = self._keys or await self._fetched_keys(client, about)
        try:
            return jwt.decode(token, keys, algorithms=ALGORITHMS).claims
        except InvalidKeyIdError:
            if fresh:
                raise
        # The provider has new keys.
        return jwt.decode(token, await self._fetched_keys(client, about), algorithms=ALGORITHMS).claims

    async def _fetched_keys(self, client: Any, about: _About) -> KeySet:
        found = (await fetched(client, about.jwks_uri, public=True)).json()
        self._keys = KeySet.import_key_set(found)
        return self._keys

    def _refuse_wrong_claims(self, claims: dict[str, Any], journey: Journey) -> None:
        registry = jwt.JWTClaimsRegistry(
            now=int(self._clock.now().timestamp()),
            leeway=_LEEWAY_SECONDS,
            iss={"essential": True, "value": self._provider.issuer},
            aud={"essential": True, "value": self._provider.client_id},
            sub={"essential": True},
            exp={"essential": True},
            iat={"essential": True},
            nonce={"essential": True},
        )
        registry.validate(claims)
        if not hmac.compare_digest(str(claims["nonce"]).encode(), journey.nonce.encode()):
            raise ValueError("the nonce is another one")
        # A token for several readers says which of them asked for it.
        if claims.get("azp", self._provider.client_id) != self._provider.client_id:
            raise ValueError("the token was given to somebody else")

    def _joined(self, claims: dict[str, Any], more: Any) -> dict[str, Any]:
        if not isinstance(more, dict) or more.get("sub") != claims["sub"]:
            raise Forbidden(f"{self._provider.name} tells of somebody else than its token; begin again")
        # What is signed counts; the rest comes on top.
        return {**more, **claims}


def vouched_by(provider: OidcProvider, claims: Mapping[str, Any]) -> Vouched:
    """Somebody as the claims of a token describe them."""
    name_claims = (provider.username_claim,) if provider.username_claim else _NAME_CLAIMS
    group_claims = (provider.roles_claim,) if provider.roles_claim else _GROUP_CLAIMS
    names = [claims[claim] for claim in name_claims if isinstance(claims.get(claim), str)]
    groups = [group for claim in group_claims for group in _texts(claims.get(claim))]
    display_name = claims.get("name")
    return Vouched(
        provider=provider.name,
        subject=str(claims["sub"]),
        names=tuple(names),
        display_name=display_name if isinstance(display_name, str) else "",
        groups=tuple(dict.fromkeys(groups)),
    )


def _texts(value: Any) -> list[str]:
    """A claim that is a text, or a list of them."""
    found = value if isinstance(value, list) else [value]
    return [text for text in found if isinstance(text, str) and text]


def _method(about: _About) -> str:
    known = about.token_endpoint_auth_methods_supported
    basic, posted = "client_secret_basic", "client_secret_post"
    return posted if posted in known and basic not in known else basic
