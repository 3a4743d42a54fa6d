"""Webhooks of others that do not answer: what they are for cannot be looked at, and everything else is deployed."""

from pathlib import Path
from typing import Any

from fairway.kube.access import Access
from fairway.kube.calls import Patience
from fairway.kube.cluster import Cluster
from fairway.plugins.kubernetes.plugin import Kubernetes
from tests.cluster.kubernetes_applications import a_config_map, a_definition, an_application
from tests.clusters.running import RunningCluster, a_cluster
from tests.integration.agent.running import until

GROUP = "others.example.com"
MENDED = '{"spec": {"conversion": {"strategy": "None", "webhook": null}}}'


class Hasty(Kubernetes):
    """One that asks once."""

    patience = Patience(attempts=1)


def a_converted_kind() -> dict[str, Any]:
    """A kind of two versions, between which somebody converts who is not there."""
    definition = a_definition(GROUP, "Thing")
    (version,) = definition["spec"]["versions"]
    definition["spec"]["versions"] = [version, {**version, "name": "v2", "storage": False}]
    service = {"name": "gone", "namespace": "default"}
    webhook = {"conversionReviewVersions": ["v1"], "clientConfig": {"service": service}}
    definition["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
    return definition


def a_thing(namespace: str) -> dict[str, Any]:
    """One that PipeCD has left."""
    marks = {"pipecd.dev/managed-by": "piped", "pipecd.dev/application": f"app-{namespace}"}
    metadata = {"name": "left", "labels": marks, "annotations": marks}
    return {"apiVersion": f"{GROUP}/v1", "kind": "Thing", "metadata": metadata}


async def leave_a_thing(cluster: RunningCluster, namespace: str) -> None:
    cluster.api.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", a_converted_kind())
    # It is established before it is served, and one version may be among all kinds before the other.
    cluster.wait_for(f"/apis/{GROUP}/v1/namespaces/{namespace}/things")
    async with Cluster("dev", Access.of(str(cluster.kubeconfig))) as client:

        async def is_listed() -> bool:
            return (GROUP, "v2") in {(each.group, each.version) for each in (await client.served()).kinds}

        await until(is_listed)
    cluster.api.create(f"/apis/{GROUP}/v1/namespaces/{namespace}/things", a_thing(namespace))


async def test_a_kind_that_nobody_converts_is_looked_for_again_when_somebody_does(tmp_path: Path) -> None:
    with a_cluster() as cluster:
        namespace = cluster.new_namespace()
        await leave_a_thing(cluster, namespace)
        async with an_application(cluster, namespace, tmp_path, kind=Hasty) as web:
            web.commit(a_config_map(a="1"))

            # A server that has failed to read them once says something else.
            unseen = [await web.succeed("K8S_SYNC", prune=True) for _ in range(2)]
            web.kubectl("patch", "crd", f"things.{GROUP}", "--type=merge", "-p", MENDED)

            async def removed() -> bool:
                return (await web.succeed("K8S_SYNC", prune=True)).log[-1] == "1 object applied, 1 removed"

            await until(removed)

    for ended in unseen:
        assert ended.log[-1] == "1 object applied"
        assert [each for each in ended.log if f"things.{GROUP}" in each and "webhook" in each]
