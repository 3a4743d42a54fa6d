"""Scripts that PipeCD's agents have left: nothing starts beside them, and nothing is undone."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from fairway.config.scalars import Duration
from fairway.delivery.another_agent import STARTED_BY, script_of_another_agent
from fairway.delivery.stages import NextAction, NextFacts, decide_next, next_deadline
from fairway.model.command import CancelDeployment
from fairway.model.deployment import STARTED_AT, Deployment, DeploymentStatus
from fairway.model.stage import NEVER_STARTED, Stage, StageStatus
from tests.unit.delivery.builders import a_config, a_stage_config
from tests.unit.model.builders import NOW, a_deployment, a_stage

D = DeploymentStatus
S = StageStatus
OURS = {STARTED_AT: NOW.isoformat()}
PLACE = {"scriptrun": {"started-0": "0123456789abcdef"}}
PIPECD = {"scriptrun": {"started-0": "_"}}
INTERRUPTED = "interrupted: another agent has started the script, and it is not known whether it still runs"
CONFIG = a_config(a_stage_config("SCRIPT_RUN", 0, timeout=Duration(minutes=10)))
BEGAN = NOW - timedelta(minutes=4)


def a_script(status: S = S.RUNNING, **fields: Any) -> Stage:
    return a_stage("script", **{"name": "SCRIPT_RUN", "status": status, "updated_at": BEGAN, **fields})


def an_undo(status: S = S.RUNNING, **fields: Any) -> Stage:
    return a_stage("undo", **{"name": "SCRIPT_RUN_ROLLBACK", "rollback": True, "status": status, **fields})


def left(*stages: Stage, **fields: Any) -> Deployment:
    return a_deployment(**{"status": D.RUNNING, "stages": stages, **fields})


@pytest.mark.parametrize(
    ("deployment", "found"),
    [
        pytest.param(left(a_script()), "script", id="piped v0, which writes no notes"),
        pytest.param(left(a_script(), plugin_metadata=PIPECD), "script", id="piped v1 with PipeCD's plugin"),
        pytest.param(left(a_script(), plugin_metadata=PLACE), "script", id="piped v1 with Fairway's plugin"),
        pytest.param(
            left(a_script(), shared_metadata=OURS, plugin_metadata=PIPECD),
            "script",
            id="piped v1 after Fairway",
        ),
        pytest.param(left(a_script(), shared_metadata=OURS), "script", id="piped v0 after a Fairway agent"),
        pytest.param(left(a_script(S.CANCELLED)), "script", id="cancelled because piped v1 has stopped"),
        pytest.param(left(a_script(name="CUSTOM_SYNC")), "script", id="another stage that runs a script"),
        pytest.param(left(a_script(S.FAILED), an_undo()), "undo", id="the script of a rollback"),
        pytest.param(
            left(a_script(S.FAILED), an_undo(), shared_metadata=OURS, plugin_metadata=PLACE),
            "undo",
            id="by piped",
        ),
        pytest.param(left(a_script(), shared_metadata=OURS, plugin_metadata=PLACE), "", id="a Fairway agent"),
        pytest.param(left(a_script(metadata={STARTED_BY: "fairway"})), "", id="a Fairway agent after piped"),
        pytest.param(left(a_script(S.NOT_STARTED)), "", id="not started"),
        pytest.param(left(a_script(S.CANCELLED, metadata={NEVER_STARTED: "true"})), "", id="never started"),
        pytest.param(left(a_script(S.FAILED)), "", id="ended by itself"),
        pytest.param(left(a_script(S.CANCELLED), an_undo(S.CANCELLED)), "script", id="both cancelled"),
        pytest.param(left(a_stage("wait", status=S.RUNNING)), "", id="not a script"),
    ],
)
def test_a_script_that_no_fairway_agent_has_started_may_still_run(deployment: Deployment, found: str) -> None:
    stage = script_of_another_agent(deployment, executing="")

    assert (stage.id if stage else "") == found


def test_the_stage_that_this_agent_executes_is_its_own() -> None:
    assert script_of_another_agent(left(a_script()), executing="script") is None


def known(*stages: Stage, status: D = D.RUNNING, **fields: Any) -> NextFacts:
    stage = stages[-1]
    return NextFacts(
        deployment=left(*stages, status=status), config=CONFIG, other_agents_script=stage, commander="ada", **fields
    )


CANCEL = CancelDeployment(deployment_id="d-1")


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param(known(a_script(), stage_started_at=BEGAN), id="a stage that runs"),
        pytest.param(known(a_script(S.CANCELLED, completed_at=BEGAN)), id="a stage that was cancelled"),
        pytest.param(
            known(a_script(S.CANCELLED, completed_at=BEGAN), status=D.ROLLING_BACK), id="whose rollback has begun"
        ),
        pytest.param(
            known(a_script(S.FAILED), an_undo(), status=D.ROLLING_BACK, stage_started_at=BEGAN),
            id="a rollback",
        ),
    ],
)
def test_nothing_starts_beside_it_before_its_timeout(facts: NextFacts) -> None:
    decision = decide_next(facts, BEGAN + timedelta(minutes=10, seconds=-1))

    assert decision.action is NextAction.WAIT_FOR_OTHER_AGENT
    assert "another agent has started it, and it may still run; make sure that it has ended" in decision.reason
    assert "over at 2026-01-01 12:06 UTC" in decision.reason
    assert next_deadline(facts) == BEGAN + timedelta(minutes=10)


@pytest.mark.parametrize(
    ("facts", "ends_as", "reason"),
    [
        pytest.param(
            known(a_script(), stage_started_at=BEGAN),
            S.FAILED,
            f"{INTERRUPTED}; its timeout of 10m is over",
            id="timeout",
        ),
        pytest.param(
            known(a_script(), stage_started_at=BEGAN, cancel=CANCEL),
            S.CANCELLED,
            f"Cancelled by ada; {INTERRUPTED}",
            id="a user's decision",
        ),
        pytest.param(
            known(a_script(S.FAILED), an_undo(), status=D.ROLLING_BACK, stage_started_at=BEGAN, cancel=CANCEL),
            S.CANCELLED,
            f"Cancelled by ada; {INTERRUPTED}",
            id="of a rollback",
        ),
    ],
)
def test_its_timeout_or_a_user_interrupts_the_stage(facts: NextFacts, ends_as: S, reason: str) -> None:
    now = NOW if facts.cancel else BEGAN + timedelta(minutes=10)

    decision = decide_next(facts, now)

    assert (decision.action, decision.stage_status, decision.reason) == (NextAction.INTERRUPT, ends_as, reason)


@pytest.mark.parametrize("cancel", [None, CANCEL], ids=["timeout", "a user's decision"])
def test_a_cancelled_stage_is_undone_then(cancel: CancelDeployment | None) -> None:
    facts = known(a_script(S.CANCELLED, completed_at=BEGAN), cancel=cancel)
    undo = an_undo(S.NOT_STARTED)
    facts = msgspec.structs.replace(facts, deployment=left(*facts.deployment.stages, undo))

    decision = decide_next(facts, NOW if cancel else BEGAN + timedelta(minutes=10))

    assert decision.action is NextAction.ROLL_BACK
