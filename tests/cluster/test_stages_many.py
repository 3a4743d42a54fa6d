"""Applications of many objects: what the cluster is certain to take is not asked about, unless others have a say."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fairway.kube.cluster import Cluster
from tests.cluster.kubernetes_applications import (
    FAILED,
    Application,
    a_config_map,
    a_deployment,
    a_service,
    an_application,
)
from tests.clusters.running import RunningCluster
from tests.integration.agent.running import until

MANY = 8
_GROUP = "admissionregistration.k8s.io/v1"


@pytest.fixture
def trials(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kinds of what the cluster was asked about in advance."""
    asked: list[str] = []
    apply = Cluster.apply

    async def noted(self: Cluster, body: Mapping[str, Any], *, dry_run: bool = False, force: bool = False) -> Any:
        asked.extend([str(body["kind"])] if dry_run else [])
        return await apply(self, body, dry_run=dry_run, force=force)

    # Nothing else tells a trial from the real thing: both leave the same objects.
    monkeypatch.setattr(Cluster, "apply", noted)
    return asked


def commit(web: Application, image: str, port: int = 80) -> None:
    """Deployments and Services, without pods, as nobody is to wait for any."""
    names = [f"web-{number}" for number in range(MANY)]
    services = [a_service(name, ports=[{"port": port if name == names[0] else 80}]) for name in names]
    web.commit(*services, *(a_deployment(name, image, replicas=0) for name in names))


async def test_images_and_marks_change_without_a_trial(
    cluster: RunningCluster, namespace: str, tmp_path: Path, trials: list[str]
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        commit(web, "web:1")
        await web.succeed("K8S_SYNC")
        trials.clear()

        commit(web, "web:2")
        await web.succeed("K8S_SYNC")
        changed = list(trials)
        commit(web, "web:2", port=8080)
        await web.succeed("K8S_SYNC")

        images = {each["spec"]["template"]["spec"]["containers"][0]["image"] for each in _deployments(web)}
        assert (changed, trials, images) == ([], ["Service"], {"web:2"})


@pytest.mark.parametrize("many", [MANY, 1], ids=["many", "one"])
async def test_the_log_tells_what_a_commit_has_changed_and_not_what_is_written_for_each(
    many: int, cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        same = [a_config_map(f"same-{number}", a="1") for number in range(many)]
        web.commit(a_deployment(replicas=0), a_config_map(a="1"), *same)
        created = await web.succeed("K8S_SYNC")
        web.commit(a_deployment(image="web:2", replicas=0), a_config_map(a="2", b="1"), *same)

        ended = await web.succeed("K8S_SYNC")

        told = {line.partition(": ")[0]: line.partition(": ")[2] for line in ended.log}
        assert f"ConfigMap {namespace}/same-0: created" in created.log
        assert told[f"ConfigMap {namespace}/settings"] == "changed (data.a, data.b)"
        assert {told[f"ConfigMap {namespace}/same-{number}"] for number in range(many)} == {"as it was"}
        assert f"Deployment {namespace}/web: changed (spec.template.spec.containers[main].image)" in ended.log


async def test_what_a_policy_has_a_say_in_is_asked_about(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(*(a_config_map(f"settings-{number}", a="1") for number in range(MANY)))
        await web.succeed("K8S_SYNC")
        await forbid(web, namespace)

        contents = ["2"] * (MANY - 1) + ["forbidden"]
        web.commit(*(a_config_map(f"settings-{number}", a=each) for number, each in enumerate(contents)))
        ended = await web.run("K8S_SYNC")

        assert ended.status is FAILED
        assert ended.message.startswith("1 object is refused by the cluster; nothing was applied:"), ended.message
        assert web.get("configmap", "settings-0")["data"] == {"a": "1"}


async def forbid(web: Application, namespace: str) -> None:
    """From now on no ConfigMap of the namespace may say "forbidden"."""
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}
    said = {"expression": "!('a' in object.data) || object.data.a != 'forbidden'"}
    name = {"name": namespace}
    policy = {"matchConstraints": {"resourceRules": [rule]}, "validations": [said]}
    here = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}}
    binding = {"policyName": namespace, "validationActions": ["Deny"], "matchResources": here}
    for kind, spec in (("ValidatingAdmissionPolicy", policy), ("ValidatingAdmissionPolicyBinding", binding)):
        web.kubectl("create", "-f", "-", given={"apiVersion": _GROUP, "kind": kind, "metadata": name, "spec": spec})

    async def is_forbidden() -> bool:
        try:
            web.kubectl("create", "configmap", "forbidden", "--from-literal=a=forbidden", "--dry-run=server")
        except AssertionError as error:
            return "denied" in str(error)
        return False

    await until(is_forbidden)


def _deployments(web: Application) -> list[dict[str, Any]]:
    return [web.get("deployment", name) for name in web.names("deployment")]
