"""Who may approve or skip which stage, and when."""

from typing import Any

import pytest

from fairway.model.deployment import DeploymentStatus, UnknownStage
from fairway.model.stage import ManualOperation, Stage, StageStatus
from fairway.server.actions.approvals import operable_stage
from fairway.server.callers import Caller, CallerKind
from fairway.server.status_codes import Forbidden, NotNow
from tests.unit.model.builders import a_deployment, a_stage

APPROVE = ManualOperation.APPROVE


def a_waiting_stage(**fields: Any) -> Stage:
    known: dict[str, Any] = {"status": StageStatus.RUNNING, "available_operation": APPROVE}
    return a_stage("ask", **{**known, **fields})


def a_person(name: str = "ada", *groups: str) -> Caller:
    return Caller(kind=CallerKind.USER, name=name, project_id="shop", groups=groups)


@pytest.mark.parametrize(
    ("operators", "caller"),
    [
        pytest.param((), a_person(), id="nobody is named"),
        pytest.param(("bob", "ada"), a_person(), id="by name"),
        pytest.param(("group:sre",), a_person("ada", "dev", "sre"), id="by group"),
    ],
)
def test_whoever_is_named_may_operate_a_stage(operators: tuple[str, ...], caller: Caller) -> None:
    stage = a_waiting_stage(authorized_operators=operators)

    assert operable_stage(a_deployment(stages=(stage,)), "ask", APPROVE, caller) is stage


@pytest.mark.parametrize(
    ("operators", "caller"),
    [
        pytest.param(("bob",), a_person(), id="somebody else is named"),
        pytest.param(("sre",), a_person("ada", "sre"), id="a group is not a name"),
        pytest.param(("group:sre",), a_person("sre"), id="a name is not a group"),
        pytest.param(("group:sre",), a_person("group:sre"), id="a name that looks like a group is not one either"),
        pytest.param(("group:sre",), a_person("group:x", "SRE"), id="another group"),
    ],
)
def test_whoever_is_not_named_may_not(operators: tuple[str, ...], caller: Caller) -> None:
    stage = a_waiting_stage(authorized_operators=operators)

    with pytest.raises(Forbidden, match="ask one of them"):
        operable_stage(a_deployment(stages=(stage,)), "ask", APPROVE, caller)


@pytest.mark.parametrize("status", [status for status in StageStatus if status is not StageStatus.RUNNING])
def test_only_a_running_stage_can_be_approved(status: StageStatus) -> None:
    with pytest.raises(NotNow, match=f"it is {status.value}"):
        operable_stage(a_deployment(stages=(a_waiting_stage(status=status),)), "ask", APPROVE, a_person())


@pytest.mark.parametrize("offered", [each for each in ManualOperation if each is not APPROVE])
def test_only_what_a_stage_offers_can_be_done_to_it(offered: ManualOperation) -> None:
    stage = a_waiting_stage(available_operation=offered)

    with pytest.raises(NotNow, match="what can be done to it"):
        operable_stage(a_deployment(stages=(stage,)), "ask", APPROVE, a_person())


def test_nothing_is_done_to_a_deployment_that_has_ended() -> None:
    ended = a_deployment(stages=(a_waiting_stage(),), status=DeploymentStatus.FAILED)

    with pytest.raises(NotNow, match="it is failed"):
        operable_stage(ended, "ask", APPROVE, a_person())


def test_a_stage_that_is_not_there_is_named_as_such() -> None:
    with pytest.raises(UnknownStage):
        operable_stage(a_deployment(stages=(a_waiting_stage(),)), "other", APPROVE, a_person())


def test_of_stages_with_one_id_the_running_one_is_meant() -> None:
    done, waiting = a_waiting_stage(status=StageStatus.SUCCEEDED), a_waiting_stage()

    assert operable_stage(a_deployment(stages=(done, waiting)), "ask", APPROVE, a_person()) is waiting
