"""Canary, baseline and traffic on a real cluster."""

from pathlib import Path
from typing import Any

from tests.cluster.kubernetes_applications import (
    FAILED,
    Application,
    a_config_map,
    a_deployment,
    a_service,
    a_stage,
    an_application,
    pods,
)
from tests.clusters.running import RunningCluster

VARIANT = "pipecd.dev/variant"


def labelled(body: dict[str, Any]) -> dict[str, Any]:
    """The Deployment with the primary's label, so that a Service can select it."""
    for labels in (body["spec"]["selector"]["matchLabels"], body["spec"]["template"]["metadata"]["labels"]):
        labels[VARIANT] = "primary"
    return body


def selecting_primary() -> dict[str, Any]:
    return a_service(selector={"app": "web", VARIANT: "primary"})


def selected(web: Application) -> str:
    """Which variant the Service sends to."""
    found: str = web.get("service", "web")["spec"]["selector"][VARIANT]
    return found


async def test_a_canary_runs_beside_the_primary_with_its_own_configuration_and_service(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """With a node port, which only one Service can have (defect 19 of PipeCD)."""
    uses = {"envFrom": [{"configMapRef": {"name": "settings"}}]}
    service = a_service(type="NodePort", externalTrafficPolicy="Local")
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment(replicas=4, container=uses), a_config_map(a="1"), service)
        await web.succeed("K8S_SYNC")
        web.deployed()
        before = pods(web)

        ports = [{**each, "nodePort": each["nodePort"]} for each in web.get("service", "web")["spec"]["ports"]]
        service = a_service(type="NodePort", externalTrafficPolicy="Local", ports=ports)
        web.commit(a_deployment(image="web:2", replicas=4, container=uses), a_config_map(a="2"), service)
        await web.succeed("K8S_CANARY_ROLLOUT", replicas="50%", createService=True)

        canary = web.get("deployment", "web-canary")
        assert canary["status"]["availableReplicas"] == 2
        assert canary["spec"]["template"]["spec"]["containers"][0]["envFrom"] == [
            {"configMapRef": {"name": "settings-canary"}}
        ]
        assert web.get("configmap", "settings-canary")["data"] == {"a": "2"}
        assert web.get("configmap", "settings")["data"] == {"a": "1"}
        assert web.get("service", "web-canary")["spec"]["selector"] == {"app": "web", VARIANT: "canary"}
        assert before < pods(web)


async def test_a_share_is_one_of_what_an_autoscaler_has_set(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment(replicas=1))
        await web.succeed("K8S_SYNC")
        path = f"/apis/apps/v1/namespaces/{namespace}/deployments/web/scale?fieldManager=autoscaler"
        cluster.api.merge(path, {"spec": {"replicas": 4}})

        await web.succeed("K8S_CANARY_ROLLOUT", replicas="50%")

        assert web.get("deployment", "web-canary")["spec"]["replicas"] == 2


async def test_cleaning_takes_every_canary_and_nothing_else(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """Defect 16 of PipeCD: of two canaries the first was forgotten."""
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment(), a_config_map(), a_service())
        await web.succeed("K8S_SYNC")
        await web.succeed("K8S_CANARY_ROLLOUT", suffix="first", createService=True)
        await web.succeed("K8S_CANARY_ROLLOUT", suffix="second")

        ended = await web.succeed("K8S_CANARY_CLEAN")
        again = await web.succeed("K8S_CANARY_CLEAN")

        assert (ended.log[-1], again.log[-1]) == ("5 objects removed", "0 objects removed")
        left = [web.names(kind) for kind in ("deployment", "configmap", "service")]
        assert left == [["web"], ["settings"], ["web"]]


async def test_patches_make_a_canary_differ(cluster: RunningCluster, namespace: str, tmp_path: Path) -> None:
    patch = {
        "target": {"kind": "ConfigMap", "name": "settings", "documentRoot": "$.data.file"},
        "ops": [{"op": "yaml-replace", "path": "$.level", "value": "debug"}],
    }
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment(), a_config_map(file="level: info # as ever\n"))

        await web.succeed("K8S_CANARY_ROLLOUT", patches=[patch])

        assert web.get("configmap", "settings-canary")["data"] == {"file": "level: debug # as ever\n"}


async def test_a_baseline_is_what_runs_now_with_its_own_settings(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """Defect 27 of PipeCD: what runs was read with the settings of the new commit."""
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment("old"), a_deployment("other"), workloads=[{"name": "old"}])
        first = await web.run("K8S_BASELINE_ROLLOUT")
        await web.succeed("K8S_SYNC")
        web.deployed()

        web.commit(a_deployment("new"), a_deployment("other"), workloads=[{"name": "new"}])
        await web.succeed("K8S_BASELINE_ROLLOUT", replicas=2)
        baseline = web.get("deployment", "old-baseline")
        await web.succeed("K8S_BASELINE_CLEAN")

        assert first.status is FAILED
        assert "never been deployed before" in first.message
        assert baseline["status"]["availableReplicas"] == 2
        assert baseline["metadata"]["labels"]["pipecd.dev/commit-hash"] == web.plugin.running_commit
        assert web.names("deployment") == ["old", "other"]


