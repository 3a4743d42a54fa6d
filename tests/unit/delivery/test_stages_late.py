"""Stages and deployments that take too long."""

from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest

from fairway.config.scalars import Duration
from fairway.config.stages import WaitApprovalOptions
from fairway.delivery.stages import NextAction, NextDecision, NextFacts, decide_next, next_deadline
from fairway.model.stage import WAITS_FOR
from tests.unit.delivery.builders import a_config, a_stage_config
from tests.unit.delivery.test_stages import (
    ALL_LEFT,
    RESUMED,
    SETTINGS,
    D,
    S,
    facts,
    interrupt,
    roll_back,
    run,
    stop,
    wait,
)
from tests.unit.model.builders import NOW, a_deployment, a_stage

LONG_AGO = NOW - timedelta(hours=1)
TIMED = a_config(*(a_stage_config(each.name, each.index, timeout=Duration(minutes=10)) for each in SETTINGS))
SHORT = a_config(*SETTINGS, timeout=Duration(minutes=30))
DEPLOYMENT_LATE = "The deployment timed out after 30m"


@pytest.mark.parametrize(
    ("known", "decision"),
    [
        pytest.param(
            facts(D.RUNNING, S.RUNNING, S.NOT_STARTED, config=TIMED, stage_started_at=LONG_AGO, executing="canary"),
            interrupt("canary", S.FAILED, "timed out after 10m"),
            id="a late stage",
        ),
        pytest.param(
            facts(D.RUNNING, S.RUNNING, S.NOT_STARTED, config=SHORT, started_at=LONG_AGO, executing="canary"),
            interrupt("canary", S.FAILED, DEPLOYMENT_LATE),
            id="a late deployment",
        ),
        pytest.param(
            facts(D.RUNNING, S.SUCCEEDED, S.NOT_STARTED, config=SHORT, started_at=LONG_AGO),
            roll_back(f"{DEPLOYMENT_LATE}; rolling back: " + ALL_LEFT.format(1, 1)),
            id="a late deployment between stages",
        ),
        pytest.param(
            facts(D.ROLLING_BACK, S.SUCCEEDED, S.NOT_STARTED, S.SUCCEEDED, config=SHORT, started_at=LONG_AGO),
            stop(D.FAILED, f"{DEPLOYMENT_LATE}; it was rolled back"),
            id="a late deployment, undone",
        ),
        pytest.param(
            facts(
                D.ROLLING_BACK, S.SUCCEEDED, S.FAILED, S.SUCCEEDED, S.RUNNING, config=TIMED, stage_started_at=LONG_AGO
            ),
            interrupt("undo-script", S.FAILED, "timed out after 10m"),
            id="a late script rollback",
        ),
        pytest.param(
            facts(D.ROLLING_BACK, S.FAILED, S.NOT_STARTED, S.RUNNING, config=TIMED, stage_started_at=LONG_AGO),
            run("undo-canary", RESUMED.format("K8S_ROLLBACK")),
            id="a platform rollback has the whole deployment's time",
        ),
        pytest.param(
            facts(D.ROLLING_BACK, S.FAILED, S.NOT_STARTED, config=SHORT, started_at=LONG_AGO),
            run("undo-canary", "Undoing with K8S_ROLLBACK"),
            id="a late deployment is still undone",
        ),
    ],
)
def test_what_takes_too_long_fails_and_is_undone(known: NextFacts, decision: NextDecision) -> None:
    assert decide_next(known, NOW) == decision


@pytest.mark.parametrize(
    ("late", "reason"),
    [
        pytest.param({"config": TIMED, "stage_started_at": LONG_AGO}, "timed out after 10m", id="a late stage"),
        pytest.param({"config": SHORT, "started_at": LONG_AGO}, DEPLOYMENT_LATE, id="a late deployment"),
    ],
)
def test_what_takes_too_long_says_what_it_waited_for(late: dict[str, Any], reason: str) -> None:
    canary = a_stage("canary", name="K8S_CANARY_ROLLOUT", status=S.RUNNING, metadata={WAITS_FOR: "Deployment web"})
    deployment = a_deployment(status=D.RUNNING, stages=(canary,))

    decision = decide_next(facts(D.RUNNING, deployment=deployment, executing="canary", **late), NOW)

    assert decision == interrupt("canary", S.FAILED, f"{reason}; it waited for: Deployment web")


@pytest.mark.parametrize(
    ("why", "reason"),
    [
        pytest.param("exit status 3 after 0.1s", "Stage SCRIPT_RUN failed: exit status 3 after 0.1s", id="its own"),
        pytest.param("timed out after 10m", "Stage SCRIPT_RUN failed: timed out after 10m", id="its timeout"),
        pytest.param(DEPLOYMENT_LATE, DEPLOYMENT_LATE, id="the deployment's timeout"),
    ],
)
@pytest.mark.parametrize("status", [D.RUNNING, D.ROLLING_BACK], ids=["before the rollback", "after it"])
def test_a_deployment_says_why_its_stage_failed(status: D, why: str, reason: str) -> None:
    failed = a_stage("script", name="SCRIPT_RUN", status=S.FAILED, status_reason=why)

    decision = decide_next(facts(D.RUNNING, deployment=a_deployment(status=status, stages=(failed,))), NOW)

    assert decision.reason.split("; ")[0] == reason


