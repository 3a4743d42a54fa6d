"""The control plane's own file, PipeCD's kind `ControlPlane`.

Fairway reads all of it, so that a team can see what of its old file still means something; which parts the server
uses is the server's to say.
"""

from typing import Any, Literal

import msgspec

from fairway.config.providers import DATASTORES, FILESTORES
from fairway.config.scalars import Duration
from fairway.config.settings import Problems, Settings, SettingsTypes, ZeroMeansDefault


class Datastore(Settings, frozen=True):
    """Where records are kept."""

    type: Literal["FIRESTORE", "MYSQL"]
    config: dict[str, Any] = {}

    def variants(self) -> SettingsTypes:
        return {"config": DATASTORES[self.type]}


class Filestore(Settings, frozen=True):
    """Where logs are kept."""

    type: Literal["GCS", "S3", "MINIO"]
    config: dict[str, Any] = {}

    def variants(self) -> SettingsTypes:
        return {"config": FILESTORES[self.type]}


class Cache(ZeroMeansDefault, frozen=True):
    """How long answers are remembered."""

    ttl: Duration = Duration(minutes=5)


class ApplicationInsight(ZeroMeansDefault, frozen=True):
    """When applications are counted."""

    enabled: bool = True
    schedule: str = "0 * * * *"


class DeploymentInsight(ZeroMeansDefault, frozen=True):
    """When deployments are counted."""

    enabled: bool = True
    schedule: str = "30 * * * *"
    chunk_max_count: int = 1000


class InsightCollector(Settings, frozen=True):
    """What is counted for the insights."""

    application: ApplicationInsight = ApplicationInsight()
    deployment: DeploymentInsight = DeploymentInsight()


class StaticAdmin(Settings, frozen=True):
    """A first administrator; the password as a bcrypt hash."""

    username: str
    password_hash: str


class ProjectEntry(Settings, frozen=True):
    """A project that exists from the start."""

    id: str
    desc: str = ""
    static_admin: StaticAdmin | None = None


class GitHubSso(Settings, frozen=True):
    """Sign-in with GitHub."""

    client_id: str
    client_secret: str
    base_url: str = ""
    upload_url: str = ""
    proxy_url: str = ""


class OidcSso(Settings, frozen=True):
    """Sign-in with OpenID Connect."""

    client_id: str
    client_secret: str
    issuer: str = ""
    redirect_uri: str = ""
    authorization_endpoint: str = ""
    token_endpoint: str = ""
    user_info_endpoint: str = ""
    proxy_url: str = ""
    scopes: tuple[str, ...] = ()
    roles_claim_key: str = ""
    username_claim_key: str = ""
    avatar_url_claim_key: str = ""


class SharedSso(Settings, frozen=True):
    """A way to sign in that several projects use."""

    name: str
    provider: Literal["GITHUB", "GOOGLE", "OIDC"]
    #: Hours.
    session_ttl: int = 0
    github: GitHubSso | None = None
    google: dict[str, Any] = {}
    oidc: OidcSso | None = None

    def problems(self) -> Problems:
        if self.provider == "GOOGLE":
            return [("provider", "is GOOGLE, which is not supported; use OIDC with Google's issuer")]
        field = self.provider.lower()
        return [] if getattr(self, field) else [(field, f"is missing; the provider {self.provider} needs it")]


class ControlPlaneSpec(Settings, frozen=True):
    """The spec of the kind `ControlPlane`."""

    address: str = ""
    state_key: str = ""
    datastore: Datastore | None = None
    filestore: Filestore | None = None
    cache: Cache = Cache()
    insight_collector: InsightCollector = InsightCollector()
    projects: tuple[ProjectEntry, ...] = ()
    shared_sso: tuple[SharedSso, ...] = msgspec.field(name="sharedSSOConfigs", default=())
