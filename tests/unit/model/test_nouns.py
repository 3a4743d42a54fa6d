"""Nouns survive storage, and the few that behave behave."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from fairway.model.application import Application, ApplicationKind, SyncState, SyncStatus
from fairway.model.chain import ApplicationMatcher
from fairway.model.command import (
    ApproveStage,
    BuildPlanPreview,
    CancelDeployment,
    ChainSyncApplication,
    Command,
    Payload,
    RestartAgent,
    SkipStage,
    SyncApplication,
    UpdateApplicationConfig,
)
from fairway.model.deployment import Deployment
from fairway.model.event import event_key
from fairway.model.live_state import LiveStateVersion
from fairway.model.trigger import SyncStrategy
from tests.unit.model.builders import LATER, NOW, a_deployment, a_stage, an_application

PREVIEW = BuildPlanPreview(
    repository_id="shop",
    head_branch="next",
    head_commit="c0ffee",
    base_branch="main",
    timeout=timedelta(minutes=5),
)


@pytest.mark.parametrize(
    "payload",
    [
        pytest.param(SyncApplication(application_id="a", sync_strategy=SyncStrategy.PIPELINE), id="sync"),
        pytest.param(UpdateApplicationConfig(application_id="a", config_path="p", config="c"), id="update config"),
        pytest.param(CancelDeployment(deployment_id="d", force_no_rollback=True), id="cancel"),
        pytest.param(ApproveStage(deployment_id="d", stage_id="s"), id="approve"),
        pytest.param(PREVIEW, id="plan preview"),
        pytest.param(ChainSyncApplication(application_id="a", chain_id="c", block_index=2), id="chain sync"),
        pytest.param(SkipStage(deployment_id="d", stage_id="s"), id="skip"),
        pytest.param(RestartAgent(agent_id="agent-1"), id="restart"),
    ],
)
def test_a_command_of_every_type_survives_storage(payload: Payload) -> None:
    command = Command(id="c-1", agent_id="agent-1", project_id="shop", payload=payload, created_at=NOW, updated_at=NOW)

    stored = msgspec.json.encode(command)

    assert msgspec.json.decode(stored, type=Command) == command


def test_a_deployment_survives_storage() -> None:
    deployment = a_deployment(
        kind=ApplicationKind.LAMBDA, stages=(a_stage(metadata={"startTime": "1"}),), completed_at=LATER
    )

    assert msgspec.json.decode(msgspec.json.encode(deployment), type=Deployment) == deployment


def test_an_application_survives_storage() -> None:
    state = SyncState(status=SyncStatus.OUT_OF_SYNC, at=NOW, short_reason="2 differ")
    application = an_application(sync_state=state, deploy_targets_by_plugin={"kubernetes": ("dev", "prod")})

    assert msgspec.json.decode(msgspec.json.encode(application), type=Application) == application


@pytest.mark.parametrize(
    ("matcher", "fits"),
    [
        pytest.param(ApplicationMatcher(name="cart"), True, id="its name"),
        pytest.param(ApplicationMatcher(name="car"), False, id="part of its name"),
        pytest.param(ApplicationMatcher(kind="KUBERNETES"), True, id="its kind in capitals"),
        pytest.param(ApplicationMatcher(kind="ecs"), False, id="another kind"),
        pytest.param(ApplicationMatcher(labels={"env": "dev"}), True, id="one of its labels"),
        pytest.param(ApplicationMatcher(labels={"env": "prod"}), False, id="a label with another value"),
        pytest.param(ApplicationMatcher(name="cart", labels={"tier": "0"}), False, id="its name but not its labels"),
    ],
)
def test_a_matcher_asks_for_everything_it_names(matcher: ApplicationMatcher, fits: bool) -> None:
    application = an_application(kind=ApplicationKind.KUBERNETES, labels={"env": "dev", "team": "web"})

    assert matcher.matches(application) is fits


def test_a_v1_application_is_matched_by_its_kind_label() -> None:
    assert ApplicationMatcher(kind="kubernetes").matches(an_application(labels={"kind": "KUBERNETES"}))


@pytest.mark.parametrize("gone", [{"disabled": True}, {"deleted_at": NOW}], ids=["disabled", "deleted"])
def test_an_application_that_is_not_in_use_is_never_matched(gone: dict[str, Any]) -> None:
    assert not ApplicationMatcher(name="cart").matches(an_application(**gone))


def test_an_event_key_does_not_depend_on_the_order_of_labels() -> None:
    keys = {event_key("image", {"b": "2", "a": "1"}), event_key("image", {"a": "1", "b": "2"})}

    # sha256 of "image/a:1/b:2", as PipeCD computes it.
    assert keys == {"36ad974b75fa945536c2298c5f21c49f6b96b3db74ff75b836ac22f608feb13e"}


def test_of_two_live_states_the_later_and_then_the_more_changed_is_newer() -> None:
    versions = [LiveStateVersion(at=LATER), LiveStateVersion(at=NOW, index=3), LiveStateVersion(at=NOW)]

    assert sorted(versions) == list(reversed(versions))
