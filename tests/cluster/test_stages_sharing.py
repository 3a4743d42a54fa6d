"""Namespaces and definitions of kinds that several applications have in Git: one owns them, all have their say."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from fairway.model.application import SyncState, SyncStatus
from tests.cluster.kubernetes_applications import Application, a_config_map, a_definition, an_application
from tests.clusters.running import RunningCluster
from tests.integration.agent.running import until

OWNER = "pipecd.dev/application"


def a_namespace(name: str, **labels: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def labels(body: Mapping[str, Any]) -> dict[str, str]:
    """The labels that somebody has written."""
    found = body["metadata"].get("labels", {})
    ours = ("pipecd.dev/", "kubernetes.io/", "shared.fairway.dev/")
    return {key: value for key, value in found.items() if not key.startswith(ours)}


class Two:
    """Two applications of one agent: the plugin speaks for one of them at a time."""

    def __init__(self, web: Application, namespace: str) -> None:
        self.web = web
        self.shared = f"{namespace}-shared"

    def be(self, name: str) -> Application:
        """Go on as one of them."""
        self.web.work_for(name)
        return self.web

    def id_of(self, name: str) -> str:
        return f"{name}-{self.web.namespace}"

    def namespace(self) -> dict[str, Any]:
        """The namespace that both have."""
        return self.web.get("namespace", self.shared)


@asynccontextmanager
async def two(cluster: RunningCluster, namespace: str, folder: Path) -> AsyncIterator[Two]:
    async with AsyncExitStack() as stack:
        yield Two(await stack.enter_async_context(an_application(cluster, namespace, folder)), namespace)


async def test_a_namespace_of_two_applications_is_the_firsts_and_has_what_both_say(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with two(cluster, namespace, tmp_path) as both:
        first = both.be("first")
        first.commit(a_namespace(both.shared, team="a", same="1"))
        await first.succeed("K8S_SYNC")
        second = both.be("second")
        second.commit(a_namespace(both.shared, tier="b", same="1"), a_config_map("own"))
        shared = await second.succeed("K8S_SYNC", prune=True)
        with_both = both.namespace()
        first = both.be("first")
        first.commit(a_namespace(both.shared, team="c", same="1"))
        await first.succeed("K8S_SYNC", prune=True)
        second = both.be("second")
        second.commit(a_namespace(both.shared, same="1"))
        again = await second.succeed("K8S_SYNC", prune=True)

        whose = f"it belongs to application first ({both.id_of('first')}), and this one has a say in it"
        assert f"Namespace {both.shared}: changed (metadata.labels.tier); {whose}" in shared.log
        assert labels(with_both) == {"team": "a", "tier": "b", "same": "1"}
        assert with_both["metadata"]["labels"][OWNER] == both.id_of("first")
        # What the first has changed stays, and what the second has given up goes.
        assert f"Namespace {both.shared}: changed (metadata.labels.tier); {whose}" in again.log
        assert labels(both.namespace()) == {"team": "c", "same": "1"}
        assert both.namespace()["metadata"]["annotations"][OWNER] == both.id_of("first")


async def test_a_definition_of_two_applications_is_shared_and_the_last_value_holds(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """Also where it is replaced as a whole by whoever has it alone, as large ones are."""
    group = f"{namespace}.example.com"
    newer = a_definition(group, "Widget")
    newer["spec"]["names"]["shortNames"] = ["w"]
    newer["metadata"]["annotations"] = {"pipecd.dev/sync-by-replace": "enabled"}
    async with two(cluster, namespace, tmp_path) as both:
        both.be("first").commit(a_definition(group, "Widget"), a_namespace(both.shared, env="test"))
        await both.web.succeed("K8S_SYNC")
        both.be("second").commit(
            newer, {"apiVersion": f"{group}/v1", "kind": "Widget", "metadata": {"name": "w"}}, a_namespace(both.shared)
        )
        await both.web.succeed("K8S_SYNC")
        found = both.web.get("crd", f"widgets.{group}")
        both.be("second").commit(a_namespace(both.shared, env="live"), newer)
        overridden = await both.web.succeed("K8S_SYNC")
        by_second = labels(both.namespace())
        both.be("first").commit(a_definition(group, "Widget"), a_namespace(both.shared, env="test"))
        back = await both.web.succeed("K8S_SYNC")

        assert found["spec"]["names"]["shortNames"] == ["w"]
        assert found["metadata"]["labels"][OWNER] == both.id_of("first")
        words = f"Namespace {both.shared}: .metadata.labels.env as Git says, no longer as application"
        assert f"{words} {both.id_of('first')} did" in overridden.log
        assert f"{words} {both.id_of('second')} did" in back.log
        assert (by_second, labels(both.namespace())) == ({"env": "live"}, {"env": "test"})


async def test_an_owner_that_replaces_as_a_whole_leaves_what_others_say_of_what_is_shared(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    group = f"{namespace}.example.com"
    anew = a_definition(group, "Widget")
    anew["metadata"]["annotations"] = {"pipecd.dev/force-sync-by-replace": "enabled"}
    labelled = a_definition(group, "Widget")
    labelled["metadata"]["labels"] = {"tier": "b"}
    async with two(cluster, namespace, tmp_path) as both:
        both.be("first").commit(anew)
        await both.web.succeed("K8S_SYNC")
        both.be("second").commit(labelled)
        await both.web.succeed("K8S_SYNC")
        before = both.web.get("crd", f"widgets.{group}")
        both.be("first").commit(anew)
        await both.web.succeed("K8S_SYNC")

        after = both.web.get("crd", f"widgets.{group}")
        assert (labels(after), after["metadata"]["uid"]) == ({"tier": "b"}, before["metadata"]["uid"])


async def test_a_namespace_that_its_owner_gives_up_becomes_that_of_the_other(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with two(cluster, namespace, tmp_path) as both:
        both.be("first").commit(a_namespace(both.shared, team="a"), a_config_map("of-first"))
        await both.web.succeed("K8S_SYNC")
        both.be("second").commit(a_namespace(both.shared, tier="b"))
        await both.web.succeed("K8S_SYNC")
        both.be("first").commit(a_config_map("of-first"))
        given_up = await both.web.succeed("K8S_SYNC", prune=True)
        both.be("second").commit(a_namespace(both.shared, tier="b"))
        await both.web.succeed("K8S_SYNC", prune=True)
        taken = both.namespace()["metadata"]
        both.be("second").commit(a_namespace(both.shared))
        await both.web.succeed("K8S_SYNC", prune=True)

        why = f"application {both.id_of('second')} has it in Git as well; it is no longer this application's"
        assert f"Namespace {both.shared}: kept, because {why}" in given_up.log
        assert taken["labels"][OWNER] == both.id_of("second")
        assert [key for key in taken["labels"] if "shared" in key] == []
        assert labels(both.namespace()) == {}


@pytest.mark.parametrize("rolled_back", [False, True], ids=["Git does not have it any more", "it is rolled back"])
async def test_what_is_no_longer_shared_stays_its_owners_without_what_the_other_said(
    rolled_back: bool, cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with two(cluster, namespace, tmp_path) as both:
        both.be("first").commit(a_namespace(both.shared, team="a"))
        await both.web.succeed("K8S_SYNC")
        both.be("second").commit(a_config_map("own"))
        await both.web.succeed("K8S_SYNC")
        both.web.deployed()
        both.web.commit(a_namespace(both.shared, tier="b"), a_config_map("own"))
        await both.web.succeed("K8S_SYNC")
        if rolled_back:
            ended = await both.web.succeed("K8S_ROLLBACK")
        else:
            both.web.commit(a_config_map("own"))
            ended = await both.web.succeed("K8S_SYNC", prune=True)

        assert f"Namespace {both.shared}: another application's, and no longer shared by this one" in ended.log
        found = both.namespace()["metadata"]["labels"]
        assert labels(both.namespace()) == {"team": "a"}
        assert (found[OWNER], [key for key in found if "shared" in key]) == (both.id_of("first"), [])


async def test_drift_of_what_is_shared_is_what_each_says_and_no_marks(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with two(cluster, namespace, tmp_path) as both:

        async def state_of(name: str, wanted: SyncStatus) -> SyncState:
            both.be(name).commit(*manifests[name])

            async def look() -> SyncState | None:
                _, state = await both.web.plugin.live_state(under_way=False)
                return state if state.status is wanted else None

            return await until(look)

        manifests = {
            "first": [a_namespace(both.shared, team="a"), a_config_map("of-first")],
            "second": [a_namespace(both.shared, tier="b"), a_config_map("of-second")],
        }
        for name in manifests:
            both.be(name).commit(*manifests[name])
            await both.web.succeed("K8S_SYNC")

        for name in manifests:
            await state_of(name, SyncStatus.SYNCED)
        cluster.kubectl("label", "namespace", both.shared, "tier-")
        drifted = await state_of("second", SyncStatus.OUT_OF_SYNC)
        await state_of("first", SyncStatus.SYNCED)

        assert drifted.short_reason == "1 object is not as Git says: 1 different"
        assert "metadata.labels.tier" in drifted.reason
