"""The Git hosts that a webhook can be made for, and the secret that each of them takes."""

import base64
import enum
import secrets
from collections.abc import Mapping

from fairway.server.webhooks.bitbucket import Bitbucket
from fairway.server.webhooks.delivery import Provider
from fairway.server.webhooks.generic import Generic
from fairway.server.webhooks.gitea import Gitea
from fairway.server.webhooks.github import GitHub
from fairway.server.webhooks.gitlab import PREFIX, GitLab


class ProviderName(enum.Enum):
    """Who sends."""

    #: github.com, GitHub Enterprise.
    GITHUB = "github"
    #: gitlab.com, GitLab of one's own.
    GITLAB = "gitlab"
    #: Gitea, Forgejo, Codeberg.
    GITEA = "gitea"
    #: Bitbucket Cloud and Data Center.
    BITBUCKET = "bitbucket"
    #: Anything that can compute an HMAC.
    GENERIC = "generic"


PROVIDERS: Mapping[ProviderName, Provider] = {
    ProviderName.GITHUB: GitHub(),
    ProviderName.GITLAB: GitLab(),
    ProviderName.GITEA: Gitea(),
    ProviderName.BITBUCKET: Bitbucket(),
    ProviderName.GENERIC: Generic(),
}


def new_secret(provider: ProviderName) -> str:
    """A secret of 256 bits, in a form that the provider's settings accept."""
    drawn = secrets.token_bytes(32)
    return f"{PREFIX}{base64.b64encode(drawn).decode()}" if provider is ProviderName.GITLAB else drawn.hex()
