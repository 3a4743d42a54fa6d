"""The rollback on a real cluster: back to what ran before, and nothing left of the new."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster.kubernetes_applications import (
    FAILED,
    SUCCEEDED,
    Application,
    a_config_map,
    a_deployment,
    a_service,
    a_stage,
    a_stateful_set,
    an_application,
    pods,
    while_running,
)
from tests.clusters.running import RunningCluster

VARIANT = "pipecd.dev/variant"
WITHOUT_VARIANTS = (
    "The primary stays as it is now at deploy target test; canary and baseline were removed, which no traffic needs"
)


@pytest.mark.parametrize("name", ["K8S_ROLLBACK", "ROLLBACK"])
async def test_a_rollback_brings_back_what_ran_and_takes_away_what_is_new(
    name: str, cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """Defect 15 of PipeCD: what the failed commit had added stayed. `ROLLBACK` is what v0 calls the stage."""
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment(), a_config_map("kept", a="1"))
        await web.succeed("K8S_SYNC")
        web.deployed()
        web.commit(a_deployment(image="broken:2", deadline=1), a_config_map("kept", a="2"), a_config_map("new"))
        await web.succeed("K8S_CANARY_ROLLOUT", patches=[that_runs("web:2")])
        assert (await web.run("K8S_PRIMARY_ROLLOUT")).status is FAILED

        ended = await web.run(name)

        assert (ended.status, ended.log[-1]) == (SUCCEEDED, "2 objects as they were before, 4 removed"), ended
        assert (web.names("deployment"), web.names("configmap")) == (["web"], ["kept"])
        assert web.get("configmap", "kept")["data"] == {"a": "1"}
        deployment = web.get("deployment", "web")
        assert deployment["spec"]["template"]["spec"]["containers"][0]["image"] == "web:1"
        assert deployment["status"]["availableReplicas"] == 1


def that_runs(image: str) -> dict[str, Any]:
    """A patch of the canary's image, which is given the time it takes."""
    ops = [
        {"path": "$.spec.template.spec.containers[0].image", "value": image},
        {"path": "$.spec.progressDeadlineSeconds", "value": "600"},
    ]
    return {"target": {"kind": "Deployment", "name": "web"}, "ops": ops}


async def test_a_rollback_of_a_canary_leaves_the_primarys_pods_alone(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment(replicas=2))
        await web.succeed("K8S_SYNC")
        web.deployed()
        before = pods(web)
        web.commit(a_deployment(image="web:2", replicas=2))
        await web.succeed("K8S_CANARY_ROLLOUT")

        await web.succeed("K8S_ROLLBACK")

        assert before <= pods(web)
        assert web.names("deployment") == ["web"]


async def test_a_rollback_keeps_what_it_has_brought_back_whatever_its_label_meant_in_the_other_commit(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment(), a_service(), variantLabel={"primaryValue": "blue", "canaryValue": "green"})
        await web.succeed("K8S_SYNC")
        web.deployed()
        swapped = {"primaryValue": "green", "canaryValue": "blue"}
        web.commit(a_deployment(image="web:2"), a_service(), variantLabel=swapped)
        await web.succeed("K8S_CANARY_ROLLOUT")

        ended = await web.succeed("K8S_ROLLBACK")

        assert ended.log[-1] == "2 objects as they were before, 1 removed"
        assert (web.names("deployment"), web.names("service")) == (["web"], ["web"])


async def test_a_canary_goes_without_what_git_describes_beside_it(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment(), variantLabel={"primaryValue": "green", "canaryValue": "blue"})
        await web.succeed("K8S_SYNC")
        web.deployed()
        web.commit(a_deployment(image="web:2"), variantLabel={"primaryValue": "blue", "canaryValue": "green"})
        await web.succeed("K8S_CANARY_ROLLOUT")

        ended = await web.succeed("K8S_CANARY_CLEAN")

        assert (ended.log[-1], web.names("deployment")) == ("1 object removed", ["web"])


