"""Pipeline or quick sync."""

from typing import Any

import msgspec
import pytest

from fairway.config.platforms import ResourceReference
from fairway.kube.manifest import Manifest
from fairway.plugins.kubernetes.planning.strategy import decide_strategy
from fairway.sdk import Strategy, SyncStrategy
from tests.unit.plugins.kubernetes.objects import a_config, a_deployment

PIPELINE, QUICK = SyncStrategy.PIPELINE, SyncStrategy.QUICK_SYNC


def with_env(manifest: Manifest, value: str) -> Manifest:
    template = {"spec": {"containers": [{"name": "web", "image": "web:v1", "env": [{"name": "A", "value": value}]}]}}
    return msgspec.structs.replace(manifest, body={**manifest.body, "spec": {"template": template}})


def a_stateful_set(image: str) -> Manifest:
    body = {**a_deployment(image=image).body, "kind": "StatefulSet"}
    return Manifest(body)


def several(*images: str) -> Manifest:
    containers = [{"name": f"c{index}", "image": image} for index, image in enumerate(images)]
    body = a_deployment().body
    return Manifest({**body, "spec": {"template": {"spec": {"containers": containers}}}})


def a_service(port: int) -> Manifest:
    return Manifest({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": {"port": port}})


WEB = a_deployment()


@pytest.mark.parametrize(
    ("running", "target", "expected"),
    [
        pytest.param([a_config()], [WEB], (QUICK, "what runs has no workload that could be"), id="none runs"),
        pytest.param([WEB], [a_config()], (QUICK, "the new commit has no workload that could be"), id="none comes"),
        pytest.param(
            [WEB],
            [a_deployment(image="example.com:5000/web:v2")],
            (PIPELINE, "the image web goes from v1 to v2"),
            id="an image",
        ),
        pytest.param(
            [a_deployment(image="web:v1")],
            [a_deployment(image="shop:v2")],
            (PIPELINE, "the image web:v1 becomes shop:v2"),
            id="another image",
        ),
        pytest.param(
            [several("a:1", "b:1")],
            [several("a:2", "b:2")],
            (PIPELINE, "the image a goes from 1 to 2 and the image b goes from 1 to 2"),
            id="several images",
        ),
        pytest.param(
            [with_env(WEB, "1")], [with_env(WEB, "2")], (PIPELINE, "the pods of Deployment web change"), id="pods"
        ),
        pytest.param(
            [WEB, a_config(a="1")], [WEB, a_config(a="2")], (PIPELINE, "ConfigMap config would be updated"), id="config"
        ),
        pytest.param(
            [WEB, a_config(kind="Secret", a="1")],
            [WEB, a_config(kind="Secret", a="2")],
            (PIPELINE, "Secret config would be updated"),
            id="a secret",
        ),
        pytest.param(
            [WEB, a_config("a")], [WEB, a_config("b")], (PIPELINE, "ConfigMap a would be deleted"), id="renamed config"
        ),
        pytest.param([WEB], [WEB, a_config()], (PIPELINE, "1 ConfigMap or Secret would be added"), id="more"),
        pytest.param([WEB, a_config()], [WEB], (PIPELINE, "1 ConfigMap or Secret would be deleted"), id="less"),
        pytest.param(
            [WEB],
            [WEB, a_config("one"), a_config("two")],
            (PIPELINE, "2 ConfigMaps or Secrets would be added"),
            id="two more",
        ),
        pytest.param(
            [WEB, a_deployment("api")],
            [a_deployment(replicas=5), a_deployment("api", replicas=None)],
            (QUICK, "only the scale changes: Deployment api from 2 to none, Deployment web from 2 to 5"),
            id="scale",
        ),
        pytest.param([WEB], [WEB], (QUICK, "Git changes no pods"), id="nothing"),
        pytest.param([WEB, a_service(80)], [WEB, a_service(81)], (QUICK, "Git changes no pods"), id="a service"),
        pytest.param(
            [WEB],
            [WEB, a_deployment("api", "api:v9")],
            (QUICK, "Git changes no pod that runs: Deployment api is new"),
            id="a new workload",
        ),
        pytest.param(
            [WEB, a_deployment("a"), a_deployment("b")],
            [a_deployment(replicas=5)],
            (QUICK, "Git changes no pod that runs: Deployments a and b are gone, Deployment web from 2 to 5"),
            id="less workloads",
        ),
        pytest.param(
            [WEB, a_deployment("api")],
            [a_deployment("web2", "web:v2"), a_deployment("api")],
            (PIPELINE, "Deployment web is gone and web2 is new"),
            id="another name",
        ),
        pytest.param(
            [a_deployment("a"), a_deployment("b")],
            [a_deployment("c"), a_deployment("d"), a_deployment("e")],
            (PIPELINE, "Deployments a and b are gone and c, d and e are new"),
            id="other names",
        ),
        pytest.param(
            [WEB],
            [a_deployment(image="example.com:5000/web:v2", namespace="default")],
            (PIPELINE, "the image web goes from v1 to v2"),
            id="the default namespace is none",
        ),
        pytest.param(
            [WEB],
            [a_deployment(image="web:v2", namespace="other")],
            (PIPELINE, "the namespace of Deployment web goes from none to other"),
            id="another namespace",
        ),
        # Defect 3: a commit that changes nothing of a ConfigMap is no reason.
        pytest.param(
            [WEB, a_config(a="1")],
            [a_deployment(replicas=3), a_config(a="1")],
            (QUICK, "only the scale"),
            id="defect 3",
        ),
    ],
)
def test_a_change_decides(running: list[Manifest], target: list[Manifest], expected: tuple[Any, str]) -> None:
    decided = decide_strategy(running, target)

    strategy, reason = expected
    prefix = "Pipeline" if strategy is PIPELINE else "Quick sync"
    assert decided.strategy is strategy
    assert decided.summary.startswith(f"{prefix}, because {reason}")


def test_the_version_of_an_api_makes_no_other_object_of_a_workload() -> None:
    old = Manifest({**WEB.body, "apiVersion": "apps/v1beta1"})

    decided = decide_strategy([old], [a_deployment(image="example.com:5000/web:v2")])

    assert decided == Strategy(PIPELINE, "Pipeline, because the image web goes from v1 to v2")


def test_the_workloads_that_count_are_those_that_the_application_names() -> None:
    before, after = [WEB, a_stateful_set("db:v1")], [a_deployment(image="web:v9"), a_stateful_set("db:v2")]

    decided = decide_strategy(before, after, [ResourceReference(kind="StatefulSet")])

    assert decided == Strategy(PIPELINE, "Pipeline, because the image db goes from v1 to v2")


def test_a_workload_that_is_not_named_any_more_is_not_gone() -> None:
    before, after = [WEB, a_stateful_set("db:v1")], [a_deployment("api"), WEB, a_stateful_set("db:v1")]

    decided = decide_strategy(before, after, [ResourceReference(name="api")], [ResourceReference(name="web")])

    assert decided == Strategy(QUICK, "Quick sync, because Git changes no pod that runs: Deployment api is new")


@pytest.mark.parametrize(
    "named_before", [pytest.param([ResourceReference(name="web")], id="by name"), pytest.param([], id="any")]
)
def test_a_workload_is_named_by_each_commit_for_itself(named_before: list[ResourceReference]) -> None:
    decided = decide_strategy([WEB], [a_deployment("web2")], [ResourceReference(name="web2")], named_before)

    assert decided == Strategy(PIPELINE, "Pipeline, because Deployment web is gone and web2 is new")
