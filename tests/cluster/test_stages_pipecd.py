"""What PipeCD's agents and plugins have left, in the forms in which they leave it, is known and seen to."""

from pathlib import Path

from tests.cluster.kubernetes_applications import a_config_map, a_deployment, an_application
from tests.cluster.test_stages_owning import annotated, by_pipecd, labelled
from tests.clusters.running import RunningCluster


async def test_a_canary_that_an_older_agent_has_begun_is_ended_with_its_deployment(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        canary = annotated(a_config_map("settings-canary"), by_pipecd(namespace))
        web.kubectl("apply", "-f", "-", given=canary)
        web.plugin.metadata = {"canary-resources": f"v1:ConfigMap:{namespace}:settings-canary,v1:Service:{namespace}:x"}
        web.commit(a_deployment())

        ended = await web.succeed("K8S_CANARY_CLEAN")

        assert ended.log[-1] == "1 object removed"


async def test_a_canary_of_an_older_agent_is_found_in_the_namespace_of_the_application(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """PipeCD's older agents note their canary's workload as one of the default namespace, wherever they have put it."""
    async with an_application(cluster, namespace, tmp_path) as web:
        key = "apps/v1:Deployment:default:web-canary"
        marks = {**by_pipecd(namespace), "pipecd.dev/variant": "canary", "pipecd.dev/resource-key": key}
        web.kubectl("apply", "-f", "-", given=annotated(a_deployment("web-canary"), marks))
        web.plugin.metadata = {"canary-resources": key}
        web.commit(a_deployment(), input={"namespace": namespace})

        ended = await web.succeed("K8S_CANARY_CLEAN")

        assert ended.log[-1] == "1 object removed"
        assert web.all_names("deployment") == []


async def test_configuration_of_a_canary_that_pipecds_plugin_has_made_is_taken_over_and_removed(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """Its copies of ConfigMaps and Secrets name the original in their resource key; copies by others do so, too."""
    original = {"pipecd.dev/resource-key": f":ConfigMap:{namespace}:settings"}
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_config_map("settings"), a_deployment())
        for name, variant in (("settings-canary", "canary"), ("settings-canary-kept", "canary"), ("kept", "primary")):
            marks = {**by_pipecd(namespace), "pipecd.dev/variant": variant}
            web.kubectl("apply", "-f", "-", given=annotated(labelled(a_config_map(name), marks), {**marks, **original}))

        await web.succeed("K8S_CANARY_ROLLOUT")
        taken_over = web.get("configmap", "settings-canary")["metadata"]["annotations"]["pipecd.dev/resource-key"]
        named = f"pipecd.dev/resource-key={original['pipecd.dev/resource-key']}"
        web.kubectl("annotate", "--overwrite", "configmap", "settings-canary", named)
        ended = await web.succeed("K8S_CANARY_CLEAN")

        assert taken_over == f":ConfigMap:{namespace}:settings-canary"
        assert ended.log[-1] == "2 objects removed"
        assert web.all_names("configmap,deployment") == ["configmap/kept", "configmap/settings-canary-kept"]


async def test_objects_of_an_application_with_a_platform_provider_are_called_as_older_agents_call_them(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.plugin.platform_provider = "production"
        web.commit(a_config_map("stays"), a_config_map("goes"))
        await web.succeed("K8S_SYNC")
        key = web.get("configmap", "goes")["metadata"]["annotations"]["pipecd.dev/resource-key"]
        web.commit(a_config_map("stays"))
        ended = await web.succeed("K8S_SYNC", prune=True)

        assert key == f"v1:ConfigMap:{namespace}:goes"
        assert ended.log[-1] == "1 object applied, 1 removed"


async def test_an_object_of_pipecds_is_taken_over_without_a_word_of_our_own_marks(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    marks = {**by_pipecd(namespace), "pipecd.dev/commit-hash": "before"}
    async with an_application(cluster, namespace, tmp_path) as web:
        web.kubectl("apply", "-f", "-", given=labelled(a_config_map("settings", a="theirs"), marks))
        web.commit(a_config_map("settings", a="ours"))
        first = await web.succeed("K8S_SYNC")
        web.kubectl("annotate", "--overwrite", "configmap", "settings", "pipecd.dev/commit-hash=by-hand")
        again = await web.succeed("K8S_SYNC")

        name = f"ConfigMap {namespace}/settings: "
        told = [[line.removeprefix(name) for line in each.log if line.startswith(name)] for each in (first, again)]
        assert told == [["taken over from kubectl", "changed (data.a)"], ["as it was"]]
