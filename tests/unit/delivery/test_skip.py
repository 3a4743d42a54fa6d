"""Which stages have settings of their own in the application's file."""

import pytest

from fairway.config.application import StageConfig
from fairway.delivery.skip import config_of
from fairway.model.stage import Stage
from fairway.model.trigger import SyncStrategy
from tests.unit.delivery.builders import a_config, a_pipeline
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
