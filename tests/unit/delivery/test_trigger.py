"""Whether a deployment starts, and what is said when it does not."""

from datetime import timedelta
from typing import Any

import pytest

from fairway.config.application import OnChain, OnCommand, OnCommit, OnOutOfSync, Trigger
from fairway.delivery.commit import Touched
from fairway.delivery.trigger import (
    Drift,
    LastDeployment,
    TriggerDecision,
    TriggerFacts,
    TriggerOutcome,
    decide_trigger,
    not_mended,
    with_its_turn,
)
from fairway.model.deployment import DeploymentStatus
from fairway.model.trigger import SyncStrategy, TriggerKind
from tests.unit.delivery.builders import a_config
from tests.unit.model.builders import NOW, an_application

TOUCHED = Touched(application_id="a-1", file="apps/cart/x", reason="apps/cart/x is in the application's directory")
BEFORE = LastDeployment(
    commit_hash="0000000aaaa", status=DeploymentStatus.SUCCEEDED, completed_at=NOW - timedelta(hours=1)
)
ALL_ON = Trigger(on_out_of_sync=OnOutOfSync(disabled=False), on_chain=OnChain(disabled=False))
ALL_OFF = Trigger(on_commit=OnCommit(disabled=True), on_command=OnCommand(disabled=True))


def facts(kind: TriggerKind, **fields: Any) -> TriggerFacts:
    known: dict[str, Any] = {"kind": kind, "application": an_application(), "head_commit": "1111111bbbb"}
    return TriggerFacts(**{**known, "config": a_config(trigger=ALL_ON), "last": BEFORE, **fields})


def yes(reason: str, strategy: SyncStrategy = SyncStrategy.AUTO) -> TriggerDecision:
    return TriggerDecision(outcome=TriggerOutcome.TRIGGER, reason=reason, sync_strategy=strategy)


def no(reason: str, *, examined: bool = False) -> TriggerDecision:
    return TriggerDecision(outcome=TriggerOutcome.NO, reason=reason, examined=examined)


def rejected(reason: str) -> TriggerDecision:
    return TriggerDecision(outcome=TriggerOutcome.REJECT, reason=reason)


@pytest.mark.parametrize(
    ("fields", "decision"),
    [
        pytest.param(
            {"touched": TOUCHED},
            yes("Commit 1111111 touches it: apps/cart/x is in the application's directory"),
            id="a commit that touches it",
        ),
        pytest.param({}, no("Nothing up to commit 1111111 touches cart", examined=True), id="a commit elsewhere"),
        pytest.param({"last": None}, yes("cart has never been deployed"), id="a first commit"),
        pytest.param(
            {"head_commit": BEFORE.commit_hash, "touched": TOUCHED},
            no("A deployment of commit 0000000 has already been triggered"),
            id="the same commit again",
        ),
        pytest.param(
            {"config": a_config(trigger=ALL_OFF), "touched": TOUCHED},
            no("trigger.onCommit is disabled"),
            id="commits are turned off",
        ),
    ],
)
def test_a_commit_is_decided(fields: dict[str, Any], decision: TriggerDecision) -> None:
    assert decide_trigger(facts(TriggerKind.COMMIT, **fields), NOW) == decision


@pytest.mark.parametrize("strategy", SyncStrategy)
def test_a_command_triggers_with_the_strategy_it_asks_for(strategy: SyncStrategy) -> None:
    asked = facts(TriggerKind.COMMAND, commander="ada", asked_strategy=strategy)

    assert decide_trigger(asked, NOW) == yes("ada asked for it", strategy)


def test_a_command_that_may_not_run_is_rejected_with_the_reason() -> None:
    asked = facts(TriggerKind.COMMAND, config=a_config(trigger=ALL_OFF))

    assert decide_trigger(asked, NOW) == rejected("trigger.onCommand is disabled for this application")


def test_a_chain_triggers_what_allows_it() -> None:
    expected = yes("It is part of a chain that another application has begun")

    assert decide_trigger(facts(TriggerKind.CHAIN), NOW) == expected


def test_a_chain_is_told_when_an_application_does_not_take_part() -> None:
    decision = decide_trigger(facts(TriggerKind.CHAIN, config=a_config()), NOW)

    reason = "trigger.onChain is disabled for this application, so the chain cannot deploy it"
    assert decision == rejected(reason)


def last(status: DeploymentStatus, ended_before: timedelta | None) -> LastDeployment:
    completed_at = None if ended_before is None else NOW - ended_before
    return LastDeployment(commit_hash="1111111bbbb", status=status, completed_at=completed_at)


DRIFTED = yes("What runs differs from what Git says")
NOT_ENDED = no("It is out of sync, but its last deployment has not ended yet")
TOO_SOON = no("It is out of sync, but its last deployment ended less than trigger.onOutOfSync.minWindow (5m) ago")


