"""The sign-in providers of this server, by name. What talks to one is loaded when somebody first goes there."""

from collections.abc import Sequence

from fairway.clock import Clock
from fairway.server.sign_in.journeys import Authority
from fairway.server.sign_in.providers import OidcProvider, SignInProvider, refuse_bad_providers
from fairway.server.store.errors import NotFound


class Authorities:
    """Everybody who may vouch for people here."""

    def __init__(self, providers: Sequence[SignInProvider], clock: Clock) -> None:
        refuse_bad_providers(providers)
        self.providers = tuple(providers)
        self._clock = clock
        self._loaded: dict[str, Authority] = {}

    def get(self, name: str) -> Authority:
        """The one of this name; NotFound without one."""
        if name not in self._loaded:
            provider = next((provider for provider in self.providers if provider.name == name), None)
            if provider is None:
                raise NotFound("sign-in provider", name)
            self._loaded[name] = self._load(provider)
        return self._loaded[name]

    def _load(self, provider: SignInProvider) -> Authority:
        # Their libraries take memory that a server without providers can spare.
        if isinstance(provider, OidcProvider):
            from fairway.server.sign_in.oidc import OidcAuthority

            return OidcAuthority(provider, self._clock)
        from fairway.server.sign_in.github import GitHubAuthority

        return GitHubAuthority(provider)
