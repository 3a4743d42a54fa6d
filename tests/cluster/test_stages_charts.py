"""Charts and kustomizations brought to a real cluster."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.charts import CHART, tools_on_path
from tests.cluster.kubernetes_applications import FAILED, Application, a_deployment, an_application
from tests.clusters.running import RunningCluster

__all__ = ["tools_on_path"]
pytestmark = pytest.mark.usefixtures("tools_on_path")

TEMPLATE = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .Release.Name }}}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "web:{{ .Chart.Version }}"}]}
"""


def commit(application: Application, files: dict[str, str], **settings: Any) -> None:
    """What Git says from now on."""
    application.commit(**settings)
    folder = application.plugin.folder
    (folder / "manifests.yaml").unlink()
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


async def test_a_chart_is_brought_to_the_cluster_and_its_hooks_are_told_of(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    chart = {f"chart/{name}": text for name, text in CHART.items() if not name.startswith("crds")}
    chart["chart/templates/deployment.yaml"] = TEMPLATE
    async with an_application(cluster, namespace, tmp_path) as web:
        options = {"setValues": {"replicas": "2"}, "releaseName": "shop"}
        commit(web, chart, input={"helmChart": {"path": "chart"}, "helmOptions": options})

        ended = await web.succeed("K8S_SYNC")

        deployment = web.get("deployment", "shop")
        assert deployment["status"]["availableReplicas"] == 2
        assert deployment["spec"]["template"]["spec"]["containers"][0]["image"] == "web:1.2.3"
        assert any("hook Job migrate (pre-install) is not run" in line for line in ended.log)


async def test_a_canary_of_a_kustomization(cluster: RunningCluster, namespace: str, tmp_path: Path) -> None:
    kustomization = "resources: [web.yaml]\nnamePrefix: shop-\nimages: [{name: web, newTag: v2}]\n"
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment(replicas=2))
        shutil.move(web.plugin.folder / "manifests.yaml", web.plugin.folder / "web.yaml")
        (web.plugin.folder / "kustomization.yaml").write_text(kustomization)

        await web.succeed("K8S_CANARY_ROLLOUT", replicas="50%")

        assert web.names("deployments") == ["shop-web-canary"]


async def test_a_mistake_in_one_of_many_manifests_keeps_all_from_being_applied(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        good = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: good}\n"
        commit(web, {"a.yaml": good, "b.yaml": f"{good}---\napiVersion: v1\nkind: Secret\nmetadata:\n  nam: x\n"})

        ended = await web.run("K8S_SYNC")

        assert ended.status is FAILED
        assert ended.message == (
            "b.yaml:8:3: error: metadata: name is missing (is 'nam' a misspelling of it?); expected the name of the "
            "object"
        )
        assert web.names("configmaps") == []
