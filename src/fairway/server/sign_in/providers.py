"""Who else may vouch for people: what a server is told about its sign-in providers when it starts.

Data only, so that whoever reads a configuration file needs none of the libraries that talk to a provider.
"""

from collections.abc import Sequence

import msgspec

from fairway.errors import UserError
from fairway.server.sign_in.names import is_provider_name


class BadSignInProvider(UserError):
    """A sign-in provider that cannot be used as it is described."""


class OidcProvider(msgspec.Struct, frozen=True, kw_only=True, tag="oidc"):
    """A provider that speaks OpenID Connect."""

    #: Stands in our addresses and behind the @ of everybody's name, so it should never change.
    name: str
    #: What the button says; empty for the name.
    title: str = ""
    #: What its tokens say they are from; its other addresses are found below this one.
    issuer: str
    client_id: str
    client_secret: str
    #: Where the provider sends people back to; empty for our own address and /sign-in/NAME/callback.
    redirect_uri: str = ""
    #: Instead of what the provider says about itself.
    authorization_endpoint: str = ""
    token_endpoint: str = ""
    user_info_endpoint: str = ""
    #: On top of `openid`; empty for the usual ones.
    scopes: tuple[str, ...] = ()
    #: Where groups are found; empty for the usual places.
    roles_claim: str = ""
    #: Where the name is found; empty for the usual places.
    username_claim: str = ""
    #: An HTTP proxy on the way there; empty for what the environment says.
    proxy_url: str = ""
    #: How long sessions last; 0 for what the settings say.
    session_hours: int = 0

    def __repr__(self) -> str:
        return f"OidcProvider(name={self.name!r}, issuer={self.issuer!r}, client_secret=…)"


class GitHubProvider(msgspec.Struct, frozen=True, kw_only=True, tag="github"):
    """GitHub, or an enterprise's own."""

    name: str
    title: str = ""
    client_id: str
    client_secret: str
    #: An enterprise's own; empty for github.com.
    base_url: str = ""
    redirect_uri: str = ""
    proxy_url: str = ""
    session_hours: int = 0

    def __repr__(self) -> str:
        return f"GitHubProvider(name={self.name!r}, base_url={self.base_url!r}, client_secret=…)"


SignInProvider = OidcProvider | GitHubProvider

#: How they write themselves.
_WRITTEN = {"github": "GitHub", "gitlab": "GitLab", "google": "Google", "okta": "Okta"}


def shown_title(provider: SignInProvider) -> str:
    """What the button of the provider says."""
    return provider.title or _WRITTEN.get(provider.name, provider.name)


def refuse_bad_providers(providers: Sequence[SignInProvider]) -> None:
    """Raise BadSignInProvider for the first that cannot be used."""
    seen: set[str] = set()
    for provider in providers:
        if not is_provider_name(provider.name):
            raise BadSignInProvider(
                f"a sign-in provider is called {provider.name!r}; expected 1 to 32 of a-z, 0-9 and '-', "
                "and not link, out, style or local"
            )
        if provider.name in seen:
            raise BadSignInProvider(f"two sign-in providers are called {provider.name!r}; give each a name of its own")
        if isinstance(provider, OidcProvider) and not provider.issuer.startswith(("https://", "http://")):
            raise BadSignInProvider(
                f"the issuer of the sign-in provider {provider.name!r} is {provider.issuer!r}; expected its address"
            )
        seen.add(provider.name)
