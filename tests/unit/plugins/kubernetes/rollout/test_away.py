"""What is said of a deployment that is left on a cluster which does not answer."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from fairway.kube.errors import ClusterAway
from fairway.plugins.kubernetes.rollout import away
from fairway.plugins.kubernetes.rollout.away import in_words, patiently
from fairway.plugins.kubernetes.site import Added


def test_nothing_is_said_of_nothing() -> None:
    assert in_words(set(), "web", "here") == ""


def test_of_many_objects_the_first_ten_are_named() -> None:
    left = {Added("v1", "ConfigMap", "shop", f"config-{number:02}") for number in range(12)}
    left.add(Added("rbac.authorization.k8s.io/v1", "ClusterRole", "", "reader"))

    named = ", ".join(["ClusterRole reader", *(f"ConfigMap shop/config-{number:02}" for number in range(9))])
    assert in_words(left, "web", "here") == (
        f"what this deployment has made may still be at deploy target here: {named} and 3 more; "
        "deploy web again once its cluster answers, or remove what is not wanted there by hand"
    )


async def test_a_first_deployment_says_that_it_waits_for_a_cluster_that_does_not_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(away, "_SILENT_SECONDS", 0.0)
    said: list[str] = []
    waiting: list[str] = []

    told = asyncio.Event()

    def wait_for(words: str) -> None:
        waiting.append(words)
        told.set()

    async def version() -> str:
        await told.wait()
        raise ClusterAway("nothing came in time")

    async def places() -> frozenset[str]:
        return frozenset()

    site: Any = SimpleNamespace(
        reach=lambda: None,
        cluster=SimpleNamespace(version=version),
        target=SimpleNamespace(name="far"),
        record=SimpleNamespace(places=places),
        run=SimpleNamespace(log=SimpleNamespace(info=said.append), waits_for=wait_for),
    )

    async def work(_: Any) -> str:
        raise AssertionError("the cluster has not answered")

    with pytest.raises(ClusterAway):
        await patiently(site, work, 60.0)

    words = "the cluster of deploy target far, which has not answered yet"
    assert said == [f"Waiting for {words}"]
    assert waiting == [words, "the cluster of deploy target far: nothing came in time"]
