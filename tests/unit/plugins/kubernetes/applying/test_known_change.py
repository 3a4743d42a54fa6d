"""When the API server need not be asked about a change, and when it must."""

from typing import Any

import pytest

from fairway.kube.manifest import Manifest
from fairway.plugins.kubernetes.applying.known_change import is_config, needs_no_check
from fairway.plugins.kubernetes.marks import Owner, marked
from fairway.plugins.kubernetes.parts import part, with_part
from tests.unit.plugins.kubernetes.builders import a_config_map, a_deployment, a_service, an_object

BEFORE = Owner(agent_id="agent", application_id="app", commit="old")
NOW = Owner(agent_id="agent", application_id="app", commit="new")
TEMPLATE = ("spec", "template")


def fields_of(value: Any) -> dict[str, Any]:
    """What somebody manages who has applied this, as the API server writes it down."""
    if isinstance(value, dict):
        return {f"f:{key}": fields_of(each) for key, each in value.items()}
    if isinstance(value, list) and all(isinstance(each, dict) for each in value):
        named = [{key: each[key] for key in ("name", "port") if key in each} for each in value]
        return {_element(name): {".": {}, **fields_of(each)} for name, each in zip(named, value, strict=True)}
    return {}


def _element(names: dict[str, Any]) -> str:
    """By its names; of a port the cluster has filled in one of them."""
    if "port" in names:
        return f'k:{{"port":{names["port"]},"protocol":"TCP"}}'
    return f'k:{{"name":"{names["name"]}"}}'


def entry(body: Any, manager: str = "fairway", operation: str = "Apply", **rest: Any) -> dict[str, Any]:
    """Somebody who manages all that is in the body."""
    own = {key: value for key, value in body.items() if key not in ("apiVersion", "kind", "metadata")}
    metadata = {key: value for key, value in body["metadata"].items() if key in ("labels", "annotations")}
    fields = fields_of({**own, "metadata": metadata})
    version = body["apiVersion"]
    return {"manager": manager, "operation": operation, "apiVersion": version, "fieldsV1": fields, **rest}


def live(before: Manifest, *others: dict[str, Any], ours: dict[str, Any] | None = None) -> dict[str, Any]:
    """The object as the cluster has it, with what others manage of it."""
    body = marked(before, BEFORE).body
    return with_part(body, ("metadata", "managedFields"), [entry(body) | (ours or {}), *others])


def is_known(now: Manifest, there: dict[str, Any]) -> bool:
    """Whether the new manifest may be applied to what is there without asking."""
    return needs_no_check(marked(now, NOW).body, there)


def a_deployment_with(path: tuple[str, ...], value: Any) -> Manifest:
    """One that says something more."""
    return Manifest(with_part(a_deployment().body, path, value))


def a_cron_job(image: str) -> Manifest:
    """A CronJob."""
    pod = {"restartPolicy": "Never", "containers": [{"name": "main", "image": image}]}
    return an_object("batch/v1", "CronJob", "nightly", spec={"jobTemplate": {"spec": {"template": {"spec": pod}}}})


def an_env(value: str) -> Manifest:
    """A Deployment with a value in its environment."""
    return a_deployment(container={"env": [{"name": "MODE", "value": value}]})


def annotated(value: str, key: str = "example.com/team") -> Manifest:
    """A Service with an annotation."""
    return Manifest(with_part(a_service().body, ("metadata", "annotations"), {key: value}))


@pytest.mark.parametrize(
    ("before", "now"),
    [
        pytest.param(a_config_map(a="1"), a_config_map(a="2", b="new"), id="entries of a ConfigMap"),
        pytest.param(a_config_map(a="1", b="2"), a_config_map(a="1"), id="an entry less"),
        pytest.param(a_service(), a_service(), id="nothing but our marks"),
        pytest.param(annotated("red"), annotated("blue"), id="an annotation"),
        pytest.param(a_deployment(), a_deployment(container={"image": "web:2"}), id="an image"),
        pytest.param(a_cron_job("web:1"), a_cron_job("registry:5000/web@sha256:12ab"), id="an image of a CronJob"),
        pytest.param(an_env("slow"), an_env("fast ü"), id="a value in the environment"),
    ],
)
def test_what_the_cluster_is_certain_to_take_need_not_be_asked_about(before: Manifest, now: Manifest) -> None:
    assert is_known(now, live(before))


def test_what_the_cluster_has_filled_in_makes_no_difference() -> None:
    there = with_part(live(a_deployment()), ("spec", "strategy"), {"type": "RollingUpdate"})

    assert is_known(a_deployment(container={"image": "web:2"}), there)


