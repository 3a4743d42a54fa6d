"""Whether everything has come to rest, and as it should."""

from collections.abc import Mapping

import pytest

from fairway.cli.up.rest import Expected, Rest, RestDecision, decide_rest, to_approve
from fairway.model.application import Application, DeploymentReference, SyncState, SyncStatus
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.stage import ManualOperation, StageStatus
from tests.unit.model.builders import NOW, a_deployment, a_stage, a_trigger, an_application

DEPLOYED = an_application(last_triggered=DeploymentReference(deployment_id="d-1", trigger=a_trigger(), started_at=NOW))
APPROVAL = a_stage(status=StageStatus.RUNNING, available_operation=ManualOperation.APPROVE)


def with_status(status: DeploymentStatus, reason: str = "") -> Mapping[str, Deployment]:
    return {"d-1": a_deployment(status=status, status_reason=reason)}


@pytest.mark.parametrize(
    ("status", "expected", "decision"),
    [
        pytest.param(
            DeploymentStatus.RUNNING, Expected(), RestDecision(Rest.NOT_YET, "cart is running"), id="under way"
        ),
        pytest.param(
            DeploymentStatus.SUCCEEDED, Expected(), RestDecision(Rest.AS_EXPECTED, "cart succeeded"), id="well"
        ),
        pytest.param(
            DeploymentStatus.FAILED, Expected(), RestDecision(Rest.OTHERWISE, "cart failed (no luck)"), id="not well"
        ),
        pytest.param(
            DeploymentStatus.FAILED,
            Expected(ends={"a-1": DeploymentStatus.FAILED}),
            RestDecision(Rest.AS_EXPECTED, "cart failed"),
            id="meant to fail",
        ),
        pytest.param(
            DeploymentStatus.SUCCEEDED,
            Expected(commits={"a-1": "another"}),
            RestDecision(Rest.NOT_YET, "cart is about to be deployed"),
            id="at an older commit",
        ),
        pytest.param(
            DeploymentStatus.SUCCEEDED, Expected(coming="more"), RestDecision(Rest.NOT_YET, "more"), id="more to come"
        ),
        pytest.param(
            DeploymentStatus.FAILED,
            Expected(coming="more"),
            RestDecision(Rest.OTHERWISE, "cart failed (no luck)"),
            id="more will not come after a failure",
        ),
        pytest.param(
            DeploymentStatus.SUCCEEDED,
            Expected(unusable=("web: is no YAML",)),
            RestDecision(Rest.OTHERWISE, "web: is no YAML"),
            id="another one cannot be deployed",
        ),
    ],
)
def test_the_newest_deployment_decides(status: DeploymentStatus, expected: Expected, decision: RestDecision) -> None:
    assert decide_rest([DEPLOYED], with_status(status, "no luck"), expected) == decision


@pytest.mark.parametrize(
    ("approved", "rest"),
    [pytest.param(False, Rest.AS_EXPECTED, id="nobody will"), pytest.param(True, Rest.NOT_YET, id="somebody will")],
)
def test_waiting_for_approval_is_rest_when_nobody_will_approve(approved: bool, rest: Rest) -> None:
    waiting = {"d-1": a_deployment(status=DeploymentStatus.RUNNING, stages=(APPROVAL,))}

    assert decide_rest([DEPLOYED], waiting, Expected(approved=approved)).rest is rest


@pytest.mark.parametrize(
    ("application", "decision"),
    [
        pytest.param(
            an_application(), RestDecision(Rest.NOT_YET, "cart has not been deployed yet"), id="never deployed"
        ),
        pytest.param(
            an_application(disabled=True), RestDecision(Rest.AS_EXPECTED, "cart is disabled"), id="switched off"
        ),
        pytest.param(
            an_application(sync_state=SyncState(status=SyncStatus.INVALID_CONFIG, at=NOW, reason="no name")),
            RestDecision(Rest.OTHERWISE, "cart cannot be deployed: no name"),
            id="a file that cannot be used",
        ),
    ],
)
def test_an_application_without_a_deployment(application: Application, decision: RestDecision) -> None:
    assert decide_rest([application], {}, Expected()) == decision


def test_what_cannot_be_deployed_is_not_waited_for() -> None:
    decision = decide_rest([], {}, Expected(unusable=("web: is no YAML", "api: has no name")))

    assert decision == RestDecision(Rest.OTHERWISE, "web: is no YAML; api: has no name")


def test_where_no_application_can_come_any_more_nothing_is_waited_for() -> None:
    assert decide_rest([], {}, Expected(nobody="found web: add --register")) == RestDecision(
        Rest.OTHERWISE, "no application is registered; found web: add --register"
    )
    assert decide_rest([], {}, Expected()) == RestDecision(Rest.NOT_YET, "no application is registered")


def test_one_that_is_under_way_keeps_all_from_rest() -> None:
    other = an_application("a-2", name="web")

    assert decide_rest([DEPLOYED, other], with_status(DeploymentStatus.FAILED), Expected()) == RestDecision(
        Rest.NOT_YET, "web has not been deployed yet"
    )


def test_each_deployment_is_approved_once_also_where_their_stages_have_the_same_id() -> None:
    one, other = (a_deployment(id=id, status=DeploymentStatus.RUNNING, stages=(APPROVAL,)) for id in ("d-1", "d-2"))

    assert to_approve([one, other], {("d-1", APPROVAL.id)}) == [(other, APPROVAL)]
