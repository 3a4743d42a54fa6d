"""What the files say to the plugin."""

from pathlib import Path

import pytest
import yaml

from fairway.config.agent_file import DeployTarget
from fairway.config.platforms import K8sQuickSync, KubernetesInput, KubernetesSpec, MultiTarget, TargetSelector
from fairway.plugins.kubernetes.settings import BadSettings, application_settings, input_for, target_settings
from fairway.sdk import Files

SETTINGS = {"quickSync": {"prune": True}}


def files(kind: str, **spec: object) -> Files:
    text = yaml.safe_dump({"apiVersion": "pipecd.dev/v1beta1", "kind": kind, "spec": {"name": "web", **spec}})
    where = Path("/nowhere")
    return Files(
        application_directory=where,
        commit="c",
        config_text=text.encode(),
        config_filename="app.pipecd.yaml",
        shared_directory=where,
    )


@pytest.mark.parametrize(
    ("written", "plugin"),
    [
        pytest.param(files("KubernetesApp", **SETTINGS), "kubernetes", id="v0"),
        pytest.param(files("KubernetesApp", **SETTINGS), "production", id="v0 with a plugin of another name"),
        pytest.param(files("Application", plugins={"kubernetes": SETTINGS}), "kubernetes", id="v1"),
        pytest.param(files("Application", plugins={"production": SETTINGS}), "production", id="v1 by another name"),
    ],
)
def test_the_settings_of_both_generations_are_found(written: Files, plugin: str) -> None:
    assert application_settings(written, plugin).spec == KubernetesSpec(quick_sync=K8sQuickSync(prune=True))


def test_an_application_without_settings_has_the_defaults() -> None:
    assert application_settings(files("Application"), "kubernetes").spec == KubernetesSpec()


def test_settings_under_another_name_are_checked_too() -> None:
    with pytest.raises(BadSettings, match="prune"):
        application_settings(files("Application", plugins={"mine": {"quickSync": {"prune": "maybe"}}}), "mine")


def test_a_deploy_target_says_how_its_cluster_is_reached() -> None:
    told = target_settings(DeployTarget(name="prod", config={"kubeConfigPath": "/k", "masterURL": "https://x"}))

    assert (told.kube_config_path, told.master_url) == ("/k", "https://x")
    with pytest.raises(BadSettings, match="deploy target prod"):
        target_settings(DeployTarget(name="prod", config={"kubeConfigPath": 1}))


def test_one_of_several_clusters_may_have_its_own_manifests() -> None:
    common = KubernetesInput(
        manifests=("a.yaml",),
        namespace="shop",
        multi_targets=(
            MultiTarget(target=TargetSelector(name="tokyo"), manifests=("b.yaml",)),
            MultiTarget(target=TargetSelector(labels={"region": "eu"}), kustomize_dir="eu"),
        ),
    )
    spec = KubernetesSpec(input=common)

    tokyo, at = input_for(spec, DeployTarget(name="tokyo"))
    europe = input_for(spec, DeployTarget(name="paris", labels={"region": "eu", "tier": "1"}))

    assert (tokyo.manifests, tokyo.namespace, at) == (("b.yaml",), "shop", "")
    assert europe == (common, "eu")
    assert input_for(spec, DeployTarget(name="other")) == (common, "")
