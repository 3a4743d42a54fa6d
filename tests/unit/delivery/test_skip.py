"""Which stages have settings of their own in the application's file, and when those say to skip."""

import pytest

from fairway.config.application import SkipOn, StageConfig
from fairway.delivery.skip import config_of, reason_to_skip
from fairway.model.stage import Stage
from fairway.model.trigger import SyncStrategy
from tests.unit.delivery.builders import a_config, a_pipeline, a_stage_config
from tests.unit.model.builders import a_deployment, a_stage, a_trigger

SYNC, SCRIPT = a_pipeline("TERRAFORM_SYNC", "SCRIPT_RUN")


@pytest.mark.parametrize(
    ("stage", "settings"),
    [
        pytest.param(a_stage(name="TERRAFORM_SYNC", index=0), SYNC, id="the first of the pipeline"),
        pytest.param(a_stage(name="SCRIPT_RUN", index=1), SCRIPT, id="the second of the pipeline"),
        pytest.param(a_stage(name="TERRAFORM_SYNC", index=0, predefined=True), None, id="a quick sync of v0"),
        pytest.param(a_stage(name="SCRIPT_RUN_ROLLBACK", index=1, rollback=True), None, id="a rollback"),
        pytest.param(a_stage(name="K8S_SYNC", index=0), None, id="a stage that the file does not name"),
        pytest.param(a_stage(name="SCRIPT_RUN", index=7), None, id="an index that the file does not have"),
    ],
)
def test_a_stage_that_the_user_wrote_has_its_settings(stage: Stage, settings: StageConfig | None) -> None:
    assert config_of(stage, a_deployment(), a_config(SYNC, SCRIPT)) == settings


def test_a_quick_sync_has_no_settings_even_under_the_same_name() -> None:
    quick = a_deployment(trigger=a_trigger(sync_strategy=SyncStrategy.QUICK_SYNC))

    assert config_of(a_stage(name="TERRAFORM_SYNC"), quick, a_config(SYNC, SCRIPT)) is None


def reason(skip_on: SkipOn, changed_files: tuple[str, ...] | None) -> str:
    return reason_to_skip(a_stage_config(skip_on=skip_on), "Say hello", changed_files)


@pytest.mark.parametrize("changed_files", [None, (), ("main.go",)], ids=["first deployment", "same commit", "changes"])
def test_a_message_prefix_skips_whatever_has_changed(changed_files: tuple[str, ...] | None) -> None:
    skip_on = SkipOn(commit_message_prefixes=("[skip]", "Say"), paths=("docs",))

    assert reason(skip_on, changed_files) == 'Skipped: the commit message starts with "Say"'


@pytest.mark.parametrize(
    ("changed_files", "expected"),
    [
        pytest.param(("docs/x", "README.md"), "Skipped: all changed files (2) match skipOn.paths", id="all match"),
        pytest.param(("docs/x", "main.go"), "", id="one does not"),
        pytest.param(("docs/x", "docs/api/y"), "", id="one is excluded"),
        pytest.param((), "", id="the same commit again"),
        pytest.param(None, "", id="nothing runs yet"),
    ],
)
def test_paths_skip_when_every_change_matches(changed_files: tuple[str, ...] | None, expected: str) -> None:
    assert reason(SkipOn(paths=("docs", "*.md", "!docs/api")), changed_files) == expected


def test_a_stage_without_a_matching_prefix_or_paths_is_not_skipped() -> None:
    assert reason(SkipOn(commit_message_prefixes=("hello",)), ("main.go",)) == ""
