"""The API of a real cluster: what it refuses is told in words that name who, what and where."""

import asyncio
from base64 import b64decode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from fairway.kube.access import Access
from fairway.kube.cluster import Cluster, Scope
from fairway.kube.errors import AlreadyThere, Conflict, CredentialsRefused, Invalid, NotAllowed, NotThere, UnknownKind
from fairway.kube.kinds import Kind
from fairway.kube.reflector import Owner, Reflector
from tests.clusters.running import RunningCluster
from tests.integration.agent.running import until
from tests.patience import PATIENCE_SECONDS


@asynccontextmanager
async def a_client(kubeconfig: Path) -> AsyncIterator[Cluster]:
    async with Cluster("dev", Access.of(str(kubeconfig))) as client:
        yield client


async def config_maps(client: Cluster) -> Kind:
    return await client.kind("v1", "ConfigMap")


def a_config_map(namespace: str, **data: str) -> dict[str, Any]:
    metadata = {"name": "settings", "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


async def test_an_object_is_applied_read_listed_and_deleted(cluster: RunningCluster, namespace: str) -> None:
    async with a_client(cluster.kubeconfig) as client:
        kind = await config_maps(client)
        applied = await client.apply(a_config_map(namespace, a="1"))
        tried = await client.apply(a_config_map(namespace, a="2"), dry_run=True)
        found = await client.get(kind, namespace, "settings")
        listed = {each["metadata"]["name"] for each in await client.list(kind, namespace)}
        uid = applied["metadata"]["uid"]
        gone = [await client.delete(kind, namespace, "settings", uid=each) for each in ("another", uid, uid)]

        assert found is not None
        assert (found["data"], tried["data"]) == ({"a": "1"}, {"a": "2"})
        assert listed >= {"settings"}
        assert gone == [False, True, False]


async def test_a_conflict_names_who_manages_which_field(cluster: RunningCluster, namespace: str) -> None:
    async with a_client(cluster.kubeconfig) as client:
        await client.apply(a_config_map(namespace, a="1"))
        cluster.kubectl(
            *("patch", "configmap", "settings", "--type=merge", "--field-manager=ada", "-p", '{"data": {"a": "2"}}'),
            namespace=namespace,
        )

        with pytest.raises(Conflict, match=r"ada manages \.data\.a") as raised:
            await client.apply(a_config_map(namespace, a="3"))

        assert raised.value.managers == ("ada",)
        assert (await client.apply(a_config_map(namespace, a="3"), force=True))["data"] == {"a": "3"}


async def test_what_is_not_accepted_is_told_field_by_field(cluster: RunningCluster, namespace: str) -> None:
    bad = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": namespace}}
    async with a_client(cluster.kubeconfig) as client:
        with pytest.raises(Invalid, match=r"spec\.selector: Required value; .*spec\.template\.spec\.containers"):
            await client.apply({**bad, "spec": {"replicas": 1}})
        with pytest.raises(Invalid, match=r"spec\.replicas: expected numeric"):
            await client.apply({**bad, "spec": {"replicas": "many"}})
        with pytest.raises(Invalid, match="dat: there is no such field"):
            await client.create({**a_config_map(namespace), "dat": {}})


async def test_what_is_there_or_is_not_is_told(cluster: RunningCluster, namespace: str) -> None:
    async with a_client(cluster.kubeconfig) as client:
        await client.create(a_config_map(namespace))
        with pytest.raises(AlreadyThere, match="'settings' in namespace"):
            await client.create(a_config_map(namespace))
        with pytest.raises(NotThere, match='namespaces "nowhere" not found'):
            await client.apply(a_config_map("nowhere"))
        with pytest.raises(UnknownKind, match="did you mean ConfigMap"):
            await client.kind("v1", "ConfgMap")


async def test_a_kind_that_was_just_defined_is_found(cluster: RunningCluster, namespace: str) -> None:
    group = f"{namespace}.example.com"
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    names = {"kind": "Thing", "plural": "things", "singular": "thing"}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"things.{group}"},
        "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": [version]},
    }
    async with a_client(cluster.kubeconfig) as client:
        with pytest.raises(UnknownKind):
            await client.kind(f"{group}/v1", "Thing")
        await client.apply(definition)
        cluster.kubectl("wait", "--for=condition=Established", f"crd/things.{group}", "--timeout=240s")

        # It is established a moment before it is served, and served before it is listed.
        async def found() -> bool:
            with suppress(UnknownKind):
                return (await client.kind(f"{group}/v1", "Thing")).plural == "things"
            return False

        async def listed() -> bool:
            return any(each.group == group for each in (await client.served()).kinds)

        assert (await until(found), await until(listed)) == (True, True)


