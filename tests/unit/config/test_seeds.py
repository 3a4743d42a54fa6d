"""Every YAML block of the documents the product was asked for in, as it stands there."""

from pathlib import Path
from typing import Any

import pytest

from fairway.config.agent import PluginConfig
from fairway.config.agent_file import DeployTarget
from fairway.config.application import Generation
from fairway.config.pipeline import ClusterReference, PipelineTarget
from fairway.config.problems import Severity, path_text
from fairway.config.read import read_application, read_file
from fairway.config.scalars import Duration, Replicas
from fairway.config.stages import ScriptRunOptions
from fairway.config.terms import ACCEPTED

SEEDS = Path(__file__).with_name("seeds")


def read_seed(name: str) -> Any:
    (reading,) = read_file((SEEDS / name).read_bytes(), name)
    assert reading.errors == ()
    return reading.config


def test_runs_is_a_list_of_commands_beside_sealed_values_at_the_top_of_the_spec() -> None:
    (reading,) = read_file((SEEDS / "script-run-rfc-1-lambda.yaml").read_bytes(), "f")
    config = read_application((SEEDS / "script-run-rfc-1-lambda.yaml").read_bytes(), "f", ACCEPTED)

    # The RFC writes a word in the place of a sealed value.
    assert [path_text(problem.path) for problem in reading.errors] == ["spec.encryptedSecrets.password"]
    assert config.stages[0].options == ScriptRunOptions(
        runs=(
            "echo {{ .encryptedSecrets.password }} | sudo -S su",
            "sam build",
            "sam deploy -g --profile $AWS_PROFILE",
        ),
        env={"AWS_PROFILE": "default"},
    )
    assert config.encryption.encrypted_secrets == {"password": "encrypted-secrets"}
    assert list(config.plugins) == ["lambda"]


def test_run_is_one_script_between_the_stages_of_a_canary() -> None:
    config = read_seed("script-run-docs-1.yaml")

    assert [stage.name for stage in config.stages] == [
        "K8S_CANARY_ROLLOUT",
        "WAIT",
        "SCRIPT_RUN",
        "K8S_PRIMARY_ROLLOUT",
        "K8S_CANARY_CLEAN",
        "SCRIPT_RUN",
    ]
    assert config.stages[0].options.replicas == Replicas(10, is_percentage=True)
    assert config.stages[1].options.duration == Duration(seconds=10)
    assert config.stages[2].options.commands == ("echo $MSG\nsleep 10\n",)
    assert config.labels == {"env": "example", "team": "product"}


def test_on_rollback_is_one_script_too() -> None:
    config = read_seed("script-run-docs-2-on-rollback.yaml")

    assert config.stages[2].options.rollback_commands == ("echo $R_MSG\nsleep 10\n",)
    assert config.stages[2].options.env == {"MSG": "execute script1", "R_MSG": "rollback script1"}


@pytest.mark.parametrize("name", ["plugin-rfc-1-deploy-targets.yaml", "plugin-rfc-3-source-url.yaml"])
def test_an_agent_with_a_plugin_reads_past_the_ellipsis(name: str) -> None:
    config = read_seed(name)

    (plugin,) = config.plugins
    written = {"masterURL": "http://cluster-dev", "kubeConfigPath": "./kubeconfig-dev"}
    target = DeployTarget(name="dev", labels={"env": "dev"}, config=written if "deploy-targets" in name else {})
    assert plugin == PluginConfig(name="k8s_plugin", url="builtin:k8s_plugin", port=8081, deploy_targets=(target,))
    assert config.generation is Generation.V1


def test_what_an_ellipsis_leaves_out_is_mentioned_and_no_error() -> None:
    (reading,) = read_file((SEEDS / "plugin-rfc-1-deploy-targets.yaml").read_bytes(), "piped.yaml")

    assert [(problem.severity, problem.message[:24]) for problem in reading.problems] == [
        (Severity.WARNING, "`...` ends a YAML docume"),
        (Severity.WARNING, "is not enough to start a"),
        (Severity.WARNING, "plugin k8s_plugin: Fairw"),
    ]


def test_the_kind_of_a_second_generation_application_is_a_label() -> None:
    config = read_seed("plugin-rfc-2-kind-label.yaml")

    assert (config.generation, config.kind, config.name) == (Generation.V1, "KUBERNETES", "myApp")


def test_a_pipeline_lists_environments_in_order() -> None:
    config = read_seed("pipelines-rfc-1-story-1.yaml")

    assert (config.group, config.namespace, config.name) == ("pipelines.wego.weave.works", "default", "podinfo")
    assert [environment.name for environment in config.environments] == ["dev", "prod"]
    assert config.environments[0].targets == (
        PipelineTarget(namespace="podinfo", cluster_ref=ClusterReference(kind="GitopsCluster", name="dev")),
    )


def test_an_environment_may_have_several_targets() -> None:
    config = read_seed("pipelines-rfc-2-story-4.yaml")

    assert [target.cluster_ref.name for target in config.environments[0].targets] == ["dev-us", "dev-eu"]


def test_release_refs_are_refused_with_the_shape_to_write_instead() -> None:
    (reading,) = read_file((SEEDS / "pipelines-rfc-3-release-refs.yaml").read_bytes(), "pipeline.yaml")

    (problem,) = reading.problems
    assert (problem.path, problem.position.line) == (("spec", "stages"), 7)
    assert "write the stages as spec.environments" in problem.message
    assert "pipelines.weave.works/pipeline: example-pipeline" in problem.message
    assert read_file(problem.advice.encode(), "pipeline.yaml")[0].problems == ()


def test_a_pipeline_in_a_config_map_is_refused_with_the_shape_to_write_instead() -> None:
    text = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: p}\ndata:\n  p: |\n    environments:\n    - targets:\n"
    (reading,) = read_file(text, "pipeline.yaml")

    (problem,) = reading.problems
    assert problem.message.endswith("write it as a Pipeline resource")
    assert read_file(problem.advice.encode(), "pipeline.yaml")[0].problems == ()
