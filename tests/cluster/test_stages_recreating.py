"""`force-sync-by-replace`: what is deleted and created again, and what is applied in place."""

from pathlib import Path
from typing import Any

import pytest

from tests.cluster.kubernetes_applications import (
    Application,
    a_config_map,
    a_definition,
    a_deployment,
    a_service,
    an_application,
)
from tests.cluster.test_stages_replacing import ANEW, asking
from tests.clusters.running import RunningCluster


def uid(web: Application, kind: str, name: str) -> str:
    """Which object it is: another one when it was recreated."""
    return str(web.get(kind, name)["metadata"]["uid"])


def labelled(body: dict[str, Any], **labels: str) -> dict[str, Any]:
    return {**body, "metadata": {**body["metadata"], "labels": labels}}


async def test_a_namespace_with_objects_of_others_is_applied_in_place(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    other = f"{namespace}-x"
    recreated = asking({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": other}}, ANEW)
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(recreated)
        await web.succeed("K8S_SYNC")
        before = uid(web, "namespace", other)
        cluster.kubectl("create", "configmap", "theirs", namespace=other)

        web.commit(labelled(recreated, tier="front"))
        ended = await web.succeed("K8S_SYNC")

        assert uid(web, "namespace", other) == before
        assert web.get("namespace", other)["metadata"]["labels"]["tier"] == "front"
        assert cluster.kubectl("get", "configmap", "theirs", "-o", "name", namespace=other)
        why = "ConfigMap theirs in it is not this application's"
        assert f"Namespace {other}: not recreated, because {why}" in ended.log


async def test_a_definition_with_objects_is_applied_in_place(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    group = f"{namespace}.example.com"
    recreated, name = asking(a_definition(group, "Thing"), ANEW), f"things.{group}"
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(recreated)
        await web.succeed("K8S_SYNC")
        before = uid(web, "crd", name)
        web.kubectl(
            "create", "-f", "-", given={"apiVersion": f"{group}/v1", "kind": "Thing", "metadata": {"name": "x"}}
        )

        web.commit(labelled(recreated, tier="front"))
        ended = await web.succeed("K8S_SYNC")

        assert uid(web, "crd", name) == before
        assert [each for each in ended.log if f"Thing {namespace}/x would go with it" in each]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(a_config_map(a="1"), a_config_map(a="2"), id="a value"),
        pytest.param(a_config_map(a="1", b="1"), a_config_map(a="1"), id="an entry less"),
        pytest.param(a_deployment(), a_deployment(image="web:2"), id="an image"),
        pytest.param(a_service(), a_service(ports=[{"port": 81}]), id="a port"),
    ],
)
async def test_only_what_changes_is_recreated(
    first: dict[str, Any], second: dict[str, Any], cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    kind, name = first["kind"], first["metadata"]["name"]
    async with an_application(cluster, namespace, tmp_path) as web:
        uids = []
        for body in (first, first, first, second, second):
            web.commit(asking(body, ANEW))
            ended = await web.succeed("K8S_SYNC")
            uids.append(uid(web, kind, name))

        assert uids[0] == uids[1] == uids[2] != uids[3] == uids[4]
        assert f"{kind} {namespace}/{name}: not recreated, because nothing of it changes" in ended.log
        assert web.get(kind, name)["metadata"]["labels"]["pipecd.dev/commit-hash"] == web.plugin.commit


async def test_what_was_changed_by_hand_is_recreated(cluster: RunningCluster, namespace: str, tmp_path: Path) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(asking(a_config_map(a="1"), ANEW))
        await web.succeed("K8S_SYNC")
        before = uid(web, "configmap", "settings")
        web.kubectl("patch", "configmap", "settings", "-p", '{"data": {"by-hand": "x"}}')

        await web.succeed("K8S_SYNC")

        assert uid(web, "configmap", "settings") != before
        assert web.get("configmap", "settings")["data"] == {"a": "1"}