async def test_a_first_deployment_that_is_rolled_back_leaves_nothing_but_what_may_hold_data(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """Defect 15 of PipeCD: everything stayed. What was there before, and whoever's it is, stays as it is."""
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    async with an_application(cluster, namespace, tmp_path) as web:
        web.kubectl("apply", "-f", "-", given=a_config_map("theirs"))
        web.commit(a_deployment(image="broken:1", deadline=1), a_service(), claim)
        assert (await web.run("K8S_SYNC")).status is FAILED

        ended = await web.succeed("K8S_ROLLBACK")

        assert (ended.log[-1], ended.message) == ("2 objects removed", "")
        left = web.all_names("deployment,service,configmap,pvc")
        assert left == ["configmap/theirs", "persistentvolumeclaim/data"]


@pytest.mark.parametrize("first", [True, False], ids=["first deployment", "another deployment"])
async def test_what_was_there_before_an_application_had_it_is_named_when_it_cannot_be_rolled_back(
    first: bool, cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        if not first:
            web.commit(a_config_map("known", a="1"))
            await web.succeed("K8S_SYNC")
            web.deployed()
        web.kubectl("apply", "-f", "-", given=a_config_map("there", a="theirs"))
        web.commit(a_deployment(image="broken:1", deadline=1), a_config_map("known"), a_config_map("there", a="1"))
        assert (await web.run("K8S_SYNC")).status is FAILED

        ended = await web.succeed("K8S_ROLLBACK")

        there = f"ConfigMap {namespace}/there"
        assert f"{there}: stays as this deployment has made it, because it was there before" in ended.log
        assert ended.message == f"{there} stays as this deployment has made it: what it was before is not in Git"
        assert web.get("configmap", "there")["data"] == {"a": "1"}


async def test_a_deployment_that_fails_with_its_manifests_is_rolled_back_all_the_same(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_config_map(a="1"))
        await web.succeed("K8S_SYNC")
        web.deployed()
        web.commit(a_config_map(a="2"))
        await web.succeed("K8S_SYNC")
        web.commit({"apiVersion": "v1", "kind": "ConfigMap"})
        assert (await web.run("K8S_PRIMARY_ROLLOUT")).status is FAILED

        ended = await web.succeed("K8S_ROLLBACK")

        assert ended.log[-1] == "1 object as it was before, 0 removed"
        assert web.get("configmap", "settings")["data"] == {"a": "1"}


@pytest.mark.parametrize("first", [True, False], ids=["first deployment", "another deployment"])
async def test_a_rollback_of_a_deployment_that_has_applied_nothing_says_so(
    first: bool, cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        if not first:
            web.commit(a_config_map(a="1"))
            await web.succeed("K8S_SYNC")
            web.deployed()
        web.commit({"apiVersion": "v1", "kind": "ConfigMap"})
        assert (await web.run("K8S_SYNC")).status is FAILED

        ended = await web.succeed("K8S_ROLLBACK")

        assert ended.message == ended.log[-1] == "nothing had been applied, so there was nothing to undo"


@pytest.mark.parametrize("others", [0, 12], ids=["alone", "after many others"])
async def test_a_stateful_set_is_rolled_back_although_its_controller_waits_for_a_pod_that_never_comes(
    others: int, cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    before = [a_deployment(f"web-{number}") for number in range(others)]

    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(*before, a_stateful_set(image="db:1", replicas=2))
        await web.succeed("K8S_SYNC")
        web.deployed()
        web.commit(*before, a_stateful_set(image="broken:2", replicas=2))
        async with while_running(web, "K8S_SYNC", "ImagePullBackOff") as (_, stage_id):
            await web.plugin.stop(stage_id, "somebody cancelled it")

        await web.succeed("K8S_ROLLBACK")

        assert web.get("statefulset", "db")["status"]["readyReplicas"] == 2


async def test_selectors_stay_as_they_are_whichever_setting_has_made_them(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """Defect 14 of PipeCD: the rollback looked at the wrong setting, and selectors cannot be changed."""
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment())
        await web.succeed("K8S_PRIMARY_ROLLOUT", addVariantLabelToSelector=True)
        web.deployed()
        web.commit(a_deployment(image="web:2"))
        await web.succeed("K8S_PRIMARY_ROLLOUT", addVariantLabelToSelector=True)

        await web.succeed("K8S_ROLLBACK")

        spec = web.get("deployment", "web")["spec"]
        assert spec["selector"]["matchLabels"] == {"app": "web", VARIANT: "primary"}
        assert spec["template"]["spec"]["containers"][0]["image"] == "web:1"


async def traffic_at_the_canary(web: Application) -> dict[str, Any]:
    """All traffic goes to a canary; the primary that it went to before."""
    labels = {"app": "web", VARIANT: "primary"}
    primary = a_deployment()
    primary["spec"]["selector"]["matchLabels"] = primary["spec"]["template"]["metadata"]["labels"] = labels
    web.commit(primary, a_service(selector=labels))
    await web.succeed("K8S_SYNC")
    web.deployed()
    await web.succeed("K8S_CANARY_ROLLOUT")
    await web.succeed("K8S_TRAFFIC_ROUTING", all="canary")
    return primary


@pytest.mark.parametrize("touched", [False, True], ids=["only a canary was made", "the primary was changed"])
async def test_traffic_goes_back_to_a_primary_that_is_well(
    touched: bool, cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """At once where the primary was left alone, and after it where it was not."""
    async with an_application(cluster, namespace, tmp_path) as web:
        await traffic_at_the_canary(web)
        status = SUCCEEDED if touched else None
        stages = [a_stage("K8S_TRAFFIC_ROUTING", 1, SUCCEEDED), a_stage("K8S_ROLLBACK", 0, id="r")]
        web.plugin.stages = (*stages, *([a_stage("K8S_PRIMARY_ROLLOUT", 2, status)] if status else []))

        ended = await web.run("K8S_ROLLBACK", id="r")

        assert web.get("service", "web")["spec"]["selector"] == {"app": "web", VARIANT: "primary"}
        objects = [line.partition(":")[0] for line in ended.log if ": changed (" in line or line.endswith("as it was")]
        service, deployment = f"Service {namespace}/web", f"Deployment {namespace}/web"
        assert objects == ([deployment, service] if touched else [service, deployment])


async def test_a_rollback_that_was_broken_off_goes_on_when_it_is_asked_for_again(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment(image="broken:1"))
        web.deployed()
        running = web.plugin.running
        web.commit(a_deployment(), a_config_map("new"))
        await web.succeed("K8S_SYNC")
        async with while_running(web, "K8S_ROLLBACK", "ImagePullBackOff") as (rollback, stage_id):
            rollback.cancel()

        assert running is not None
        file = running / "manifests.yaml"
        file.write_text(file.read_text().replace("broken:1", "web:0"))
        ended = await web.run("K8S_ROLLBACK", id=stage_id)

        assert ended.log[-1] == "1 object as it was before, 1 removed"
        assert (web.names("deployment"), web.names("configmap")) == (["web"], [])


async def test_a_rollback_that_is_refused_takes_a_canary_away_to_which_no_traffic_was_sent(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment())
        await web.succeed("K8S_SYNC")
        web.deployed()
        web.commit(a_deployment(image="web:2"))
        await web.succeed("K8S_CANARY_ROLLOUT")
        by_a_bot(web, a_deployment(image="web:9"))
        web.plugin.stages = (a_stage("K8S_PRIMARY_ROLLOUT", 1, FAILED), a_stage("K8S_ROLLBACK", 0, id="r"))

        ended = await web.run("K8S_ROLLBACK", id="r")

        assert ended.status is FAILED
        assert ended.message.startswith("1 object is refused by the cluster; nothing was applied:\n")
        assert ended.message.splitlines()[-1] == WITHOUT_VARIANTS
        assert web.names("deployment") == ["web"]


def by_a_bot(web: Application, deployment: dict[str, Any]) -> None:
    """Somebody else takes a Deployment over, and it is available again."""
    text = yaml.safe_dump(deployment)
    web.kubectl("apply", "--server-side", "--field-manager=image-bot", "--force-conflicts", "-f", "-", given=text)
    web.kubectl("rollout", "status", f"deployment/{deployment['metadata']['name']}")


@pytest.mark.parametrize("touched", [False, True], ids=["before the primary", "after the primary"])
async def test_a_rollback_that_is_refused_says_what_stays_of_a_canary_that_may_have_the_traffic(
    touched: bool, cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """Where traffic could be sent back to the primary, nothing needs the canary any more."""
    async with an_application(cluster, namespace, tmp_path) as web:
        primary = await traffic_at_the_canary(web)
        taken = deepcopy(primary)
        taken["spec"]["template"]["spec"]["containers"][0]["image"] = "web:9"
        by_a_bot(web, taken)
        stages = [a_stage("K8S_TRAFFIC_ROUTING", 1, SUCCEEDED), a_stage("K8S_ROLLBACK", 0, id="r")]
        web.plugin.stages = (*stages, *([a_stage("K8S_PRIMARY_ROLLOUT", 2, FAILED)] if touched else []))

        ended = await web.run("K8S_ROLLBACK", id="r")

        before = "nothing was applied" if touched else "1 had been applied before"
        assert ended.message.startswith(f"1 object is refused by the cluster; {before}:\n"), ended
        stays = (
            "The primary stays as it is now at deploy target test, and so does what this deployment has made: "
            f"Deployment {namespace}/web-canary, to which traffic may go; put right what is said above and deploy "
            "application again, or remove by hand what is not wanted"
        )
        assert (
            ended.message.splitlines()[-1] == ended.log[-1].splitlines()[-1] == (stays if touched else WITHOUT_VARIANTS)
        )
        assert web.names("deployment") == (["web", "web-canary"] if touched else ["web"])