@pytest.mark.parametrize(
    ("now", "action"),
    [(LONG_AGO + timedelta(seconds=599), NextAction.WAIT), (LONG_AGO + timedelta(minutes=10), NextAction.INTERRUPT)],
    ids=["just before", "exactly then"],
)
def test_a_stage_has_its_timeout_and_no_more(now: datetime, action: NextAction) -> None:
    known = facts(D.RUNNING, S.RUNNING, S.NOT_STARTED, config=TIMED, stage_started_at=LONG_AGO, executing="canary")

    assert decide_next(known, now).action is action


@pytest.mark.parametrize(
    ("on_timeout", "minutes", "action"),
    [
        pytest.param("fail", 10, NextAction.INTERRUPT, id="fails when its time is over"),
        pytest.param("approve", 10, NextAction.WAIT, id="is left to its plugin then"),
        pytest.param("approve", 11, NextAction.INTERRUPT, id="but not for ever"),
    ],
)
def test_an_approval_that_time_may_give(on_timeout: str, minutes: int, action: NextAction) -> None:
    options = WaitApprovalOptions(on_timeout="approve" if on_timeout == "approve" else "fail")
    waiting = a_stage_config("WAIT_APPROVAL", 0, timeout=Duration(minutes=10), options=options)
    stage = a_stage("ask", name="WAIT_APPROVAL", status=S.RUNNING)
    deployment = a_deployment(status=D.RUNNING, stages=(stage,))
    known = NextFacts(deployment=deployment, config=a_config(waiting), executing="ask", stage_started_at=LONG_AGO)

    assert decide_next(known, LONG_AGO + timedelta(minutes=minutes)).action is action


@pytest.mark.parametrize(
    ("now", "action"),
    [(LONG_AGO + timedelta(seconds=1799), NextAction.WAIT), (LONG_AGO + timedelta(minutes=30), NextAction.INTERRUPT)],
    ids=["just before", "exactly then"],
)
def test_a_deployment_has_its_timeout_and_no_more(now: datetime, action: NextAction) -> None:
    known = facts(D.RUNNING, S.RUNNING, S.NOT_STARTED, config=SHORT, started_at=LONG_AGO, executing="canary")

    assert decide_next(known, now).action is action


A_MINUTE_AGO = NOW - timedelta(minutes=1)


def only_its_end(stage_id: str, reason: str) -> NextDecision:
    return msgspec.structs.replace(run(stage_id, reason), overdue=True)


@pytest.mark.parametrize(
    ("found_at", "executing", "decision"),
    [
        pytest.param(NOW, "", only_its_end("canary", RESUMED.format("K8S_CANARY_ROLLOUT")), id="is asked for its end"),
        pytest.param(NOW, "canary", wait("Waiting for stage K8S_CANARY_ROLLOUT", "canary"), id="may tell it"),
        pytest.param(A_MINUTE_AGO, "canary", interrupt("canary", S.FAILED, "{}"), id="but has only a minute for that"),
    ],
)
@pytest.mark.parametrize(
    ("times", "late"),
    [
        pytest.param({"config": TIMED, "stage_started_at": LONG_AGO}, "timed out after 10m", id="stage"),
        pytest.param({"config": SHORT, "started_at": LONG_AGO}, DEPLOYMENT_LATE, id="deployment"),
    ],
)
def test_a_stage_whose_time_ran_out_while_no_agent_was_there(
    times: dict[str, Any], late: str, found_at: datetime, executing: str, decision: NextDecision
) -> None:
    known = facts(D.RUNNING, S.RUNNING, S.NOT_STARTED, stage_found_at=found_at, executing=executing, **times)

    decision = msgspec.structs.replace(decision, reason=decision.reason.format(late))
    assert decide_next(known, NOW) == decision
    if decision.action is NextAction.WAIT:
        assert next_deadline(known) == found_at + timedelta(minutes=1)


def test_a_script_rollback_that_is_found_late_is_asked_for_its_end() -> None:
    statuses = (S.SUCCEEDED, S.FAILED, S.SUCCEEDED, S.RUNNING)
    known = facts(D.ROLLING_BACK, *statuses, config=TIMED, stage_started_at=LONG_AGO, stage_found_at=NOW)

    assert decide_next(known, NOW) == only_its_end("undo-script", RESUMED.format("SCRIPT_RUN_ROLLBACK"))


def test_a_late_deployment_whose_last_stage_was_found_to_have_ended_well_has_ended_well() -> None:
    known = facts(D.RUNNING, S.SUCCEEDED, S.SUCCEEDED, config=SHORT, started_at=LONG_AGO)

    assert decide_next(known, NOW) == stop(D.SUCCEEDED, "All stages have ended well")
