"""Whether everything has come to rest, and as it should. Pure."""

import enum
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeVar

import msgspec

from fairway.cli.cards import stage_word
from fairway.cli.output import plain
from fairway.model.application import Application, SyncStatus
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.stage import Stage

T = TypeVar("T", bound=Deployment)


class Rest(enum.Enum):
    """How it stands."""

    #: Something is under way, or about to be.
    NOT_YET = "not yet"
    #: Everything is as it should be.
    AS_EXPECTED = "as expected"
    #: Nothing is under way, and something is not as it should be.
    OTHERWISE = "otherwise"


class RestDecision(msgspec.Struct, frozen=True):
    """Whether there is anything to wait for."""

    rest: Rest
    reason: str


class Expected(msgspec.Struct, frozen=True, kw_only=True):
    """What is waited for."""

    #: Application id → how its newest deployment ends; those that are not named succeed.
    ends: Mapping[str, DeploymentStatus] = {}
    #: Application id → the commit that it should be at; those that are not named may be at any.
    commits: Mapping[str, str] = {}
    #: What is about to happen by itself when everything rests; empty when nothing is.
    coming: str = ""
    #: What should have been registered and cannot be, each with why.
    unusable: Sequence[str] = ()
    #: Why no application will come by itself where none is registered; empty while one may.
    nobody: str = ""
    #: Whether somebody will approve what waits for it; if nobody does, waiting for approval is rest.
    approved: bool = False
    #: Deployment id → why our yes is not enough; those wait for somebody else.
    unapproved: Mapping[str, str] = {}


def decide_rest(
    applications: Sequence[Application], deployments: Mapping[str, Deployment], expected: Expected
) -> RestDecision:
    """Whether the newest deployment of each application is where it should come to."""
    if not applications and not expected.unusable:
        said = "no application is registered"
        return (
            RestDecision(Rest.OTHERWISE, f"{said}; {expected.nobody}")
            if expected.nobody
            else RestDecision(Rest.NOT_YET, said)
        )
    each = [_of_application(application, deployments, expected) for application in applications]
    each += [RestDecision(Rest.OTHERWISE, why) for why in expected.unusable]
    for rest in (Rest.NOT_YET, Rest.OTHERWISE):
        if found := [decision.reason for decision in each if decision.rest is rest]:
            return RestDecision(rest, "; ".join(found))
    if expected.coming:
        return RestDecision(Rest.NOT_YET, expected.coming)
    return RestDecision(Rest.AS_EXPECTED, "; ".join(decision.reason for decision in each))


def waits_for_approval(deployment: Deployment) -> bool:
    """Whether a person has to say yes before it goes on."""
    return any(stage_word(stage) == "waits for approval" for stage in deployment.stages)


def to_approve(deployments: Iterable[T], done: Collection[tuple[str, str]]) -> list[tuple[T, Stage]]:
    """The stages that wait for approval and are not among those that got it, by deployment and stage: stages of
    several deployments have the same ids."""
    return [
        (deployment, stage)
        for deployment in deployments
        for stage in deployment.stages
        if stage_word(stage) == "waits for approval" and (deployment.id, stage.id) not in done
    ]


def missing_approvals(stage: Stage) -> str:
    """What a stage lacks that has our approval; empty when it has all that it needs."""
    if stage.is_approved:
        return ""
    given = ", ".join(approval.by for approval in stage.approvals)
    count = f"{len(stage.approvals)} of {stage.minimum_approvals} approvals are given ({plain(given)})"
    return f"{count}; somebody else has to approve, too"


def _of_application(
    application: Application, deployments: Mapping[str, Deployment], expected: Expected
) -> RestDecision:
    name, newest = plain(application.name), application.last_triggered
    if application.disabled:
        return RestDecision(Rest.AS_EXPECTED, f"{name} is disabled")
    if newest is None:
        state = application.sync_state
        if state and state.status is SyncStatus.INVALID_CONFIG:
            return RestDecision(Rest.OTHERWISE, f"{name} cannot be deployed: {plain(state.reason)}")
        return RestDecision(Rest.NOT_YET, f"{name} has not been deployed yet")
    deployment = deployments.get(newest.deployment_id)
    if deployment is None or deployment.trigger.commit.hash != expected.commits.get(
        application.id, deployment.trigger.commit.hash
    ):
        return RestDecision(Rest.NOT_YET, f"{name} is about to be deployed")
    word = deployment.status.value.replace("_", " ")
    if not deployment.status.is_terminal:
        why = expected.unapproved.get(deployment.id, "")
        if waits_for_approval(deployment) and (why or not expected.approved):
            return RestDecision(Rest.AS_EXPECTED, f"{name} waits for approval" + (f": {why}" if why else ""))
        return RestDecision(Rest.NOT_YET, f"{name} is {word}")
    end = expected.ends.get(application.id, DeploymentStatus.SUCCEEDED)
    if deployment.status is end:
        return RestDecision(Rest.AS_EXPECTED, f"{name} {word}")
    reason = plain(deployment.status_reason)
    return RestDecision(Rest.OTHERWISE, f"{name} {word}" + (f" ({reason})" if reason else ""))
