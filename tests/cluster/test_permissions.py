"""The rights in `examples/kubernetes/rbac`: they are enough, none is too much, and one that is missing is named."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

from fairway.model.application import SyncStatus
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

RBAC = Path(__file__).parents[2] / "examples" / "kubernetes" / "rbac"

Rule = dict[str, list[str]]
#: To see who else has a say in what is applied.
ADMISSION: Rule = {"apiGroups": ["admissionregistration.k8s.io"], "resources": ["*"], "verbs": ["list"]}


def rules(file: str) -> list[Rule]:
    """What the role in a file allows."""
    bodies = yaml.safe_load_all((RBAC / file).read_text())
    (found,) = [each["rules"] for each in bodies if each["kind"] in ("Role", "ClusterRole")]
    return list(found)


def without(given: Sequence[Rule], verb: str, resource: str = "") -> list[Rule]:
    """The same without a verb, everywhere or for one resource."""
    return [
        {**each, "verbs": [one for one in each["verbs"] if one != verb]}
        if not resource or resource in each["resources"]
        else each
        for each in given
    ]


def replaced(body: Mapping[str, Any]) -> dict[str, Any]:
    """The object, replaced as a whole whenever it is deployed."""
    annotations = {"pipecd.dev/sync-by-replace": "enabled"}
    return {**body, "metadata": {**body["metadata"], "annotations": annotations}}


async def whole_life(web: Application) -> str:
    """Deploy, deploy another version by canary, prune, look at it; the first complaint that there is."""
    bodies = (a_config_map(a="1"), replaced(a_service()))
    for commit, stages in (
        ((*bodies, a_deployment()), [("K8S_SYNC", {})]),
        (
            (bodies[1], a_deployment(image="web:2")),
            [("K8S_CANARY_ROLLOUT", {}), ("K8S_PRIMARY_ROLLOUT", {"prune": True}), ("K8S_CANARY_CLEAN", {})],
        ),
    ):
        web.commit(*commit)
        for name, options in stages:
            ended = await web.run(name, options)
            if ended.status is FAILED:
                return f"{name}: {ended.message}"
        web.deployed()

    async def looked_at() -> tuple[str] | None:
        _, state = await web.plugin.live_state()
        done = state.status is SyncStatus.SYNCED or "not allowed" in state.short_reason
        return (state.short_reason,) if done else None

    return (await until(looked_at))[0]


async def test_each_right_in_a_namespace_is_needed_and_named_when_it_is_missing(
    cluster: RunningCluster, tmp_path: Path
) -> None:
    enough = rules("namespace.yaml")
    verbs = sorted({verb for rule in enough for verb in rule["verbs"]})
    namespaces = {verb: cluster.new_namespace() for verb in ["", *verbs]}

    async with AsyncExitStack() as stack:

        async def life(verb: str, namespace: str) -> str:
            (tmp_path / namespace).mkdir()
            rights = cluster.limited(without(enough, verb), namespace)
            application = an_application(cluster, namespace, tmp_path / namespace, kubeconfig=rights)
            return await whole_life(await stack.enter_async_context(application))

        said = dict(zip(namespaces, await asyncio.gather(*map(life, namespaces, namespaces.values())), strict=True))

    assert said.pop("") == ""
    for verb, message in said.items():
        assert f"is not allowed to {verb} " in message, (verb, message)
        assert f"in namespace {namespaces[verb]}" in message, (verb, message)


@pytest.mark.parametrize(
    "too_much",
    [
        pytest.param({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys"}}, id="a kind"),
        pytest.param({**a_config_map(), "metadata": {"name": "settings", "namespace": "default"}}, id="a namespace"),
    ],
)
async def test_what_was_never_allowed_is_not_asked_about_later(
    too_much: dict[str, Any], cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """Neither by the rollback of the attempt nor by any deployment that comes after it."""
    verbs = ["get", "list", "watch", "create", "patch", "delete"]
    rights = cluster.limited([{"apiGroups": [""], "resources": ["configmaps"], "verbs": verbs}], namespace)
    async with an_application(cluster, namespace, tmp_path, kubeconfig=rights) as web:
        web.commit(a_config_map("a"), too_much)
        refused = await web.run("K8S_SYNC")
        undone = await web.run("K8S_ROLLBACK")
        web.plugin.agent.plugin_notes.clear()
        web.commit(a_config_map("a"), quickSync={"prune": True})
        after = await web.run("K8S_SYNC")
        web.deployed()
        web.commit(a_config_map("a", word="two"))
        again = await web.run("K8S_SYNC")
        back = await web.run("K8S_ROLLBACK")

    assert "nothing was applied" in refused.message
    assert "is not allowed to patch" in refused.message
    assert undone.message == "nothing had been applied, so there was nothing to undo"
    assert [each.message for each in (after, again, back)] == ["", "", ""]


async def test_an_agent_of_the_whole_cluster_makes_the_namespaces_that_are_asked_for(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    other = f"{namespace}-made"
    enough = rules("cluster.yaml")
    said = []
    for at, given in enumerate((without(enough, "create", "namespaces"), enough)):
        (tmp_path / str(at)).mkdir()
        async with an_application(cluster, namespace, tmp_path / str(at), kubeconfig=cluster.limited(given)) as web:
            web.commit(a_deployment(), a_config_map(a="1"), input={"namespace": other, "autoCreateNamespace": True})
            said.append((await web.run("K8S_SYNC")).message)

            async def synced(web: Application = web) -> bool:
                resources, state = await web.plugin.live_state()
                return len(resources) == 4 and state.status is SyncStatus.SYNCED

            if at:
                assert await until(synced)

    assert "is not allowed to create namespaces in all of the cluster" in said[0]
    assert said[1] == ""


async def test_an_agent_may_watch_all_namespaces_and_deploy_to_none(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    rights = cluster.limited(rules("watch.yaml"))
    (tmp_path / "watching").mkdir()
    async with (
        an_application(cluster, namespace, tmp_path) as web,
        an_application(cluster, namespace, tmp_path / "watching", kubeconfig=rights) as watching,
    ):
        for each in (web, watching):
            each.commit(a_deployment(), a_config_map(a="1"))
        await web.succeed("K8S_SYNC")

        resources, state = await watching.plugin.live_state()
        refused = await watching.run("K8S_SYNC")

    assert (len(resources), state.status) == (4, SyncStatus.SYNCED)
    assert f"is not allowed to patch configmaps in namespace {namespace}" in refused.message


@pytest.mark.parametrize(
    ("file", "more"),
    [
        pytest.param(
            "cluster.yaml", [{"apiGroups": [""], "resources": ["namespaces"], "verbs": ["get", "create"]}, ADMISSION]
        ),
        pytest.param("watch.yaml", None),
    ],
)
def test_what_holds_for_a_namespace_holds_for_all_of_them(file: str, more: list[Rule] | None) -> None:
    one = rules("namespace.yaml")

    if more is not None:
        assert rules(file) == [*one, *more]
    else:
        seen = {(group, name) for rule in one for group in rule["apiGroups"] for name in rule["resources"]}
        # Only a stage looks at them, where it deploys.
        seen -= {("", "events")}
        *watched, last = rules(file)
        assert last == ADMISSION
        assert {(group, name) for rule in watched for group in rule["apiGroups"] for name in rule["resources"]} == seen
        assert {tuple(rule["verbs"]) for rule in watched} == {("list", "watch")}
