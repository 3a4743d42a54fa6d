"""Objects that a finalizer keeps from going: the log says what is waited for, and nobody counts them as gone."""

from pathlib import Path

import pytest

from fairway.plugins.kubernetes.removing import removing
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


async def test_what_holds_an_object_is_told_while_it_is_to_be_made_anew(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    said = f"ConfigMap {namespace}/old: It is being removed; it waits for example.com/hold"
    anew = a_config_map("old")
    anew["metadata"]["annotations"] = {"pipecd.dev/force-sync-by-replace": "enabled"}
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(anew)
        await web.succeed("K8S_SYNC")
        hold(web, "old")

        async with while_running(web, "K8S_SYNC", said) as (stage, _):
            let_go(web, "old")
            ended = await stage

    assert ended.status is SUCCEEDED, ended


async def test_what_is_still_held_does_not_count_as_removed(
    cluster: RunningCluster, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(removing, "_PATIENCE_SECONDS", 0.5)
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_config_map("kept"))
        await web.succeed("K8S_SYNC")
        web.deployed()
        web.commit(a_config_map("kept", a="2"), a_config_map("new"), a_config_map("held"))
        await web.succeed("K8S_SYNC")
        hold(web, "held")

        ended = await web.succeed("K8S_ROLLBACK")
        let_go(web, "held")

    assert ended.log[-1] == "1 object as it was before, 1 removed, 1 still being removed"
    why = "because it came with the deployment that is rolled back"
    more = "example.com/hold may take longer, which is not waited for"
    assert f"ConfigMap {namespace}/held: is being removed, {why}; {more}" in ended.log
