"""What the plugins say when a deployment is planned, before any cluster is asked."""

from pathlib import Path

import grpc
import pytest
from grpc import aio

from fairway.plugins.kubernetes.plugin import Kubernetes, KubernetesMulticluster
from fairway.sdk.testing import plugin_under_test


async def test_a_pipeline_is_undone_by_one_stage_under_its_newer_name(tmp_path: Path) -> None:
    """`ROLLBACK`, by which v0 calls it, is served and never planned."""
    async with plugin_under_test(Kubernetes, tmp_path) as plugin:
        stages = await plugin.plan("K8S_CANARY_ROLLOUT", {"replicas": "10%"})

    assert [(each.name, each.rollback) for each in stages] == [("K8S_CANARY_ROLLOUT", False), ("K8S_ROLLBACK", True)]
    assert "ROLLBACK" in Kubernetes.stages


async def test_several_clusters_have_stages_of_their_own(tmp_path: Path) -> None:
    async with plugin_under_test(KubernetesMulticluster, tmp_path) as plugin:
        stages = await plugin.plan("K8S_MULTI_SYNC", {"multiTargets": ["east"], "prune": True})

    assert [each.name for each in stages] == ["K8S_MULTI_SYNC", "K8S_MULTI_ROLLBACK"]
    assert not set(Kubernetes.stages) & set(KubernetesMulticluster.stages)


async def test_how_traffic_will_be_shared_out_is_shown_from_the_beginning(tmp_path: Path) -> None:
    async with plugin_under_test(Kubernetes, tmp_path) as plugin:
        routing, *_ = await plugin.plan("K8S_TRAFFIC_ROUTING", {"canary": 10, "baseline": "5%"})

    shown = {"pipecd/stage-display-metadata": "Primary: 85%, Canary: 10%, Baseline: 5%"}
    assert routing.metadata == shown


@pytest.mark.parametrize(
    ("stage", "options", "said"),
    [
        pytest.param("K8S_TRAFFIC_ROUTING", {"primary": 90, "canary": 20}, "routes 110 %", id="too much traffic"),
        pytest.param("K8S_CANARY_ROLLOUT", {"replicas": "many"}, "replicas", id="no number"),
        pytest.param(
            "K8S_CANARY_ROLLOUT", {"patches": [{"target": {"kind": "ConfigMap"}}]}, "name", id="no whole patch"
        ),
    ],
)
async def test_options_that_cannot_be_end_a_deployment_before_it_begins(
    stage: str, options: dict[str, object], said: str, tmp_path: Path
) -> None:
    """Defect 21 of PipeCD: percentages were taken as they came."""
    async with plugin_under_test(Kubernetes, tmp_path) as plugin:
        with pytest.raises(aio.AioRpcError) as refused:
            await plugin.plan(stage, options)

    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert said in (refused.value.details() or "")


async def test_an_application_without_a_deploy_target_is_told_so(tmp_path: Path) -> None:
    async with plugin_under_test(Kubernetes, tmp_path) as plugin:
        (plugin.folder / "app.pipecd.yaml").write_text("apiVersion: pipecd.dev/v1beta1\nkind: KubernetesApp\n")
        ended = await plugin.run("K8S_SYNC")

    said = "the application names no deploy target of this plugin; name one where it is registered"
    assert ended.message == said
