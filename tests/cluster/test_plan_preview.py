"""A preview asks the cluster whether it would take what a change brings, and changes nothing."""

from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc import aio

from fairway.config.agent_file import DeployTarget
from fairway.plugins.kubernetes.plugin import Kubernetes
from fairway.sdk.testing import plugin_under_test
from tests.cluster.kubernetes_applications import (
    Application,
    a_config_map,
    a_definition,
    a_deployment,
    a_service,
    an_application,
)
from tests.clusters.running import RunningCluster
from tests.ports import a_free_port


def misspelt() -> dict[str, Any]:
    body = a_deployment()
    body["spec"]["template"]["spec"]["contianers"] = body["spec"]["template"]["spec"].pop("containers")
    return body


async def said_against(web: Application) -> str:
    """What a preview fails with."""
    with pytest.raises(aio.AioRpcError) as refused:
        await web.plugin.plan_preview()
    assert refused.value.code() is grpc.StatusCode.FAILED_PRECONDITION
    return str(refused.value.details())


async def test_what_the_cluster_refuses_fails_the_preview_with_its_line(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(misspelt(), a_config_map())

        said = await said_against(web)

        assert said.splitlines()[0] == "1 object is refused by the cluster; this was tried, nothing was changed:"
        assert f"Deployment {namespace}/web: " in said
        assert "spec.template.spec.contianers: there is no such field" in said
        assert web.all_names("deployment,configmap") == []


async def test_a_change_that_the_cluster_takes_is_previewed_and_not_made(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment(), a_service())

        (seen,) = await web.plugin.plan_preview()

        assert seen.summary == "2 added manifests, 0 changed manifests, 0 deleted manifests"
        assert seen.details.startswith("+ 1. ")
        assert web.all_names("deployment,service") == []


async def test_what_may_come_with_the_change_is_not_held_against_it(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    group = f"{namespace}.example.com"
    widget = {"apiVersion": f"{group}/v1", "kind": "Widget", "metadata": {"name": "w"}}
    elsewhere = a_config_map()
    elsewhere["metadata"]["namespace"] = f"{namespace}-new"
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_definition(group, "Widget"), widget, elsewhere)

        (seen,) = await web.plugin.plan_preview()

        assert seen.details.startswith("+ 1. ")


async def test_a_selector_with_the_label_that_a_stage_has_added_is_not_taken_for_a_change(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment(), quickSync={"addVariantLabelToSelector": True})
        await web.succeed("K8S_SYNC")

        (seen,) = await web.plugin.plan_preview()

        assert seen.changes


async def test_without_rights_nothing_is_said_against_a_change(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    rights = cluster.limited([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}], namespace)
    async with an_application(cluster, namespace, tmp_path, kubeconfig=rights) as web:
        web.commit(misspelt())

        (seen,) = await web.plugin.plan_preview()

        assert seen.details.startswith("+ 1. ")


async def test_a_cluster_that_is_away_is_named_and_the_preview_is_there(tmp_path: Path) -> None:
    away = f"https://127.0.0.1:{a_free_port()}"
    target = DeployTarget(name="far", config={"masterURL": away, "kubeConfigPath": str(tmp_path / "none")})
    async with plugin_under_test(Kubernetes, tmp_path, targets=(target,)) as plugin:
        web = Application(plugin, None, "shop", tmp_path)  # type: ignore[arg-type]  # there is none
        web.commit(a_deployment())

        (seen,) = await plugin.plan_preview()

        first = seen.details.splitlines()[0]
        assert first.startswith("# The cluster far was not asked whether it takes this: ")
        assert '+ 1. name="web", kind="Deployment"' in seen.details
