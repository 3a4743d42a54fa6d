"""What a cluster refuses is told with the object's name and what to do about it, before anything is applied."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fairway.model.registration import Registration, Standing
from tests.acceptance.agent.sites import until
from tests.cluster.kubernetes_applications import (
    FAILED,
    SUCCEEDED,
    a_config_map,
    a_deployment,
    a_service,
    a_stateful_set,
    an_application,
    while_running,
)
from tests.clusters.programs import program
from tests.clusters.running import RunningCluster

Body = Mapping[str, Any]

_RBAC = "rbac.authorization.k8s.io"
_AS_IT_WAS = "write it as it was, or give it another name"
_ANEW = "annotate the manifest with pipecd.dev/force-sync-by-replace: enabled"


def a_binding(role: str) -> Body:
    ref = {"apiGroup": _RBAC, "kind": "Role", "name": role}
    return {"apiVersion": f"{_RBAC}/v1", "kind": "RoleBinding", "metadata": {"name": "binding"}, "roleRef": ref}


def a_role(name: str) -> Body:
    return {"apiVersion": f"{_RBAC}/v1", "kind": "Role", "metadata": {"name": name}, "rules": []}


def a_claim(size: str) -> Body:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "disk"}, "spec": spec}


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        pytest.param(
            [a_stateful_set(replicas=0, service="a")],
            [a_stateful_set(replicas=0, service="b")],
            ["StatefulSet", "/db", f"{_AS_IT_WAS}; or {_ANEW}: then it is deleted with all its pods and made anew"],
            id="StatefulSet",
        ),
        pytest.param(
            [a_role("a"), a_role("b"), a_binding("a")],
            [a_role("a"), a_role("b"), a_binding("b")],
            ["nothing was applied", "RoleBinding", "/binding", "roleRef", _ANEW],
            id="RoleBinding",
        ),
        pytest.param(
            [a_service(clusterIP="None")],
            [a_service(clusterIP="10.96.200.1")],
            ["Service", "/web", "clusterIP", f"{_ANEW}: then it is deleted and made anew", "whenever it changes"],
            id="Service",
        ),
        # Whoever makes a volume anew loses what is on it.
        pytest.param([a_claim("2Gi")], [a_claim("1Gi")], ["/disk", "storage", "under another name"], id="volume"),
    ],
)
async def test_what_cannot_be_changed(
    before: list[Body], after: list[Body], words: list[str], cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(*before)
        await web.succeed("K8S_SYNC")
        web.deployed()
        web.commit(*after)
        ended = await web.run("K8S_SYNC")

    assert (ended.status, [each for each in words if each not in ended.message]) == (FAILED, []), ended.message


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (True, False, "the stage that made it had addVariantLabelToSelector, and this one has not"),
        (False, True, "this stage has addVariantLabelToSelector, and the one that made it had not"),
    ],
    ids=["only the first stage had it", "only the second stage has it"],
)
async def test_a_selector_that_differs_in_the_label_of_the_variant_says_which_setting_is_the_cause(
    before: bool, after: bool, words: str, cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        label = {"key": "example.com/track"}
        web.commit(a_deployment(), variantLabel=label)
        await web.succeed("K8S_SYNC", addVariantLabelToSelector=before)
        web.commit(a_deployment(image="web:2"), variantLabel=label)

        ended = await web.run("K8S_PRIMARY_ROLLOUT", {"addVariantLabelToSelector": after})

    assert ended.status is FAILED
    assert f"nothing but the label example.com/track in its selector differs: {words}" in ended.message
    assert "quickSync and K8S_PRIMARY_ROLLOUT" in ended.message
    assert "force-sync-by-replace" not in ended.message


async def test_a_namespace_that_goes_and_one_that_is_not_there(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    held = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "held", "finalizers": ["example.com/held"]}}
    async with an_application(cluster, namespace, tmp_path) as web:
        web.kubectl("create", "-f", "-", given=held)
        cluster.kubectl("delete", "namespace", namespace, "--wait=false")
        web.commit(a_config_map())
        going = await web.run("K8S_SYNC")
        web.kubectl("patch", "configmap", "held", "--type=merge", "-p", '{"metadata": {"finalizers": null}}')
        web.commit(a_config_map(), input={"namespace": f"{namespace}-not"})
        missing = await web.run("K8S_SYNC")

    assert (going.status, missing.status) == (FAILED, FAILED)
    assert f"ConfigMap {namespace}/settings" in going.message
    assert f"wait until {namespace} is gone" in going.message
    assert f"ConfigMap {namespace}-not/settings" in missing.message
    assert "autoCreateNamespace" in missing.message


async def test_two_applications_with_the_same_object(cluster: RunningCluster, namespace: str, tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("one", "other")]
    for folder in folders:
        folder.mkdir()
    one_there, other_there = (an_application(cluster, namespace, folder) for folder in folders)
    async with one_there as one, other_there as other:
        other.plugin.application_id = "other"
        one.commit(a_deployment(nodeSelector={"example.com/nowhere": "x"}))
        other.commit(a_deployment())
        async with while_running(one, "K8S_SYNC", "0 of 1 replicas") as (stage, _):
            await other.succeed("K8S_SYNC")
            ended = await stage

    expected = f"Deployment {namespace}/web was taken over by application other while it was waited for"
    assert (ended.status, expected in ended.message) == (FAILED, True), ended


async def test_an_object_of_another_application_is_refused_and_stays_its_own(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.plugin.agent.applications = {f"app-{namespace}": Registration(Standing.REGISTERED, "first")}
        web.commit(a_config_map("shared", a="1"))
        await web.succeed("K8S_SYNC")

        web.plugin.application_id = f"other-{namespace}"
        web.commit(a_config_map("shared", a="2"), a_config_map("own"))
        refused = await web.run("K8S_SYNC")
        taken = a_config_map("shared", a="2")
        taken["metadata"]["annotations"] = {"fairway.dev/on-conflict": "override"}
        unchanged = web.get("configmap", "shared")["data"]
        web.commit(taken)
        asked_for = await web.succeed("K8S_SYNC")

    assert (refused.status, unchanged) == (FAILED, {"a": "1"})
    for word in (
        "1 object is refused; nothing was applied",
        f"ConfigMap {namespace}/shared: it belongs to application first (app-{namespace})",
        "take it out of the manifests of one of them",
    ):
        assert word in refused.message
    assert f"ConfigMap {namespace}/shared: taken over from application app-{namespace}" in asked_for.log


async def test_an_application_that_was_registered_anew_takes_over_what_it_had(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        configs = [a_config_map(f"many-{number}") for number in range(8)]
        web.commit(a_deployment(), *configs)
        await web.succeed("K8S_SYNC")

        web.plugin.application_id = f"anew-{namespace}"
        ended = await web.succeed("K8S_SYNC")
        again = await web.succeed("K8S_SYNC")

    for name in (f"ConfigMap {namespace}/many-7", f"Deployment {namespace}/web"):
        assert f"{name}: taken over from application app-{namespace}" in ended.log
    assert "taken over" not in "".join(again.log)


async def test_advice_for_what_cannot_be_changed_is_not_to_delete_what_is_not_ours(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        theirs = a_deployment()
        theirs["spec"]["selector"]["matchLabels"] = theirs["spec"]["template"]["metadata"]["labels"] = {"of": "others"}
        web.kubectl("create", "-f", "-", given=theirs)
        web.commit(a_deployment())

        ended = await web.run("K8S_SYNC")

    assert ended.status is FAILED
    assert "force-sync-by-replace" not in ended.message
    assert "it was made by kubectl-create: give it another name in the manifest" in ended.message


async def test_a_quota(cluster: RunningCluster, namespace: str, tmp_path: Path) -> None:
    quota = {"kind": "ResourceQuota", "metadata": {"name": "small"}, "spec": {"hard": {"pods": "0", "services": "0"}}}
    async with an_application(cluster, namespace, tmp_path) as web:
        web.kubectl("create", "-f", "-", given={"apiVersion": "v1", **quota})
        until(lambda: web.get("resourcequota", "small").get("status", {}).get("used"), pause=0.1)
        web.commit(a_service())
        objects = await web.run("K8S_SYNC")
        web.commit(a_deployment())
        async with while_running(web, "K8S_SYNC", "exceeded quota: small") as (_, stage_id):
            waits_for = web.plugin.agent.logs[stage_id][-1]

    assert objects.status is FAILED
    expected = [f"Service {namespace}/web", "exceeded quota: small", "have that quota raised"]
    assert [each for each in expected if each not in objects.message] == []
    assert waits_for.startswith(f"Deployment {namespace}/web: 0 of 1 replicas are updated, 0 available; FailedCreate")


async def test_a_quota_of_which_only_events_tell(cluster: RunningCluster, namespace: str, tmp_path: Path) -> None:
    quota = {"kind": "ResourceQuota", "metadata": {"name": "small"}, "spec": {"hard": {"pods": "0"}}}
    async with an_application(cluster, namespace, tmp_path) as web:
        web.kubectl("create", "-f", "-", given={"apiVersion": "v1", **quota})
        until(lambda: web.get("resourcequota", "small").get("status", {}).get("used"), pause=0.1)
        web.commit(a_stateful_set(replicas=2))
        # It may be told of before the controller's first status is seen, and then once more.
        waits_for = f"StatefulSet {namespace}/db: 0 of 2 replicas are ready; FailedCreate: create Pod db-0"
        async with while_running(web, "K8S_SYNC", waits_for) as (stage, stage_id):
            web.kubectl("delete", "resourcequota", "small")
            ended = await stage

    assert [each for each in web.plugin.agent.logs[stage_id] if each.startswith(waits_for) and "exceeded quota" in each]
    assert ended.status is SUCCEEDED, ended.message
    # What does not hold any more is not said any more.
    assert "quota" not in web.plugin.agent.logs[stage_id][-2]


async def test_a_policy(cluster: RunningCluster, namespace: str, tmp_path: Path) -> None:
    cluster.kubectl("apply", "-f", "-", given=_policy(namespace))
    latest = a_config_map(image="latest")
    asking = [str(program("kubectl")), f"--kubeconfig={cluster.kubeconfig}", f"--namespace={namespace}", "create"]
    asking += ["--dry-run=server", "-f", "-"]
    # It holds some moments after it was made.
    text = msgspec.json.encode(latest)
    until(lambda: subprocess.run(asking, input=text, capture_output=True, check=False).returncode, pause=0.2)

    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(latest, a_config_map("other"))
        ended = await web.run("K8S_SYNC")

    expected = ["nothing was applied", f"ConfigMap {namespace}/settings", f"'{namespace}'", "name a version"]
    assert (ended.status, [each for each in expected if each not in ended.message]) == (FAILED, []), ended.message


def _policy(namespace: str) -> str:
    """A policy for one namespace, of the same name."""
    here = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}}
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}
    valid = {"expression": "!has(object.data.image) || object.data.image != 'latest'", "message": "name a version"}
    policy = {"matchConstraints": {"resourceRules": [rule]}, "validations": [valid]}
    binding = {"policyName": namespace, "validationActions": ["Deny"], "matchResources": here}
    specs = {"ValidatingAdmissionPolicy": policy, "ValidatingAdmissionPolicyBinding": binding}
    made = [
        {"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": namespace}, "spec": spec}
        for kind, spec in specs.items()
    ]
    return "\n---\n".join(msgspec.json.encode(each).decode() for each in made)