async def test_blue_and_green_by_the_selector_of_a_service(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """The primary's rollout does not send traffic back before the stage that does."""
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(labelled(a_deployment()), selecting_primary())
        await web.succeed("K8S_SYNC")
        web.deployed()
        web.commit(labelled(a_deployment(image="web:2")), selecting_primary())
        names = ["K8S_CANARY_ROLLOUT", "K8S_TRAFFIC_ROUTING", "K8S_PRIMARY_ROLLOUT", "K8S_TRAFFIC_ROUTING"]
        web.plugin.stages = tuple(a_stage(name, index, id=f"{index}") for index, name in enumerate(names))

        seen = []
        for index, options in enumerate([{}, {"all": "canary"}, {}, {"all": "primary"}]):
            ended = await web.run(names[index], options, id=f"{index}")
            assert ended.message == ""
            seen.append(selected(web))

        assert seen == ["primary", "canary", "canary", "primary"]


async def test_variants_are_told_apart_by_the_label_that_the_application_names(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    label = {"key": "track", "primaryValue": "stable", "canaryValue": "next", "baselineValue": "before"}
    service = a_service(selector={"app": "web", "track": "stable"})
    seen: list[tuple[dict[str, list[str]], str]] = []

    def look() -> None:
        listed = {each: web.names("deployment", f"track={each}") for each in ("stable", "next", "before")}
        seen.append((listed, web.get("service", "web")["spec"]["selector"]["track"]))

    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment(), service, variantLabel=label)
        await web.succeed("K8S_PRIMARY_ROLLOUT", addVariantLabelToSelector=True)
        web.deployed()
        web.commit(a_deployment(image="web:2"), service, variantLabel=label)
        await web.succeed("K8S_CANARY_ROLLOUT")
        await web.succeed("K8S_BASELINE_ROLLOUT")
        await web.succeed("K8S_TRAFFIC_ROUTING", all="canary")
        look()
        _, under_way = await web.plugin.live_state(under_way=True)
        await web.succeed("K8S_PRIMARY_ROLLOUT", addVariantLabelToSelector=True, prune=True)
        await web.succeed("K8S_CANARY_CLEAN")
        await web.succeed("K8S_BASELINE_CLEAN")
        look()

    beside = {"stable": ["web"], "next": ["web-canary"], "before": ["web-baseline"]}
    assert seen == [(beside, "next"), ({"stable": ["web"], "next": [], "before": []}, "stable")]
    assert "web-canary" not in under_way.reason


async def test_without_a_later_stage_the_primarys_rollout_leaves_no_traffic_behind(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(labelled(a_deployment()), selecting_primary())
        await web.succeed("K8S_CANARY_ROLLOUT")
        await web.succeed("K8S_TRAFFIC_ROUTING", all="canary")

        await web.succeed("K8S_PRIMARY_ROLLOUT")

        assert selected(web) == "primary"


async def test_traffic_is_sent_nowhere_where_nobody_is(cluster: RunningCluster, namespace: str, tmp_path: Path) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(labelled(a_deployment()), selecting_primary())
        await web.succeed("K8S_SYNC")

        ended = await web.run("K8S_TRAFFIC_ROUTING", {"all": "canary"})

        assert ended.status is FAILED
        assert ended.message == "there is no canary to send traffic to; put K8S_CANARY_ROLLOUT before this stage"
        assert selected(web) == "primary"


async def test_a_primary_that_a_service_could_not_tell_from_the_canary_is_refused(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment(), selecting_primary())
        web.plugin.stages = (a_stage("K8S_PRIMARY_ROLLOUT", 0, id="p"), a_stage("K8S_TRAFFIC_ROUTING", 1))

        refused = await web.run("K8S_PRIMARY_ROLLOUT", id="p")
        added = await web.run("K8S_PRIMARY_ROLLOUT", {"addVariantLabelToSelector": True}, id="p")

        assert "Deployment web must have the label pipecd.dev/variant: primary" in refused.message
        assert added.message == ""
        assert web.get("deployment", "web")["spec"]["selector"]["matchLabels"] == {"app": "web", VARIANT: "primary"}


async def test_pruning_with_the_primary_spares_canary_and_routes(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """Defect 4 of PipeCD: the VirtualService was deleted by the primary's prune."""
    destination = {"destination": {"host": "web", "subset": "primary"}, "weight": 100}
    route = {
        "apiVersion": "networking.istio.io/v1beta1",
        "kind": "VirtualService",
        "metadata": {"name": "web"},
        "spec": {"hosts": ["web"], "http": [{"route": [destination]}]},
    }
    settings = {"trafficRouting": {"method": "istio", "istio": {"host": "web"}}}
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment(), route, a_config_map("goes"), **settings)
        await web.succeed("K8S_SYNC")
        web.deployed()
        web.commit(a_deployment(image="web:2"), route, **settings)
        await web.succeed("K8S_CANARY_ROLLOUT")
        await web.succeed("K8S_TRAFFIC_ROUTING", canary=10)
        weights = [each["weight"] for each in web.get("virtualservice", "web")["spec"]["http"][0]["route"]]
        web.plugin.stages = (a_stage("K8S_PRIMARY_ROLLOUT", 2, id="p"), a_stage("K8S_TRAFFIC_ROUTING", 3))

        await web.run("K8S_PRIMARY_ROLLOUT", {"prune": True}, id="p")

        kept = [each["weight"] for each in web.get("virtualservice", "web")["spec"]["http"][0]["route"]]
        assert (weights, kept) == ([90, 10], [90, 10])
        assert web.names("configmap") == []
        assert web.names("deployment") == ["web", "web-canary"]


async def test_without_a_route_to_leave_alone_the_primary_is_rolled_out_whole(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """Defect 4 of PipeCD, its other half: nothing was applied, and pruning took all that was there."""
    settings = {"trafficRouting": {"method": "istio", "istio": {"host": "web"}}}
    async with an_application(cluster, namespace, tmp_path) as web:
        for image in ("web:1", "web:2"):
            web.commit(a_deployment(image=image), a_config_map("stays"), **settings)
            web.plugin.stages = (a_stage("K8S_PRIMARY_ROLLOUT", 0, id="p"), a_stage("K8S_TRAFFIC_ROUTING", 1))
            ended = await web.run("K8S_PRIMARY_ROLLOUT", {"prune": True}, id="p")
            web.deployed()

        assert ended.message == ""
        assert (web.names("deployment"), web.names("configmap")) == (["web"], ["stays"])
        containers = web.get("deployment", "web")["spec"]["template"]["spec"]["containers"]
        assert [each["image"] for each in containers] == ["web:2"]


async def test_traffic_is_split_by_smi(cluster: RunningCluster, namespace: str, tmp_path: Path) -> None:
    """Which PipeCD accepts in a file and fails at."""
    split = {
        "apiVersion": "split.smi-spec.io/v1alpha2",
        "kind": "TrafficSplit",
        "metadata": {"name": "web"},
        "spec": {"service": "web", "backends": [{"service": "web-primary", "weight": 100}]},
    }
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment(), a_service(), split, trafficRouting={"method": "smi"})
        await web.succeed("K8S_PRIMARY_ROLLOUT", createService=True)
        await web.succeed("K8S_CANARY_ROLLOUT", createService=True)

        await web.succeed("K8S_TRAFFIC_ROUTING", canary=25)

        backends = web.get("trafficsplit", "web")["spec"]["backends"]
        assert backends == [{"service": "web-primary", "weight": 75}, {"service": "web-canary", "weight": 25}]
        assert web.names("service") == ["web", "web-canary", "web-primary"]


async def test_a_canary_leaves_an_object_of_that_name_to_whom_it_belongs(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """Its clean-up would delete it."""
    async with an_application(cluster, namespace, tmp_path) as web:
        web.kubectl("create", "-f", "-", given=a_config_map("settings-canary", by="hand"))
        web.commit(a_deployment(), a_config_map(a="1"), a_config_map("settings-blue", a="1"))
        await web.succeed("K8S_SYNC")
        web.deployed()

        by_hand = await web.run("K8S_CANARY_ROLLOUT")
        own = await web.run("K8S_CANARY_ROLLOUT", {"suffix": "blue"})
        await web.succeed("K8S_CANARY_ROLLOUT", suffix="green")
        await web.succeed("K8S_CANARY_ROLLOUT", suffix="green")
        await web.succeed("K8S_CANARY_CLEAN")

        assert (by_hand.status, own.status) == (FAILED, FAILED)
        said = f"ConfigMap {namespace}/settings-canary: it is there already and is not this application's canary"
        for word in (
            said,
            "it was made by kubectl-create",
            "rename that object, or set another `suffix`",
            "nothing was",
        ):
            assert word in by_hand.message
        assert f"ConfigMap {namespace}/settings-blue: it is there already" in own.message
        assert "it is its primary" in own.message
        assert web.get("configmap", "settings-canary")["data"] == {"by": "hand"}


async def test_a_baseline_leaves_an_object_of_that_name_to_another_application(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_config_map("settings-baseline", of="other"))
        web.plugin.application_id, own = f"other-{namespace}", web.plugin.application_id
        await web.succeed("K8S_SYNC")
        web.plugin.application_id = own
        web.commit(a_deployment(), a_config_map(a="1"))
        await web.succeed("K8S_SYNC")
        web.deployed()

        ended = await web.run("K8S_BASELINE_ROLLOUT")

        assert ended.status is FAILED
        assert f"it belongs to application other-{namespace}; rename that object" in ended.message
        assert web.get("configmap", "settings-baseline")["data"] == {"of": "other"}
