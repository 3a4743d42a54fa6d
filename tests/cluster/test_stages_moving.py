"""Objects that move from one application to another, in one commit."""

from pathlib import Path
from typing import Any

import pytest

from fairway.kube.cluster import Cluster
from tests.cluster.kubernetes_applications import FAILED, Application, a_config_map, an_application
from tests.clusters.running import RunningCluster

APPLICATION = "pipecd.dev/application"


def work_for(web: Application, name: str) -> None:
    """One of the two applications is spoken of from now on."""
    web.work_for(name)


def owner(web: Application, name: str = "moves") -> str:
    found: str = web.get("configmap", name)["metadata"]["annotations"][APPLICATION]
    return found


async def first_has_it(web: Application) -> None:
    work_for(web, "first")
    web.commit(a_config_map("moves"), a_config_map("stays"))
    await web.succeed("K8S_SYNC")
    web.deployed()


async def test_what_moves_in_one_commit_is_taken_over_and_not_pruned_by_whoever_had_it(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        await first_has_it(web)
        web.commit(a_config_map("stays"))
        await web.plugin.live_state()
        work_for(web, "second")
        web.commit(a_config_map("moves"))

        ended = await web.succeed("K8S_SYNC")
        work_for(web, "first")
        web.commit(a_config_map("stays"))
        await web.succeed("K8S_SYNC", prune=True)

        assert f"ConfigMap {namespace}/moves: taken over from application first-{namespace}" in ended.log
        assert owner(web) == f"second-{namespace}"


async def test_what_both_have_at_a_commit_is_refused(cluster: RunningCluster, namespace: str, tmp_path: Path) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        await first_has_it(web)
        await web.plugin.live_state()
        work_for(web, "second")

        ended = await web.run("K8S_SYNC")

        assert ended.status is FAILED
        assert f"application first (first-{namespace}), whose manifests have it at commit 0000000" in ended.message
        assert owner(web) == f"first-{namespace}"


async def test_what_is_taken_over_while_it_is_pruned_stays(
    cluster: RunningCluster, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are deployed at once: it was found as one's own, and is the other's when it is to be deleted."""
    delete = Cluster.delete
    async with an_application(cluster, namespace, tmp_path) as web:

        async def late(self: Cluster, *arguments: Any, **options: Any) -> bool:
            for each in ("label", "annotate"):
                web.kubectl(each, "configmap", "moves", f"{APPLICATION}=second-{namespace}", "--overwrite")
            return await delete(self, *arguments, **options)

        await first_has_it(web)
        monkeypatch.setattr(Cluster, "delete", late)
        web.commit(a_config_map("stays"))

        ended = await web.succeed("K8S_SYNC", prune=True)

        assert f"ConfigMap {namespace}/moves: stays, because application second-{namespace} has taken it over" in (
            ended.log
        )
        assert ended.log[-1] == "1 object applied"
        assert owner(web) == f"second-{namespace}"


async def test_what_changes_while_it_is_pruned_goes_all_the_same(
    cluster: RunningCluster, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    delete = Cluster.delete
    async with an_application(cluster, namespace, tmp_path) as web:

        async def late(self: Cluster, *arguments: Any, **options: Any) -> bool:
            web.kubectl("annotate", "configmap", "moves", "seen=once", "--overwrite")
            return await delete(self, *arguments, **options)

        await first_has_it(web)
        monkeypatch.setattr(Cluster, "delete", late)
        web.commit(a_config_map("stays"))

        await web.succeed("K8S_SYNC", prune=True)

        assert web.names("configmap") == ["stays"]


async def test_a_rollback_leaves_what_has_moved_to_another_application(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        await first_has_it(web)
        web.commit(a_config_map("stays", a="2"))
        await web.plugin.live_state()
        await web.succeed("K8S_SYNC")
        target, commit = web.plugin.folder.with_name("target"), web.plugin.commit
        web.plugin.folder.rename(target)
        web.plugin.folder.mkdir()
        work_for(web, "second")
        web.commit(a_config_map("moves", of="second"))
        await web.succeed("K8S_SYNC")

        work_for(web, "first")
        web.plugin.folder, web.plugin.commit = target, commit
        ended = await web.succeed("K8S_ROLLBACK")

        assert f"ConfigMap {namespace}/moves: stays as it is, because it is application second's by now" in ended.log
        assert "data" not in web.get("configmap", "stays")
        assert web.get("configmap", "moves")["data"] == {"of": "second"}
