"""What a commit says may change although the commit stays: which version of a chart is the newest of a range."""

from pathlib import Path

import pytest

from fairway.model.application import SyncStatus
from fairway.plugins.kubernetes.manifests import renderings
from tests.cluster.kubernetes_applications import Application, an_application
from tests.clusters.running import RunningCluster
from tests.integration.agent.running import until

#: A stand-in: whatever chart is asked for, its newest version is in a file.
HELM = """\
#!/bin/sh
[ "$1" = version ] && echo v3.14.2 && exit
printf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {{name: settings}}\\ndata: {{version: "%s"}}\\n' $(cat {newest})
"""
CHART = {"repository": "oci://charts.example.com/all", "name": "web", "version": "^1"}


class Charts:
    """Where charts come from."""

    def __init__(self, folder: Path) -> None:
        self._newest, helm = folder / "newest", folder / "bin/helm"
        helm.parent.mkdir()
        helm.write_text(HELM.format(newest=self._newest))
        helm.chmod(0o755)

    def publish(self, version: str) -> None:
        self._newest.write_text(version)


@pytest.fixture
def charts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Charts:
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    # Five minutes have gone by, each time.
    monkeypatch.setattr(renderings, "FLOATING_SECONDS", 0.0)
    return Charts(tmp_path)


async def until_synced(web: Application) -> bool:
    async def look() -> bool:
        return (await web.plugin.live_state(under_way=False))[1].status is SyncStatus.SYNCED

    return await until(look)


async def test_a_newer_chart_that_was_deployed_is_what_git_says(
    charts: Charts, cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(input={"helmChart": CHART})
        charts.publish("1")
        await web.succeed("K8S_SYNC")
        await until_synced(web)

        charts.publish("2")
        await web.plugin.live_state(under_way=True)
        await web.succeed("K8S_SYNC")

        assert web.get("configmap", "settings")["data"] == {"version": "2"}
        assert await until_synced(web)
