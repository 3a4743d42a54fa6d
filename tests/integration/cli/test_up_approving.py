"""What `fairway up --approve` approves, while others act on the same deployments."""

from collections.abc import Sequence

import msgspec

from fairway.cli.cards import ShownDeployment
from fairway.cli.profiles import Profile
from fairway.cli.up.board import State
from fairway.cli.up.follow import Aim, Follower
from fairway.cli.up.rest import Rest
from fairway.cli.up.site import OwnCall
from fairway.model.application import DeploymentReference
from fairway.model.deployment import DeploymentStatus
from fairway.model.stage import ManualOperation, Stage, StageStatus
from tests.integration.cli.scripted import Answer, Asked, a_scripted_server, in_turn, refusal
from tests.unit.model.builders import NOW, a_deployment, a_stage, an_application

WAITS = a_stage("s-1", status=StageStatus.RUNNING, available_operation=ManualOperation.APPROVE)
WAITING = a_deployment(status=DeploymentStatus.RUNNING, stages=(WAITS,))
ENDED = a_deployment(status=DeploymentStatus.SUCCEEDED, stages=(a_stage("s-1", status=StageStatus.SUCCEEDED),))


class NoScreen:
    """Shows nothing."""

    def update(self, state: State) -> None: ...

    def logged(self, deployment: ShownDeployment, stage: Stage, lines: Sequence[str]) -> None: ...

    def ended(self, deployment: ShownDeployment, tail: Sequence[str], /) -> None: ...


def test_a_stage_that_has_gone_on_meanwhile_is_no_reason_to_stop() -> None:
    newest = DeploymentReference(deployment_id="d-1", trigger=ENDED.trigger, started_at=NOW)
    items = in_turn(*(Answer(body=msgspec.json.encode({"items": [each]})) for each in (WAITING, ENDED)))
    applications = Answer(body=msgspec.json.encode({"items": [an_application(last_triggered=newest)]}))

    def answer(asked: Asked) -> Answer:
        path = asked.path.removeprefix("/api/v1/")
        if asked.method == "POST":
            return refusal(409, "stage s-1 cannot be approved: it is succeeded; only a running stage can be")
        if path.startswith("stream"):
            return Answer(body=b"event: deployment\ndata: {}\n\n")
        if path.startswith("applications?"):
            return applications
        if "/log" in path:
            return Answer(body={"blocks": [], "completed": True, "next_index": None})
        return items(asked) if path.startswith("deployments?") else Answer(body={"items": []})

    with a_scripted_server(answer) as server, OwnCall(Profile(server=server.url, api_key="key")) as call:
        decision = Follower(call, NoScreen(), Aim(until_idle=True, approve=True)).run()

    asked = [each.path for each in server.asked if each.method == "POST"]
    assert (asked, decision.rest) == (["/api/v1/deployments/d-1/stages/s-1/approve"], Rest.AS_EXPECTED)
