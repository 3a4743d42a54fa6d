"""What the plugin answers about commits, each read with its own settings; no cluster is asked."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from fairway.model.artifact import ArtifactKind, ArtifactVersion
from fairway.plugins.kubernetes.plugin import Kubernetes, KubernetesMulticluster, OnClusters
from fairway.sdk import Files, PluginSettings, PreviewQuestion, Strategy, SyncStrategy, Target

TOKYO, OSAKA = Target(name="tokyo"), Target(name="osaka")


def v0(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "pipecd.dev/v1beta1", "kind": "KubernetesApp", "spec": {"name": "shop", **spec}}


def v1(plugin: str = "kubernetes", **settings: Any) -> dict[str, Any]:
    spec = {"name": "shop", "plugins": {plugin: settings}}
    return {"apiVersion": "pipecd.dev/v1beta1", "kind": "Application", "spec": spec}


def a_deployment(tag: str, replicas: int = 1) -> str:
    pod = {"spec": {"containers": [{"name": "web", "image": f"web:{tag}"}]}}
    body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}}
    return msgspec.json.encode({**body, "spec": {"replicas": replicas, "template": pod}}).decode()


def a_commit(root: Path, name: str, config: dict[str, Any], **files: str) -> Files:
    directory = root / name / "shop"
    for file, text in files.items():
        path = directory / file.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    directory.mkdir(parents=True, exist_ok=True)
    return Files(
        application_directory=directory,
        commit=name,
        config_text=msgspec.json.encode(config),
        config_filename="app.pipecd.yaml",
        shared_directory=root / name / ".pipe",
    )


def a_plugin(root: Path, kind: type[OnClusters] = Kubernetes, *targets: Target) -> OnClusters:
    return kind(PluginSettings(name=kind.name, targets=targets or (TOKYO,), state=root / "state"))


def a_question(target: Files, running: Files | None, *targets: Target) -> PreviewQuestion:
    return PreviewQuestion(
        application_id="id", application_name="shop", target=target, running=running, targets=targets or (TOKYO,)
    )


@pytest.mark.parametrize("config", [v0(), v1()], ids=["v0", "v1"])
async def test_the_versions_of_a_commit_are_its_images(config: dict[str, Any], tmp_path: Path) -> None:
    files = a_commit(tmp_path, "one", config, web_yaml=a_deployment("v1"))

    versions = await a_plugin(tmp_path).versions(files)

    assert versions == (ArtifactVersion(kind=ArtifactKind.CONTAINER_IMAGE, name="web", version="v1", url="web:v1"),)


async def test_a_first_deployment_has_nothing_to_compare_with(tmp_path: Path) -> None:
    files = a_commit(tmp_path, "one", v0(), web_yaml=a_deployment("v1"))

    assert await a_plugin(tmp_path).strategy(files, None) is None


async def test_each_commit_is_read_with_its_own_settings(tmp_path: Path) -> None:
    """Defect 27: what runs was made of `old.yaml`, as its own settings say."""
    old = a_commit(tmp_path, "old", v0(input={"manifests": ["old.yaml"]}), old_yaml=a_deployment("v1"))
    new = a_commit(tmp_path, "new", v0(input={"manifests": ["new.yaml"]}), new_yaml=a_deployment("v1", replicas=4))

    decided = await a_plugin(tmp_path).strategy(new, old)

    assert decided == Strategy(
        SyncStrategy.QUICK_SYNC, "Quick sync, because only the scale changes: Deployment web from 1 to 4"
    )


async def test_what_runs_but_cannot_be_read_any_more_calls_for_the_pipeline(tmp_path: Path) -> None:
    old = a_commit(tmp_path, "old", v0(), web_yaml="kind: 1\n")
    new = a_commit(tmp_path, "new", v0(), web_yaml=a_deployment("v1"))
    plugin = a_plugin(tmp_path)

    decided = await plugin.strategy(new, old)
    (seen,) = await plugin.plan_preview(a_question(new, old))

    assert decided is not None
    assert decided.strategy is SyncStrategy.PIPELINE
    assert "what runs cannot be read any more: shop/web.yaml:1" in decided.summary
    assert "so everything seems new" in seen.details


async def test_one_cluster_that_deserves_the_pipeline_is_enough(tmp_path: Path) -> None:
    targets = [
        {"target": {"name": name}, "manifests": [f"{name}.yaml"]} for name in ("osaka", "tokyo", "not-of-this-agent")
    ]
    config = v1("kubernetes_multicluster", input={"multiTargets": targets})
    old = a_commit(tmp_path, "old", config, osaka_yaml=a_deployment("v1"), tokyo_yaml=a_deployment("v1"))
    new = a_commit(tmp_path, "new", config, osaka_yaml=a_deployment("v1"), tokyo_yaml=a_deployment("v2"))
    plugin = a_plugin(tmp_path, KubernetesMulticluster, OSAKA, TOKYO)

    decided = await plugin.strategy(new, old)
    versions = await plugin.versions(new)
    previews = await plugin.plan_preview(a_question(new, old, OSAKA, TOKYO))

    assert decided == Strategy(SyncStrategy.PIPELINE, "Pipeline, because the image web goes from v1 to v2")
    assert [each.version for each in versions] == ["v1", "v2"]
    assert [(each.deploy_target, each.changes) for each in previews] == [("osaka", False), ("tokyo", True)]


async def test_a_preview_shows_each_cluster_what_goes_to_it(tmp_path: Path) -> None:
    routes = [{"match": {"kind": "ConfigMap"}, "provider": {"name": "osaka"}}]
    config = '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}'
    files = a_commit(tmp_path, "one", v0(resourceRoutes=routes), web_yaml=a_deployment("v1"), c_json=config)
    plugin = a_plugin(tmp_path, Kubernetes, TOKYO, OSAKA)

    tokyo, osaka = await plugin.plan_preview(a_question(files, None, TOKYO))

    assert 'kind="Deployment"' in tokyo.details
    assert 'kind="ConfigMap"' not in tokyo.details
    assert 'kind="ConfigMap"' in osaka.details
    assert osaka.summary == "1 added manifests, 0 changed manifests, 0 deleted manifests"


def with_stages(config: dict[str, Any], *stages: dict[str, Any]) -> dict[str, Any]:
    return {**config, "spec": {**config["spec"], "pipeline": {"stages": list(stages)}}}


PRUNING = {"name": "K8S_PRIMARY_ROLLOUT", "with": {"prune": True}}


@pytest.mark.parametrize(
    ("config", "tag", "deleted"),
    [
        pytest.param(v0(), "v1", 0, id="prune is off"),
        pytest.param(v0(quickSync={"prune": True}), "v1", 1, id="a quick sync prunes"),
        pytest.param(with_stages(v0(), PRUNING), "v2", 1, id="the pipeline prunes"),
        pytest.param(with_stages(v0(), PRUNING), "v1", 0, id="the pipeline would, a quick sync does not"),
    ],
)
async def test_a_preview_says_what_stays_although_git_does_not_have_it(
    config: dict[str, Any], tag: str, deleted: int, tmp_path: Path
) -> None:
    service = '{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}}'
    old = a_commit(tmp_path, "old", config, web_yaml=a_deployment("v1"), s_json=service)
    new = a_commit(tmp_path, "new", config, web_yaml=a_deployment(tag))

    (seen,) = await a_plugin(tmp_path).plan_preview(a_question(new, old))

    assert f"{deleted} deleted manifests" in seen.summary
    assert ("1 stays in the cluster, because prune is off" in seen.summary) is (not deleted)


async def test_the_same_commit_is_not_said_to_replace_no_pod(tmp_path: Path) -> None:
    """What differs in the cluster, and would be restored, is not known when a deployment is planned."""
    files = a_commit(tmp_path, "one", v1(), web_yaml=a_deployment("v1"))

    decided = await a_plugin(tmp_path).strategy(files, files)

    assert decided == Strategy(SyncStrategy.QUICK_SYNC, "Quick sync, because this commit has been deployed before")
