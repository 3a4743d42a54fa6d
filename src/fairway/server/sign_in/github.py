"""Sign-in with GitHub, or an enterprise's own: OAuth, then who it is and in which teams.

A team counts as the group `organisation/team`, by its slug. All pages of teams are read, since somebody in a hundred
teams should not lose a role by it; a page that leads to another host is not followed.
"""

from typing import Any

import msgspec

from fairway.server.sign_in.journeys import Journey, ProviderUnavailable, Vouched
from fairway.server.sign_in.provider_client import departure_address, fetched, redeemed, talking_to
from fairway.server.sign_in.providers import GitHubProvider
from fairway.server.sign_in.same_origin import origin_of

_PUBLIC = "https://github.com"
_PUBLIC_API = "https://api.github.com"
_PAGE = 100
#: Ten thousand teams.
_MOST_PAGES = 100


class _Account(msgspec.Struct, frozen=True):
    id: int
    login: str
    name: str | None = None


class _Organisation(msgspec.Struct, frozen=True):
    login: str


class _Team(msgspec.Struct, frozen=True):
    slug: str
    organization: _Organisation


class GitHubAuthority:
    """Talks to one GitHub."""

    def __init__(self, provider: GitHubProvider) -> None:
        self._provider = provider
        self._web = (provider.base_url or _PUBLIC).rstrip("/")
        self._api = _PUBLIC_API if self._web == _PUBLIC else f"{self._web}/api/v3"

    @property
    def provider(self) -> GitHubProvider:
        """What it was told about the provider."""
        return self._provider

    async def departure(self, journey: Journey) -> str:
        """The address at GitHub that the browser is sent to."""
        async with talking_to(self._provider, scope="read:org") as client:
            return await departure_address(client, f"{self._web}/login/oauth/authorize", journey)

    async def arrival(self, journey: Journey, code: str) -> Vouched:
        """Whom GitHub vouches for, with all their teams."""
        async with talking_to(self._provider, token_endpoint_auth_method="client_secret_post") as client:  # noqa: S106  # the name of a method
            await redeemed(client, f"{self._web}/login/oauth/access_token", journey, code)
            account = msgspec.json.decode((await fetched(client, f"{self._api}/user")).content, type=_Account)
            groups = await self._groups(client)
        return Vouched(
            provider=self._provider.name,
            subject=str(account.id),
            names=(account.login,),
            display_name=account.name or "",
            groups=groups,
        )

    async def _groups(self, client: Any) -> tuple[str, ...]:
        address = f"{self._api}/user/teams?per_page={_PAGE}"
        groups: list[str] = []
        for _ in range(_MOST_PAGES):
            response = await fetched(client, address)
            teams = msgspec.json.decode(response.content, type=list[_Team])
            groups += [f"{team.organization.login}/{team.slug}" for team in teams]
            address = str(response.links.get("next", {}).get("url", ""))
            if not address:
                return tuple(dict.fromkeys(groups))
            if origin_of(address) != origin_of(self._api):
                raise ProviderUnavailable(
                    f"{self._provider.name} sends us to another host for more teams; not followed"
                )
        raise ProviderUnavailable(f"{self._provider.name} has more than {_MOST_PAGES} pages of teams; use fewer teams")