@pytest.mark.parametrize(
    ("fields", "decision"),
    [
        pytest.param({"last": last(DeploymentStatus.RUNNING, None)}, NOT_ENDED, id="still running"),
        pytest.param({"last": last(DeploymentStatus.FAILED, timedelta(minutes=4))}, TOO_SOON, id="inside the window"),
        pytest.param({"last": last(DeploymentStatus.FAILED, timedelta(minutes=5))}, DRIFTED, id="after the window"),
        pytest.param({"last": None}, DRIFTED, id="never deployed"),
        pytest.param({"config": a_config()}, no("trigger.onOutOfSync is disabled"), id="off by default"),
    ],
)
def test_drift_waits_for_the_last_deployment_and_its_window(fields: dict[str, Any], decision: TriggerDecision) -> None:
    assert decide_trigger(facts(TriggerKind.OUT_OF_SYNC, **fields), NOW) == decision


def drift(**fields: Any) -> Drift:
    return Drift(**{"words": "1 is missing", "digest": "as-now", **fields})


NOT_MENDED = "It differs from Git in a way that deploying again does not mend: 1 is missing"


@pytest.mark.parametrize(
    ("last", "seen", "reason"),
    [
        pytest.param({"drift": "as-now"}, drift(), NOT_MENDED, id="the same as before"),
        pytest.param({"drift": "otherwise"}, drift(), "", id="another difference"),
        pytest.param({"drift": ""}, drift(), "", id="was not made for a difference"),
        pytest.param({"drift": "as-now"}, drift(anew=True), "", id="was mended meanwhile"),
        pytest.param({"drift": "as-now", "status": DeploymentStatus.FAILED}, drift(), "", id="did not succeed"),
        pytest.param({}, drift(mendable=False), NOT_MENDED, id="nothing mends it"),
    ],
)
def test_drift_that_a_deployment_does_not_mend_is_left_and_told(last: dict[str, Any], seen: Drift, reason: str) -> None:
    ended = {"commit_hash": "c", "status": DeploymentStatus.SUCCEEDED, "completed_at": NOW - timedelta(days=1)}
    before = LastDeployment(**{**ended, **last})

    decision = decide_trigger(facts(TriggerKind.OUT_OF_SYNC, last=before, drift=seen), NOW)

    assert decision == (no(reason) if reason else DRIFTED)
    assert not_mended(seen, before) == reason


@pytest.mark.parametrize("kind", TriggerKind)
@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        pytest.param(
            {"config": None, "config_problem": "line 3: unknown field"},
            "The configuration of cart is invalid: line 3: unknown field",
            id="invalid configuration",
        ),
        pytest.param({"application": an_application(disabled=True)}, "cart is disabled", id="disabled"),
        pytest.param({"application": an_application(deleted_at=NOW)}, "cart has been deleted", id="deleted"),
    ],
)
def test_an_application_that_cannot_be_deployed_never_is(
    kind: TriggerKind, fields: dict[str, Any], reason: str
) -> None:
    decision = decide_trigger(facts(kind, touched=TOUCHED, **fields), NOW)

    asked = kind in {TriggerKind.COMMAND, TriggerKind.CHAIN}
    assert decision == (rejected(reason) if asked else no(reason))


@pytest.mark.parametrize("kind", [kind for kind in TriggerKind if kind is not TriggerKind.COMMIT])
@pytest.mark.parametrize("trigger", [ALL_ON, ALL_OFF], ids=["on", "off"])
def test_only_a_commit_marks_the_head_as_examined(kind: TriggerKind, trigger: Trigger) -> None:
    assert not decide_trigger(facts(kind, config=a_config(trigger=trigger)), NOW).examined


@pytest.mark.parametrize("config", [None, a_config(trigger=ALL_OFF)], ids=["invalid", "disabled"])
def test_a_commit_that_was_not_compared_is_not_examined(config: Any) -> None:
    assert not decide_trigger(facts(TriggerKind.COMMIT, config=config), NOW).examined


@pytest.mark.parametrize(
    ("behind", "waiting", "told"),
    [
        pytest.param(False, "newest", "why", id="nobody before it"),
        pytest.param(
            True,
            "all",
            "why; its turn comes after the deployments of its application before it "
            "(newer commits wait for theirs after it)",
            id="each in its order",
        ),
        pytest.param(
            True,
            "newest",
            "why; its turn comes after the deployments of its application before it "
            "(a newer commit takes its place until then)",
            id="the newest alone",
        ),
    ],
)
def test_one_that_waits_for_its_turn_says_what_stays_true_until_it_comes(behind: bool, waiting: str, told: str) -> None:
    assert with_its_turn("why", behind, waiting) == told
