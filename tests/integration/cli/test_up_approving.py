"""What `fairway up --approve` approves, while others act on the same deployments."""

from collections.abc import Callable, Sequence

import msgspec

from fairway.cli.cards import ShownDeployment
from fairway.cli.profiles import Profile
from fairway.cli.up.board import State
from fairway.cli.up.follow import Aim, Follower
from fairway.cli.up.rest import Expected, Rest, RestDecision
from fairway.cli.up.site import OwnCall
from fairway.model.application import DeploymentReference
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.stage import MINIMUM_APPROVALS, Approval, ManualOperation, Stage, StageStatus
from tests.integration.cli.scripted import Answer, Asked, a_scripted_server, in_turn, refusal
from tests.unit.model.builders import NOW, a_deployment, a_stage, an_application

WAITS = a_stage("s-1", status=StageStatus.RUNNING, available_operation=ManualOperation.APPROVE)
WAITING = a_deployment(status=DeploymentStatus.RUNNING, stages=(WAITS,))
ENDED = a_deployment(status=DeploymentStatus.SUCCEEDED, stages=(a_stage("s-1", status=StageStatus.SUCCEEDED),))
APPROVE = "/api/v1/deployments/d-1/stages/s-1/approve"


class Seen:
    """Shows nothing, and remembers what it was given."""

    def __init__(self) -> None:
        self.states: list[State] = []

    def update(self, state: State) -> None:
        self.states.append(state)

    def logged(self, deployment: ShownDeployment, stage: Stage, lines: Sequence[str]) -> None: ...

    def ended(self, deployment: ShownDeployment, tail: Sequence[str], /) -> None: ...


def a_server(approving: Answer, *looks: Deployment) -> Callable[[Asked], Answer]:
    """One application whose deployment is another at each look, and what is said to whoever approves."""
    newest = DeploymentReference(deployment_id="d-1", trigger=ENDED.trigger, started_at=NOW)
    items = in_turn(*(Answer(body=msgspec.json.encode({"items": [each]})) for each in looks))
    applications = Answer(body=msgspec.json.encode({"items": [an_application(last_triggered=newest)]}))

    def answer(asked: Asked) -> Answer:
        path = asked.path.removeprefix("/api/v1/")
        if asked.method == "POST":
            return approving
        if path.startswith("stream"):
            return Answer(body=b"event: deployment\ndata: {}\n\n")
        if path.startswith("applications?"):
            return applications
        if "/log" in path:
            return Answer(body={"blocks": [], "completed": True, "next_index": None})
        return items(asked) if path.startswith("deployments?") else Answer(body={"items": []})

    return answer


def followed(answer: Callable[[Asked], Answer]) -> tuple[list[str], RestDecision, Seen]:
    """What was approved, what everything came to, and what was to be seen."""
    screen, aim = Seen(), Aim(until_idle=True, approve=True, expected=lambda _: Expected(approved=True))
    with a_scripted_server(answer) as server, OwnCall(Profile(server=server.url, api_key="key")) as call:
        decision = Follower(call, screen, aim).run()
    return [each.path for each in server.asked if each.method == "POST"], decision, screen


def test_a_stage_that_has_gone_on_meanwhile_is_no_reason_to_stop() -> None:
    gone_on = refusal(409, "stage s-1 cannot be approved: it is succeeded; only a running stage can be")

    asked, decision, _ = followed(a_server(gone_on, WAITING, ENDED))

    assert (asked, decision.rest) == ([APPROVE], Rest.AS_EXPECTED)


def test_a_stage_that_only_others_may_approve_waits_and_is_told_of_with_the_reason() -> None:
    why = "ada is not one of those who may do this to stage s-1 (bob); ask one of them"

    asked, decision, screen = followed(a_server(refusal(403, why), WAITING))

    assert asked == [APPROVE]
    assert decision == RestDecision(Rest.AS_EXPECTED, f"cart waits for approval: {why}")
    assert screen.states[-1].unapproved == {"d-1": why}


def test_a_stage_that_needs_more_than_our_approval_waits_and_is_told_of_with_what_is_missing() -> None:
    ours = Approval(by="ada", at=NOW, command_id="c-1")
    half = msgspec.structs.replace(WAITS, approvals=(ours,), metadata={MINIMUM_APPROVALS: "2"})
    half_approved = a_deployment(status=DeploymentStatus.RUNNING, stages=(half,))

    asked, decision, _ = followed(a_server(Answer(body={}), WAITING, half_approved))

    missing = "1 of 2 approvals are given (ada); somebody else has to approve, too"
    assert asked == [APPROVE]
    assert decision == RestDecision(Rest.AS_EXPECTED, f"cart waits for approval: {missing}")


def test_a_stage_that_has_its_approvals_is_waited_for() -> None:
    ours = Approval(by="ada", at=NOW, command_id="c-1")
    approved = a_deployment(
        status=DeploymentStatus.RUNNING, stages=(msgspec.structs.replace(WAITS, approvals=(ours,)),)
    )

    asked, decision, _ = followed(a_server(Answer(body={}), WAITING, approved, ENDED))

    assert (asked, decision) == ([APPROVE], RestDecision(Rest.AS_EXPECTED, "cart succeeded"))
