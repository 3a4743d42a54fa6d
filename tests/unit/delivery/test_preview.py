"""Whether merging a branch would deploy an application."""

from typing import Any

import msgspec
import pytest

from fairway.config.application import ApplicationConfig
from fairway.delivery.commit import Touched
from fairway.delivery.preview import PreviewDecision, PreviewFacts, PreviewOutcome, decide_preview, found_in_words
from fairway.model.application import DiscoveredApplication
from tests.unit.delivery.builders import a_config
from tests.unit.model.builders import NOW, an_application

TOUCHED = Touched(application_id="a-1", file="web/x", reason="web/x is in the application's directory")


def facts(
    config: ApplicationConfig | None = a_config(), touched: Touched | None = TOUCHED, **fields: Any
) -> PreviewFacts:
    application = an_application("a-1", name="web", **fields)
    return PreviewFacts(application=application, config=config, config_problem="no kind", touched=touched)


def without_commits() -> ApplicationConfig:
    config = a_config()
    on_commit = msgspec.structs.replace(config.trigger.on_commit, disabled=True)
    return msgspec.structs.replace(config, trigger=msgspec.structs.replace(config.trigger, on_commit=on_commit))


def test_what_the_branch_touches_is_previewed_with_the_file_that_shows_it() -> None:
    assert decide_preview(facts()) == PreviewDecision(PreviewOutcome.PREVIEW, TOUCHED.reason)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        pytest.param(facts(touched=None), "The branch changes nothing of web", id="untouched"),
        pytest.param(facts(disabled=True), "web is disabled or deleted", id="disabled"),
        pytest.param(facts(deleted_at=NOW), "web is disabled or deleted", id="deleted"),
        pytest.param(facts(without_commits()), "trigger.onCommit is disabled", id="not on commits"),
        pytest.param(facts(None, touched=None), "The branch changes nothing of web", id="broken before"),
    ],
)
def test_what_the_merge_would_not_deploy_is_left_out(given: PreviewFacts, reason: str) -> None:
    assert decide_preview(given) == PreviewDecision(PreviewOutcome.NO, reason)


def test_a_file_that_the_branch_breaks_is_worth_telling() -> None:
    reason = "After the merge its configuration is invalid: no kind"

    assert decide_preview(facts(None)) == PreviewDecision(PreviewOutcome.FAILED, reason)


STAYS = (
    "nothing of it is deployed any more, and nothing is removed from the platform; it stays registered without a file: "
)


@pytest.mark.parametrize(
    ("moved_to", "advice"),
    [
        pytest.param("", "`fairway app delete web` ends that", id="removed"),
        pytest.param(
            "shop/web",
            "`fairway app delete web` ends that, and `fairway app add web --agent agent-1 --repository shop --path "
            "shop/web` registers the place where it is then",
            id="moved",
        ),
    ],
)
def test_a_file_that_the_branch_takes_away_is_no_failure(moved_to: str, advice: str) -> None:
    there = DiscoveredApplication(
        name="web", agent_id="agent-1", repository_id="shop", path=moved_to, config_filename="x"
    )
    moved = there if moved_to else None
    given = msgspec.structs.replace(facts(None), gone="apps/cart/app.pipecd.yaml", moved_to=moved)

    reason = f"After the merge it has no file apps/cart/app.pipecd.yaml: {STAYS}{advice}"
    assert decide_preview(given) == PreviewDecision(PreviewOutcome.GONE, reason)


def test_a_file_that_the_branch_brings_is_found() -> None:
    found = DiscoveredApplication(name="web", agent_id="agent-1", repository_id="shop", path="web", config_filename="x")

    assert found_in_words(found) == (
        "Found, not registered: nothing of it is deployed until somebody registers it: "
        "fairway app add web --agent agent-1 --repository shop --path web"
    )