@pytest.mark.parametrize(
    ("before", "now"),
    [
        pytest.param(a_deployment(), a_deployment(replicas=3), id="another number"),
        pytest.param(a_deployment(), a_deployment(replicas=None), id="a field less"),
        pytest.param(a_deployment(), a_deployment(container={"image": "web 2"}), id="an image that cannot be"),
        pytest.param(a_deployment(), a_deployment(container={"image": None}), id="no image"),
        pytest.param(a_deployment(), a_deployment(container={"imagePullPolicy": "Always"}), id="a new field"),
        pytest.param(a_deployment(), a_deployment(serviceAccountName="web"), id="a new field of the pods"),
        pytest.param(a_deployment(), a_deployment_with((*TEMPLATE, "metadata", "labels"), {"app": "x"}), id="labels"),
        pytest.param(an_env("a"), a_deployment(container={"env": [{"name": "X", "value": "a"}]}), id="another name"),
        pytest.param(an_env("a"), a_deployment(container={"env": []}), id="an element less"),
        pytest.param(annotated("red"), a_service(), id="an annotation less"),
        pytest.param(a_service(), annotated("red"), id="a new annotation"),
        pytest.param(
            annotated("a", "service.beta.kubernetes.io/x"), annotated("b", "service.beta.kubernetes.io/x"), id="a key"
        ),
        pytest.param(annotated("red"), annotated("x" * 200_000), id="much"),
        pytest.param(
            an_object("batch/v1", "Job", "once", spec=a_deployment().body["spec"]),
            an_object("batch/v1", "Job", "once", spec=a_deployment(container={"image": "web:2"}).body["spec"]),
            id="an image of a Job, which cannot be changed",
        ),
        pytest.param(a_service(ports=[{"port": 80}]), a_service(ports=[{"port": True}]), id="a truth for a number"),
    ],
)
def test_whatever_may_be_refused_is_asked_about(before: Manifest, now: Manifest) -> None:
    assert not is_known(now, live(before))


@pytest.mark.parametrize(
    "now",
    [
        pytest.param(a_config_map(**{"a b": "1"}), id="a key that cannot be"),
        pytest.param(an_object("v1", "ConfigMap", "settings", data={"a": 1}), id="a value that is no text"),
        pytest.param(an_object("v1", "ConfigMap", "settings", data=["a"]), id="data that are none"),
        pytest.param(an_object("v1", "ConfigMap", "settings", binaryData={"a": "?"}), id="another field"),
        pytest.param(an_object("v1", "ConfigMap", "settings", metadata={"labels": {"a": "b c"}}), id="a new label"),
        pytest.param(an_object("v1", "ConfigMap", "settings", metadata={"finalizers": ["x"]}), id="other metadata"),
        pytest.param(a_config_map(a="x" * 600_000), id="much"),
        pytest.param(
            an_object(
                "v1", "ConfigMap", "settings", metadata={"annotations": {"pipecd.dev/sync-by-replace": "enabled"}}
            ),
            id="an author who asks for something",
        ),
    ],
)
def test_configuration_that_may_be_refused_is_asked_about(now: Manifest) -> None:
    assert not is_known(now, live(a_config_map(a="1")))


CONFIG = a_config_map(a="1")


@pytest.mark.parametrize(
    "there",
    [
        pytest.param(live(CONFIG, entry(CONFIG.body, "tuner", "Update")), id="another manager"),
        pytest.param(
            live(CONFIG, ours={"manager": "kubectl-client-side-apply", "operation": "Update"}), id="kubectl's"
        ),
        pytest.param(live(CONFIG, ours={"apiVersion": "v0"}), id="ours in another version of its kind"),
        pytest.param(with_part(live(CONFIG), ("metadata", "managedFields"), []), id="nobody's"),
        pytest.param({**live(CONFIG), "immutable": True}, id="what cannot be changed"),
        pytest.param(with_part(live(CONFIG), ("metadata", "deletionTimestamp"), "now"), id="what is going"),
    ],
)
def test_what_is_there_may_need_asking_too(there: dict[str, Any]) -> None:
    assert not is_known(a_config_map(a="2"), there)


def test_who_writes_a_status_or_scales_stands_in_nobodys_way() -> None:
    before = a_deployment()
    others = [entry(before.body, name, "Update", subresource=name) for name in ("status", "scale")]

    assert is_known(a_deployment(container={"image": "web:2"}), live(before, *others))


def test_a_secret_that_is_no_base64_is_asked_about() -> None:
    secret = an_object("v1", "Secret", "keys", data={"a": "eA=="}, type="Opaque")

    assert is_known(secret, live(secret))
    assert not is_known(Manifest({**secret.body, "data": {"a": "not base64"}}), live(secret))


def test_configuration_is_told_from_all_else() -> None:
    assert is_config(CONFIG.body)
    assert not is_config(a_deployment().body)
    assert part(live(CONFIG), "metadata", "managedFields")
