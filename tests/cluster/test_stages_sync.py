"""K8S_SYNC on a real cluster: applying, waiting, pruning, taking over, and being refused."""

from pathlib import Path

from tests.cluster.kubernetes_applications import (
    SUCCEEDED,
    a_config_map,
    a_deployment,
    a_service,
    an_application,
)
from tests.clusters.running import RunningCluster


async def test_a_sync_brings_everything_and_waits_until_it_is_available(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment(replicas=2), a_service(), a_config_map(a="1"))

        ended = await web.run("K8S_SYNC")

        assert (ended.status, ended.log[-1]) == (SUCCEEDED, "3 objects applied"), ended
        deployment = web.get("deployment", "web")
        assert deployment["status"]["availableReplicas"] == 2
        assert deployment["metadata"]["labels"]["pipecd.dev/application"] == "application"
