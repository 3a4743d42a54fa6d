"""Stages that are skipped, and those that never are."""

from typing import Any

import pytest

from fairway.config.application import SkipOn
from fairway.delivery.stages import NextAction, NextDecision, NextFacts, decide_next
from fairway.model.stage import Stage
from fairway.model.trigger import SyncStrategy
from tests.unit.delivery.builders import a_config, a_stage_config
from tests.unit.delivery.test_stages import SETTINGS, D, S, facts, run, stages
from tests.unit.model.builders import NOW, a_commit, a_deployment, a_stage, a_trigger


def skipping(**fields: Any) -> NextFacts:
    """The first stage is next, and the commit message says to skip it."""
    skip_on = SkipOn(commit_message_prefixes=("Say",))
    config = a_config(a_stage_config("K8S_CANARY_ROLLOUT", skip_on=skip_on), SETTINGS[1])
    return facts(D.RUNNING, S.NOT_STARTED, S.NOT_STARTED, **{"config": config, **fields})


def test_a_stage_with_a_reason_to_skip_is_skipped() -> None:
    reason = 'Skipped: the commit message starts with "Say"'
    expected = NextDecision(action=NextAction.SKIP, reason=reason, stage_id="canary", stage_status=S.SKIPPED)

    assert decide_next(skipping(), NOW) == expected


def test_a_stage_that_has_started_is_not_skipped_any_more() -> None:
    running = a_deployment(status=D.RUNNING, stages=stages(S.RUNNING, S.NOT_STARTED))

    assert decide_next(skipping(deployment=running), NOW).action is NextAction.RUN


@pytest.mark.parametrize(
    "stage",
    [
        pytest.param(a_stage("sync", name="K8S_CANARY_ROLLOUT"), id="of the same name"),
        pytest.param(a_stage("sync", name="K8S_SYNC", predefined=True), id="of v0"),
    ],
)
def test_a_quick_sync_is_never_skipped(stage: Stage) -> None:
    trigger = a_trigger(sync_strategy=SyncStrategy.QUICK_SYNC, commit=a_commit())
    deployment = a_deployment(status=D.RUNNING, stages=(stage,), trigger=trigger)

    decision = decide_next(skipping(deployment=deployment), NOW)

    assert decision == run("sync", f"{stage.name} is running")


def test_a_rollback_is_never_skipped() -> None:
    rolling_back = a_deployment(status=D.ROLLING_BACK, stages=stages(S.FAILED, S.NOT_STARTED))

    decision = decide_next(skipping(deployment=rolling_back), NOW)

    assert decision == run("undo-canary", "Undoing with K8S_ROLLBACK")