async def test_a_missing_permission_names_verb_resource_and_namespace(cluster: RunningCluster, namespace: str) -> None:
    own = cluster.limited([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}], namespace)
    async with a_client(own) as client:
        kind = await config_maps(client)
        with pytest.raises(NotAllowed, match=f"is not allowed to patch configmaps in namespace {namespace}") as raised:
            await client.apply(a_config_map(namespace))
        with pytest.raises(NotAllowed, match="list configmaps in all of the cluster dev; grant it by a ClusterRole"):
            await client.list(kind)

        assert (raised.value.verb, raised.value.resource, raised.value.namespace) == ("patch", "configmaps", namespace)


async def test_credentials_that_are_over_are_told_and_renewed_ones_work_at_once(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_bytes(cluster.person("ada", ("system:masters",), timedelta(days=-1)).read_bytes())
    async with a_client(kubeconfig) as client:
        with pytest.raises(CredentialsRefused, match="renew them"):
            await client.apply(a_config_map(namespace))

        kubeconfig.write_bytes(cluster.person("ada", ("system:masters",)).read_bytes())

        assert (await client.apply(a_config_map(namespace, a="1")))["data"] == {"a": "1"}


async def test_a_credential_plugin_may_hand_out_a_certificate(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    person = yaml.safe_load(cluster.person("ada", ("system:masters",)).read_text())
    pair = person["users"][0]["user"]
    handed = {
        "clientCertificateData": b64decode(pair["client-certificate-data"]).decode(),
        "clientKeyData": b64decode(pair["client-key-data"]).decode(),
    }
    (tmp_path / "handed.json").write_bytes(msgspec.json.encode({"status": handed}))
    version = "client.authentication.k8s.io/v1beta1"
    person["users"][0]["user"] = {
        "exec": {"apiVersion": version, "command": "cat", "args": [f"{tmp_path}/handed.json"]}
    }
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(yaml.safe_dump(person))

    async with a_client(kubeconfig) as client:
        assert (await client.apply(a_config_map(namespace, a="1")))["data"] == {"a": "1"}


async def test_a_cluster_with_another_certificate_is_not_spoken_to(cluster: RunningCluster, tmp_path: Path) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    context = {"name": "x", "context": {"cluster": "x"}}
    told = {
        "current-context": "x",
        "clusters": [{"name": "x", "cluster": {"server": cluster.url}}],
        "contexts": [context],
    }
    kubeconfig.write_text(str(told))
    async with a_client(kubeconfig) as client:
        with pytest.raises(CredentialsRefused, match="is not the cluster dev by its certificate"):
            await client.version()


async def test_a_picture_follows_a_real_cluster(cluster: RunningCluster, namespace: str) -> None:
    told: asyncio.Queue[tuple[bool, bool]] = asyncio.Queue()
    async with a_client(cluster.kubeconfig) as client, asyncio.timeout(PATIENCE_SECONDS):
        await client.apply(a_config_map(namespace, a="1"))
        kind, scope = await config_maps(client), Scope(namespace=namespace, name="settings")
        owner = Owner(len, lambda _, before, now: told.put_nowait((before is None, now is None)))
        reflector = Reflector(client, kind, scope, owner)
        running = asyncio.create_task(reflector.run())
        await reflector.settled()
        await client.apply(a_config_map(namespace, a="22"))
        await client.delete(kind, namespace, "settings")

        changes = [await told.get() for _ in range(3)]
        running.cancel()

    assert changes == [(True, False), (False, False), (False, True)]
