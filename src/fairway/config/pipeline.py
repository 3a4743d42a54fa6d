"""The `Pipeline` resource: the environments an application travels through, and how it is promoted between them.

Both Weave groups, with and without `appRef`, with and without the `strategy` wrapper, old spellings included, become
one `PipelineConfig`. What upstream lets through and then trips over (no environment, a name twice) is refused here.
"""

from typing import Any, Final, Literal

import msgspec

from fairway.config.problems import did_you_mean
from fairway.config.settings import Problems, Settings

GROUPS: Final = ("pipelines.weave.works", "pipelines.wego.weave.works")
VERSION: Final = "v1alpha1"
PULL_REQUEST_TYPES: Final = (
    "github",
    "gitlab",
    "bitbucket-server",
    "azure-devops",
    "bitbucket",
    "gitea",
    "forgejo",
)


class SecretReference(Settings, frozen=True):
    """A Secret in the pipeline's namespace."""

    name: str


class AppReference(Settings, frozen=True):
    """The one workload of the pipeline, under the same name in every target."""

    kind: str
    name: str
    api_version: str = ""
    #: Where the webhook's key was before 2022-12.
    secret_ref: SecretReference | None = None


class ClusterReference(Settings, frozen=True):
    """Another cluster; none means the one the pipeline lives in."""

    kind: Literal["GitopsCluster", "Secret"]
    name: str
    api_version: str = ""
    #: Empty means the pipeline's own.
    namespace: str = ""


class PipelineTarget(Settings, frozen=True):
    """A cluster and a namespace."""

    namespace: str
    cluster_ref: ClusterReference | None = None


class PullRequest(Settings, frozen=True):
    """Promotion by a pull request."""

    type: str
    url: str
    base_branch: str = ""
    #: The older name of baseBranch.
    branch: str = ""
    secret_ref: SecretReference | None = None

    def problems(self) -> Problems:
        if self.type in PULL_REQUEST_TYPES:
            return []
        known = ", ".join(PULL_REQUEST_TYPES)
        return [
            (
                "type",
                f"is {self.type!r}; expected one of {known}{did_you_mean(self.type, PULL_REQUEST_TYPES)}",
            )
        ]

    def warnings(self) -> Problems:
        if self.branch and self.base_branch:
            return [("branch", "is the older name of baseBranch, which is given too and wins")]
        return []


class PromotionStrategy(Settings, frozen=True):
    """How a version gets into the next environment."""

    pull_request: PullRequest | None = msgspec.field(name="pull-request", default=None)
    notification: dict[str, Any] | None = None
    #: The key that signs the promotion webhook.
    secret_ref: SecretReference | None = None

    def warnings(self) -> Problems:
        if self.pull_request is not None and self.notification is not None:
            return [("notification", "has no effect beside pull-request, which wins")]
        return []


class PromotionEntry(Settings, frozen=True):
    """`promotion` as it is written, with or without the `strategy` wrapper."""

    manual: bool = False
    strategy: PromotionStrategy | None = None
    pull_request: PullRequest | None = msgspec.field(name="pull-request", default=None)
    notification: dict[str, Any] | None = None
    secret_ref: SecretReference | None = None

    def problems(self) -> Problems:
        chosen = self.chosen
        if chosen.pull_request is None and chosen.notification is None:
            return [("strategy", "names no way to promote; write pull-request or notification below it")]
        return []

    def warnings(self) -> Problems:
        outer = {
            "pull-request": self.pull_request,
            "notification": self.notification,
            "secretRef": self.secret_ref,
        }
        if self.strategy is None:
            return []
        return [(name, "has no effect beside `strategy`") for name, value in outer.items() if value is not None]

    @property
    def chosen(self) -> PromotionStrategy:
        """The strategy that counts."""
        if self.strategy is not None:
            return self.strategy
        return PromotionStrategy(self.pull_request, self.notification, self.secret_ref)


class EnvironmentEntry(Settings, frozen=True):
    """One step of the pipeline, as it is written."""

    name: str
    targets: tuple[PipelineTarget, ...]
    #: Replaces the pipeline's promotion as a whole when promoting into this environment.
    promotion: PromotionEntry | None = None

    def warnings(self) -> Problems:
        return (
            [] if self.targets else [("targets", "is empty; nothing can be seen in or promoted into this environment")]
        )


class PipelineSpec(Settings, frozen=True):
    """The spec of a `Pipeline`, as it is written."""

    environments: tuple[EnvironmentEntry, ...]
    app_ref: AppReference | None = None
    promotion: PromotionEntry | None = None

    def problems(self) -> Problems:
        if not self.environments:
            return [("environments", "is empty; a pipeline needs at least one environment")]
        found: Problems = []
        seen: set[str] = set()
        for position, environment in enumerate(self.environments):
            if environment.name in seen:
                message = f"is {environment.name!r}, the name of an environment further up"
                found.append((f"environments[{position}].name", message))
            seen.add(environment.name)
        return found


class Promotion(msgspec.Struct, frozen=True, kw_only=True):
    """How a version gets into an environment, settled."""

    #: A person has to say yes first.
    manual: bool
    #: None: by notification.
    pull_request: PullRequest | None
    secret_ref: SecretReference | None


class Environment(msgspec.Struct, frozen=True, kw_only=True):
    """One step of a pipeline."""

    name: str
    targets: tuple[PipelineTarget, ...]
    #: None: versions are only watched here.
    promotion: Promotion | None


class PipelineConfig(msgspec.Struct, frozen=True, kw_only=True):
    """The ordered environments of one application."""

    group: str
    name: str
    namespace: str
    #: None: workloads join by label.
    app_ref: AppReference | None
    environments: tuple[Environment, ...]
    #: The key that signs the promotion webhook.
    secret_ref: SecretReference | None


def settle_pipeline(group: str, name: str, namespace: str, spec: PipelineSpec) -> PipelineConfig:
    """One model for both groups and all spellings."""
    own = _settle_promotion(spec.promotion)
    old_key = spec.app_ref.secret_ref if spec.app_ref is not None else None
    return PipelineConfig(
        group=group,
        name=name,
        namespace=namespace,
        app_ref=spec.app_ref,
        environments=tuple(
            Environment(name=entry.name, targets=entry.targets, promotion=_settle_promotion(entry.promotion) or own)
            for entry in spec.environments
        ),
        secret_ref=(own.secret_ref if own is not None else None) or old_key,
    )


def _settle_promotion(entry: PromotionEntry | None) -> Promotion | None:
    if entry is None:
        return None
    chosen = entry.chosen
    request = chosen.pull_request
    if request is not None:
        request = msgspec.structs.replace(
            request, base_branch=request.base_branch or request.branch or "main", branch=""
        )
    # v0 of the resource had the key beside the strategy; upstream reads only the pipeline's own.
    return Promotion(manual=entry.manual, pull_request=request, secret_ref=chosen.secret_ref or entry.secret_ref)
