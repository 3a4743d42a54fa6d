"""Objects that a finalizer keeps from going: the log says what is waited for."""

from pathlib import Path

from tests.cluster.kubernetes_applications import (
    SUCCEEDED,
    Application,
    a_config_map,
    an_application,
    while_running,
)
from tests.clusters.running import RunningCluster


def hold(web: Application, name: str) -> None:
    patch = '{"metadata": {"finalizers": ["example.com/hold"]}}'
    web.kubectl("patch", "configmap", name, "--type=merge", "-p", patch)


def let_go(web: Application, name: str) -> None:
    web.kubectl("patch", "configmap", name, "--type=merge", "-p", '{"metadata": {"finalizers": null}}')


async def test_what_holds_an_object_is_told_while_it_is_waited_for(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    said = f"ConfigMap {namespace}/old: It is being removed; it waits for example.com/hold"
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_config_map("old"), a_config_map("kept"))
        await web.succeed("K8S_SYNC")
        hold(web, "old")
        web.commit(a_config_map("kept"))

        async with while_running(web, "K8S_SYNC", said, {"prune": True}) as (stage, _):
            let_go(web, "old")
            ended = await stage

    assert (ended.status, ended.log[-1]) == (SUCCEEDED, "1 object applied, 1 removed"), ended
