"""Configurations and pipelines for decisions; nouns come from the model's builders."""

from typing import Any

from fairway.config.application import ApplicationConfig, Generation, StageConfig
from fairway.model.application import ApplicationKind
from fairway.model.stage import Stage
from tests.unit.model.builders import a_stage

#: The pipeline of the script-run documents: scripts at 3, 5 and 7, counted from one.
SEED_PIPELINE = (
    "K8S_CANARY_ROLLOUT",
    "WAIT",
    "SCRIPT_RUN",
    "K8S_PRIMARY_ROLLOUT",
    "SCRIPT_RUN",
    "K8S_CANARY_CLEAN",
    "SCRIPT_RUN",
)
V0_KINDS = {
    ApplicationKind.KUBERNETES: "KubernetesApp",
    ApplicationKind.TERRAFORM: "TerraformApp",
    ApplicationKind.LAMBDA: "LambdaApp",
    ApplicationKind.CLOUDRUN: "CloudRunApp",
    ApplicationKind.ECS: "ECSApp",
}


def a_stage_config(name: str = "WAIT", index: int = 0, **fields: Any) -> StageConfig:
    return StageConfig(**{"name": name, "index": index, "options": {}, "written": {}, **fields})


def a_pipeline(*names: str) -> tuple[StageConfig, ...]:
    """Stages with these names; every script says how to undo itself."""
    return tuple(
        a_stage_config(name, index, written={"onRollback": "undo"} if name == "SCRIPT_RUN" else {})
        for index, name in enumerate(names)
    )


def a_config(*stages: StageConfig, **fields: Any) -> ApplicationConfig:
    known: dict[str, Any] = {"generation": Generation.V1, "kind": "Application", "name": "cart"}
    return ApplicationConfig(**{**known, "stages": stages, "plugins": {"kubernetes": {}}, **fields})


def planned_stages(*names: str) -> tuple[Stage, ...]:
    """The stages of a pipeline without its rollback, as planning names them."""
    return tuple(a_stage(f"stage-{index}", name=name, index=index) for index, name in enumerate(names))
