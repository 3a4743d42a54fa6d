"""Drift on a real cluster where others write too: what a sync would change is drift, what it would leave is not."""

from pathlib import Path
from typing import Any

import pytest

from fairway.kube.cluster import Cluster
from fairway.model.application import SyncStatus
from tests.cluster.kubernetes_applications import Application, a_config_map, a_deployment, a_service, an_application
from tests.cluster.test_drift import OUT_OF_SYNC, SYNCED, until_it_is
from tests.cluster.test_stages_owning import annotated, by_pipecd
from tests.clusters.running import RunningCluster
from tests.integration.agent.running import until

POD = ("spec", "template", "spec")
A_CONTAINER = '{"spec": {"template": {"spec": {"containers": [{"name": "side", "image": "side:1"}]}}}}'


class Asked:
    """What the cluster has answered when it was asked what it would make of an object, and how often it was asked."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.answers: list[dict[str, Any]] = []
        self.count = 0
        apply, get = Cluster.apply, Cluster.get

        async def counted_apply(cluster: Cluster, *arguments: Any, **options: Any) -> dict[str, Any]:
            self.count += 1
            self.answers.append(await apply(cluster, *arguments, **options))
            return self.answers[-1]

        async def counted_get(cluster: Cluster, *arguments: Any, **options: Any) -> dict[str, Any] | None:
            self.count += 1
            return await get(cluster, *arguments, **options)

        patch.setattr(Cluster, "apply", counted_apply)
        patch.setattr(Cluster, "get", counted_get)

    def names(self, kind: str, *path: str) -> set[str]:
        """Of what is in a list or mapping of an object of that kind, in any of the answers."""
        return {name for each in self.answers if each["kind"] == kind for name in names_at(each, path)}


def names_at(value: Any, path: tuple[str, ...]) -> set[str]:
    """The names at a path that may lead through lists."""
    if isinstance(value, list):
        return {name for each in value for name in (names_at(each, path) if path else {each["name"]})}
    return names_at(value.get(path[0]) or {}, path[1:]) if path else set(value)


async def until_asked(web: Application, asked: Asked, name: str, kind: str, *path: str) -> SyncStatus:
    """How the application stands once the watch has told of an addition and the cluster was asked about it."""

    async def look() -> SyncStatus | None:
        _, state = await web.plugin.live_state(under_way=False)
        return state.status if name in asked.names(kind, *path) else None

    return await until(look)


def that_select() -> list[dict[str, Any]]:
    """Objects with mappings that are written as a whole: one more key makes another thing of them."""
    selector = {"matchLabels": {"app": "web"}}
    policy = {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "web"}}
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web"}}
    return [
        a_service(),
        a_deployment(replicas=0, nodeSelector={"disk": "fast"}),
        {**policy, "spec": {"podSelector": selector}},
        {**budget, "spec": {"minAvailable": 1, "selector": selector}},
    ]


async def test_one_more_key_in_what_selects_is_drift(cluster: RunningCluster, namespace: str, tmp_path: Path) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(*that_select())
        await web.succeed("K8S_SYNC")
        await until_it_is(web, SYNCED)

        for kind, patch in (
            ("service", '{"spec": {"selector": {"more": "x"}}}'),
            ("networkpolicy", '{"spec": {"podSelector": {"matchLabels": {"more": "x"}}}}'),
            ("poddisruptionbudget", '{"spec": {"selector": {"matchLabels": {"more": "x"}}}}'),
            ("deployment", '{"spec": {"template": {"spec": {"nodeSelector": {"more": "x"}}}}}'),
        ):
            web.kubectl("patch", kind, "web", "--type=merge", "-p", patch)

        async def look() -> str | None:
            _, state = await web.plugin.live_state(under_way=False)
            return state.reason if state.short_reason == "4 objects are not as Git says: 4 different" else None

        assert "#spec.selector.more\n-     more: x\n" in await until(look)
        await web.succeed("K8S_SYNC")
        await until_it_is(web, SYNCED)


@pytest.mark.parametrize(
    ("change", "name", "kind", "path"),
    [
        pytest.param(
            ["set", "env", "deployment/web", "C=3"],
            "C",
            "Deployment",
            (*POD, "containers", "env"),
            id="an environment variable",
        ),
        pytest.param(
            ["patch", "deployment", "web", "-p", A_CONTAINER],
            "side",
            "Deployment",
            (*POD, "containers"),
            id="a container",
        ),
        pytest.param(
            ["patch", "service", "web", "-p", '{"spec": {"ports": [{"name": "more", "port": 81}]}}'],
            "more",
            "Service",
            ("spec", "ports"),
            id="a port",
        ),
        pytest.param(
            ["patch", "configmap", "web", "-p", '{"data": {"more": "1"}}'],
            "more",
            "ConfigMap",
            ("data",),
            id="data of a ConfigMap for which Git has null",
        ),
    ],
)
async def test_what_others_add_beside_gits_values_is_no_drift_as_no_sync_takes_it_away(
    cluster: RunningCluster,
    namespace: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: list[str],
    name: str,
    kind: str,
    path: tuple[str, ...],
) -> None:
    asked = Asked(monkeypatch)
    async with an_application(cluster, namespace, tmp_path) as web:
        service = a_service(ports=[{"name": "http", "port": 80}])
        web.commit(a_deployment(replicas=0), service, {**a_config_map("web"), "data": None})
        await web.succeed("K8S_SYNC")
        await until_it_is(web, SYNCED)
        asked.answers.clear()

        web.kubectl(*change)

        assert await until_asked(web, asked, name, kind, *path) is SYNCED
        await web.succeed("K8S_SYNC")
        assert name in names_at(web.get(kind, "web"), path)
        assert (await until_it_is(web, SYNCED)).reason == ""


async def test_what_kubectl_has_applied_beside_gits_values_is_drift_as_a_sync_takes_it_over(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment(replicas=0))
        await web.succeed("K8S_SYNC")
        await until_it_is(web, SYNCED)

        more = {"env": [{"name": "MORE", "value": "1"}]}
        web.kubectl("apply", "-f", "-", given=a_deployment(replicas=0, container=more))

        reason = (await until_it_is(web, OUT_OF_SYNC)).reason
        assert "-           env:\n-           - name: MORE\n-             value: '1'\n" in reason
        assert "last-applied" not in reason
        await web.succeed("K8S_SYNC")
        await until_it_is(web, SYNCED)
        assert not names_at(web.get("deployment", "web"), (*POD, "containers", "env"))


async def test_what_kubectl_has_applied_just_as_git_says_it_is_no_drift(
    cluster: RunningCluster, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, copy = Asked(monkeypatch), "kubectl.kubernetes.io/last-applied-configuration"
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment(replicas=0))
        await web.succeed("K8S_SYNC")
        await until_it_is(web, SYNCED)

        web.kubectl("apply", "-f", "-", given=a_deployment(replicas=0))

        assert await until_asked(web, asked, copy, "Deployment", "metadata", "annotations") is SYNCED


async def test_what_people_add_to_an_object_that_is_replaced_is_drift_and_goes(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        objects = a_deployment(replicas=0), a_service(), a_config_map(a="1")
        web.commit(*(annotated(each, {"pipecd.dev/sync-by-replace": "enabled"}) for each in objects))
        await web.succeed("K8S_SYNC")
        await web.succeed("K8S_SYNC")
        assert (await until_it_is(web, SYNCED)).reason == ""

        web.kubectl("patch", "configmap", "settings", "-p", '{"data": {"more": "1"}}')

        assert "#data.more" in (await until_it_is(web, OUT_OF_SYNC)).reason
        await web.succeed("K8S_SYNC")
        await until_it_is(web, SYNCED)


async def test_a_label_of_ours_that_was_taken_off_is_drift(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_service(), a_config_map(a="1"))
        await web.succeed("K8S_SYNC")
        await until_it_is(web, SYNCED)

        web.kubectl("label", "service/web", "configmap/settings", "pipecd.dev/application-")

        async def look() -> str | None:
            _, state = await web.plugin.live_state(under_way=False)
            return state.reason if state.short_reason == "2 objects are not as Git says: 2 different" else None

        assert f"+     pipecd.dev/application: app-{namespace}" in await until(look)


async def test_what_a_stage_writes_beside_what_git_says_is_no_drift_and_is_missed(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        used = {"envFrom": [{"configMapRef": {"name": "settings"}}]}
        web.commit(a_deployment(replicas=0, container=used), a_config_map(a="1"))
        await web.succeed("K8S_PRIMARY_ROLLOUT", addVariantLabelToSelector=True)

        assert (await until_it_is(web, SYNCED)).reason == ""
        patch = {"spec": {"template": {"metadata": {"annotations": {"pipecd.dev/config-hash": None}}}}}
        web.kubectl("patch", "deployment", "web", "--patch-file=/dev/stdin", given=patch)

        assert "pipecd.dev/config-hash: " in (await until_it_is(web, OUT_OF_SYNC)).reason


async def test_what_pipecd_has_deployed_is_no_drift_for_want_of_our_marks(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        for each in (a_service(), a_deployment(replicas=0)):
            web.kubectl("apply", "-f", "-", given=annotated(each, by_pipecd(namespace)))
        web.commit(a_service(), a_deployment(replicas=0))

        assert (await until_it_is(web, SYNCED)).reason == ""


async def test_what_the_cluster_does_not_take_is_shown_as_git_says_it(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment(replicas=0))
        await web.succeed("K8S_SYNC")

        changed = a_deployment(replicas=0)
        changed["spec"]["selector"]["matchLabels"] = {"app": "web", "track": "stable"}
        web.commit(changed)

        assert "#spec.selector.matchLabels.track" in (await until_it_is(web, OUT_OF_SYNC)).reason


async def test_only_git_can_say_that_an_object_may_differ(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_config_map(a="1"))
        await web.succeed("K8S_SYNC")

        annotated = {"metadata": {"annotations": {"pipecd.dev/ignore-drift-detection": "true"}}, "data": {"a": "2"}}
        web.kubectl("patch", "configmap", "settings", "--type=merge", "--patch-file=/dev/stdin", given=annotated)

        assert "#data.a" in (await until_it_is(web, OUT_OF_SYNC)).reason


async def test_the_parts_of_a_pod_are_compared_by_name(cluster: RunningCluster, namespace: str, tmp_path: Path) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment(replicas=0))
        await web.succeed("K8S_SYNC")

        containers = [{"name": "side", "image": "side:1"}, {"name": "main", "image": "web:9"}]
        patch = {"spec": {"template": {"spec": {"containers": containers}}}}
        web.kubectl("patch", "deployment", "web", "--patch-file=/dev/stdin", given=patch)

        reason = (await until_it_is(web, OUT_OF_SYNC)).reason
        assert "#spec.template.spec.containers.0.image\n-           image: web:9\n+           image: web:1\n" in reason
        assert "side" not in reason


async def test_an_object_that_has_what_is_written_and_nothing_else_costs_no_call(
    cluster: RunningCluster, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_config_map(a="1"))
        await web.succeed("K8S_SYNC")
        asked = Asked(monkeypatch)

        assert (await until_it_is(web, SYNCED)).reason == ""
        assert asked.count == 0


async def test_a_change_of_the_status_alone_costs_no_call(
    cluster: RunningCluster, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_service(type="LoadBalancer"))
        await web.succeed("K8S_SYNC")
        await until_it_is(web, SYNCED)
        asked = Asked(monkeypatch)

        status = {"status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}}
        web.kubectl("patch", "service", "web", "--subresource=status", "--patch-file=/dev/stdin", given=status)

        async def look() -> SyncStatus | None:
            resources, state = await web.plugin.live_state(under_way=False)
            seen = any(each.health_description == "Reached at 192.0.2.1" for each in resources)
            return state.status if seen else None

        assert await until(look) is SYNCED
        assert asked.count == 0
