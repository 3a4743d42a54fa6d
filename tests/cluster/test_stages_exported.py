"""Manifests that were exported with kubectl, or that only kubectl accepts."""

from pathlib import Path
from typing import Any

from tests.cluster.kubernetes_applications import a_config_map, a_deployment, an_application
from tests.clusters.running import RunningCluster

REPEATED: dict[str, Any] = {
    "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "$(A)"}, {"name": "A", "value": "2"}],
    "ports": [{"containerPort": 80}, {"containerPort": 80}],
}


async def test_what_kubectl_exports_can_be_deployed_as_it_is(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.kubectl("apply", "-f", "-", given=a_deployment())
        web.kubectl("apply", "-f", "-", given=a_config_map(a="1"))
        exported = [web.get("deployment", "web"), web.get("configmap", "settings")]
        web.commit(*exported)

        ended = await web.succeed("K8S_SYNC")
        await web.succeed("K8S_SYNC")

        warned = [each for each in ended.log if "only the cluster sets" in each]
        assert [each for each in warned if "metadata.resourceVersion" in each and "metadata.uid" in each] == warned
        assert len(warned) == 2


async def test_repeated_environment_variables_are_deployed_as_a_container_sees_them(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """Also in place of an object that kubectl has made of the same manifest."""
    async with an_application(cluster, namespace, tmp_path) as web:
        web.kubectl("apply", "-f", "-", given=a_deployment("old", container=REPEATED))
        web.commit(a_deployment("new", container=REPEATED), a_deployment("old", container=REPEATED))

        ended = await web.succeed("K8S_SYNC")

        for name in ("old", "new"):
            (container,) = web.get("deployment", name)["spec"]["template"]["spec"]["containers"]
            assert container["env"] == [{"name": "B", "value": "1"}, {"name": "A", "value": "2"}]
        assert len([each for each in ended.log if "sets A more than once; the last value is applied" in each]) == 2
        _, state = await web.plugin.live_state(under_way=False)
        assert state.reason == ""
