"""What is watched on a real cluster, and for how long: kinds come and go, and so do applications."""

import asyncio
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import structlog.testing

from fairway.model.application import SyncStatus
from fairway.plugins.kubernetes.live import live
from tests.cluster.kubernetes_applications import Application, a_config_map, a_service, an_application
from tests.clusters.running import RunningCluster
from tests.integration.agent.running import until

SYNCED, OUT_OF_SYNC = SyncStatus.SYNCED, SyncStatus.OUT_OF_SYNC


def a_kind(kind: str) -> dict[str, Any]:
    """A custom resource, as it is defined."""
    group = f"{kind.lower()}.example.com"
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": f"{kind.lower()}s", "kind": kind}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{names['plural']}.{group}"},
        "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": [version]},
    }


def watches() -> list[str]:
    return sorted(name for task in asyncio.all_tasks() if (name := task.get_name()).startswith("watch "))


async def until_it_is(web: Application, status: SyncStatus, reason: str = "") -> None:
    async def look() -> bool:
        _, state = await web.plugin.live_state(under_way=False)
        return state.status is status and reason in state.reason

    await until(look)


async def test_a_kind_that_goes_away_is_said_once_and_one_that_comes_is_found(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    kind = f"Gadget{uuid4().hex[:6]}"
    definition = a_kind(kind)
    gadget = {"apiVersion": f"{definition['spec']['group']}/v1", "kind": kind, "metadata": {"name": "one"}}
    async with an_application(cluster, namespace, tmp_path) as web:
        web.kubectl("apply", "-f", "-", given=definition)
        web.commit(gadget, a_config_map(a="1"))

        async def synced() -> bool:
            # That a kind is defined does not mean that it is served yet.
            return (await web.run("K8S_SYNC")).status.value == "succeeded"

        await until(synced)
        await until_it_is(web, SYNCED)
        with structlog.testing.capture_logs() as logs:
            web.kubectl("delete", "-f", "-", "--wait=true", given=definition)

            async def left() -> bool:
                await until_it_is(web, OUT_OF_SYNC, f"{kind} {namespace}/one")
                return watches() == ["watch ConfigMap"]

            await until(left)
        web.kubectl("apply", "-f", "-", given=definition)
        await until(synced)
        await until_it_is(web, SYNCED)
        web.kubectl("delete", "-f", "-", "--wait=false", given=definition)

    assert len([each for each in logs if each["event"] == "cannot watch"]) <= 2, logs


async def test_for_an_application_that_nobody_asks_about_any_more_nothing_is_watched(
    cluster: RunningCluster, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "_SWEEP_SECONDS", 0.0)
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_service())
        await web.plugin.live_state()
        first = watches()
        web.plugin.application_id = "another"
        web.commit(a_config_map(a="1"))
        await web.plugin.live_state()
        both = watches()
        monkeypatch.setattr(live, "_FORGET_SECONDS", 0.0)

        async def one_is_left() -> bool:
            await web.plugin.live_state()
            return watches() == ["watch ConfigMap"]

        await until(one_is_left)

    assert (first, both) == (["watch Service"], ["watch ConfigMap", "watch Service"])
